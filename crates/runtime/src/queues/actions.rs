//! Actions of people on queues and jobs.

use std::{collections::HashMap, sync::Arc};

use riverrun_contract::{Process, check_new_queue_name};
use riverrun_store::{
    Added, Change, Commit, Error as StoreError, JobFilter, JobRecord, JobState, NewJob, Page,
    Purge, QueueRecord, Reason, Steer, Waits,
};
use riverrun_types::{Draft, Millis, Name, RunId, time::MAX_WAIT_MS};

use super::{
    Queues,
    attempt::to_job,
    request::{JobRequest, KeptOptions},
    stats::QueueStats,
    worker,
};
use crate::{
    base::{Error, Result},
    processes::Current,
};

/// Jobs removed or moved in one commit.
pub(super) const BATCH: usize = 500;

/// A queue as it is shown to clients.
#[derive(Clone, Debug)]
pub struct QueueView {
    pub record: QueueRecord,
    pub stats: QueueStats,
    /// The process that runs its jobs here, if any.
    pub process: Option<Name>,
}

/// The result of a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    pub removed: u64,
    /// The number of jobs that still wait: the jobs of steps, and jobs added meanwhile.
    pub left: u64,
}

impl Queues {
    /// Registers a process: from now on its jobs are claimed here. An earlier process of the same
    /// id finishes its running jobs and gets no new ones.
    pub fn put_process(&self, process: Process) {
        self.begin_work(self.processes().put(process));
    }

    /// Registers a process that remote workers offer. A process of this instance with the same id
    /// or queue has priority: then the answer is false, and the offer is used once that one is
    /// removed.
    pub fn offer_process(&self, process: Process) -> bool {
        let (is_taken_in, queue) = self.processes().offer(process);
        self.begin_work(queue);
        is_taken_in
    }

    /// Claims no more jobs of a process; running jobs finish.
    pub fn remove_process(&self, id: &str) -> bool {
        let (was_there, queue) = self.processes().remove(id);
        self.begin_work(queue);
        was_there
    }

    fn begin_work(&self, queue: Option<(Name, Current)>) {
        if let Some((queue, current)) = queue {
            self.base()
                .spawn(worker::work(self.clone(), queue, current));
        }
    }

    /// Adds jobs to a queue, all or none. When this returns they are on disk. A queue without a
    /// process and without jobs is rejected, unless the request creates it.
    pub async fn enqueue(
        &self,
        queue: &str,
        requests: Vec<JobRequest>,
        create: bool,
    ) -> Result<Vec<Added>> {
        self.base().refuse_when_stopping()?;
        self.taker(queue, create).await?;
        let queue = Name::from(queue);
        let requests = requests.into_iter().map(|job| (queue.clone(), job));
        self.enqueue_each(requests.collect(), create).await
    }

    /// The same for jobs of several queues.
    pub async fn enqueue_each(
        &self,
        requests: Vec<(Name, JobRequest)>,
        create: bool,
    ) -> Result<Vec<Added>> {
        let jobs = self.prepare_each(requests, create).await?;
        self.add_jobs(jobs).await
    }

    /// Jobs in the form in which they are added.
    pub(crate) async fn prepare_each(
        &self,
        requests: Vec<(Name, JobRequest)>,
        create: bool,
    ) -> Result<Vec<NewJob>> {
        self.base().refuse_when_stopping()?;
        if requests.is_empty() {
            return Err(Error::BadRequest("there is no job to add".to_owned()));
        }
        Error::check_count("jobs", requests.len())?;
        let mut takers = HashMap::new();
        for (queue, _) in &requests {
            if !takers.contains_key(queue) {
                takers.insert(queue.clone(), self.taker(queue, create).await?);
            }
        }
        self.prepare_jobs(&takers, requests).await
    }

    pub(crate) async fn add_jobs(&self, jobs: Vec<NewJob>) -> Result<Vec<Added>> {
        let commit = Commit::of(Change::Enqueue(jobs.into()));
        Ok(self.commit(commit).await?.added)
    }

    /// The process that runs the jobs of a queue, if any. An unknown queue is rejected, unless the
    /// request creates it.
    async fn taker(&self, queue: &str, create: bool) -> Result<Option<Arc<Process>>> {
        check_new_queue_name(queue).map_err(Error::BadId)?;
        let process = self.processes().of_queue(queue);
        if process.is_none() && !create && self.base().store().queue(queue).await?.is_none() {
            return Err(match self.processes().why_queue_broken(queue) {
                Some(error) => Error::ProcessBroken(Box::new(error)),
                None => StoreError::QueueNotFound(queue.to_owned()).into(),
            });
        }
        Ok(process)
    }

    pub async fn job(&self, id: &RunId) -> Result<JobRecord> {
        let job = self.base().store().job(id).await?;
        job.ok_or_else(|| StoreError::JobNotFound(id.clone()).into())
    }

    pub async fn jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>> {
        match self.base().store().list_jobs(filter).await {
            // The queue has a process, and has had no job yet.
            Err(StoreError::QueueNotFound(_)) if self.has_queue(&filter.queue) => Ok(Page {
                items: Vec::new(),
                next: None,
            }),
            answer => Ok(answer?),
        }
    }

    fn has_queue(&self, queue: &str) -> bool {
        self.processes().of_queue(queue).is_some()
    }

    /// Promotes, retries, cancels, removes or changes a job.
    pub async fn steer(&self, job: &RunId, steer: Steer) -> Result<()> {
        self.base().refuse_when_stopping()?;
        match steer {
            Steer::Promote | Steer::Retry { .. } | Steer::Delay { .. } => {
                let queue = self.job(job).await?.queue;
                self.steer_in(&queue, job, steer).await
            }
            Steer::Cancel { .. } | Steer::Remove => {
                self.refuse_of_run(job).await?;
                self.commit_steer(job, steer, None).await
            }
            steer => self.commit_steer(job, steer, None).await,
        }
    }

    /// Changes the priority, the due time, or both, of a job that has not begun.
    pub async fn change_job(
        &self,
        job: &RunId,
        priority: Option<i32>,
        delay_ms: Option<u64>,
    ) -> Result<()> {
        self.base().refuse_when_stopping()?;
        let bad = |message: &str| Err(Error::BadRequest(message.to_owned()));
        let (now, mut commit) = (self.base().now_ms(), Commit::default());
        let mut steers: Vec<Steer> = priority.map(Steer::Priority).into_iter().collect();
        match delay_ms {
            None if steers.is_empty() => {
                let message = "there is nothing to change: give priority or delayMs";
                return Err(Error::Unprocessable(message.to_owned()));
            }
            None => {}
            Some(ms) if ms > MAX_WAIT_MS.unsigned_abs() => {
                return bad("delayMs: may be ten years at most");
            }
            Some(ms) => {
                let at_ms = now.saturating_add(ms.cast_signed());
                let queue = self.job(job).await?.queue;
                let waits = Waits::new(&queue, Reason::Delayed).at(Some(at_ms).filter(|_| ms > 0));
                commit = commit.and(Change::Append(to_job(job, vec![waits.draft(now)])));
                steers.push(Steer::Delay { at_ms });
            }
        }
        for steer in steers {
            commit = commit.and(Change::Steer {
                job: job.clone(),
                steer,
                now_ms: now,
            });
        }
        self.base().commit(commit).await?;
        Ok(())
    }

    /// The job of a step belongs to its run, which waits for it: to remove the job, cancel the run.
    /// The jobs of a damaged run can be removed, because its stream does not show which they are.
    async fn refuse_of_run(&self, job: &RunId) -> Result<()> {
        let record = self.job(job).await?;
        let step = KeptOptions::read(record.options.as_ref()).step;
        let Some(place) = step.filter(|_| !record.state.is_ended()) else {
            return Ok(());
        };
        match self.base().store().run(&place.run).await? {
            Some(run) if !run.status.is_ended() => Err(Error::JobOfRun {
                job: record.id,
                run: place.run,
            }),
            _ => Ok(()),
        }
    }

    /// Steers a job that waits afterwards, and records that in its stream, before its row drops its
    /// earlier attempts.
    async fn steer_in(&self, queue: &Name, job: &RunId, steer: Steer) -> Result<()> {
        let (reason, at_ms) = match steer {
            Steer::Promote => (Reason::Promoted, 0),
            Steer::Delay { at_ms } => (Reason::Delayed, at_ms),
            Steer::Retry { at_ms } => (Reason::Redriven, at_ms),
            _ => return self.commit_steer(job, steer, None).await,
        };
        let now = self.base().now_ms();
        let waits = Waits::new(queue, reason).at(Some(at_ms).filter(|at_ms| *at_ms > now));
        self.commit_steer(job, steer, Some(waits.draft(now))).await
    }

    async fn commit_steer(&self, job: &RunId, steer: Steer, said: Option<Draft>) -> Result<()> {
        let cancelled = match &steer {
            Steer::Cancel { reason } => Some(reason.clone()),
            _ => None,
        };
        let steer = Change::Steer {
            job: job.clone(),
            steer,
            now_ms: self.base().now_ms(),
        };
        let mut commit = Commit::default();
        if let Some(said) = said {
            commit = commit.and(Change::Append(to_job(job, vec![said])));
        }
        self.base().commit(commit.and(steer)).await?;
        if let Some(reason) = cancelled {
            self.keeper().cancel(job, reason.as_deref());
        }
        Ok(())
    }

    pub async fn queue(&self, name: &str) -> Result<QueueView> {
        let record = match self.base().store().queue(name).await? {
            Some(record) => record,
            None if self.has_queue(name) => QueueRecord {
                name: Name::from(name),
                ..QueueRecord::default()
            },
            None => return Err(StoreError::QueueNotFound(name.to_owned()).into()),
        };
        Ok(self.queue_view(record))
    }

    /// Every queue that has had a job or has a process here, by name.
    pub async fn list(&self) -> Result<Vec<QueueView>> {
        let mut records = self.base().store().queues(None).await?;
        for process in self.processes().all() {
            let queue = &process.config.queue;
            if self.has_queue(queue) && !records.iter().any(|record| record.name == *queue) {
                records.push(QueueRecord {
                    name: queue.clone(),
                    ..QueueRecord::default()
                });
            }
        }
        records.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(records
            .into_iter()
            .map(|record| self.queue_view(record))
            .collect())
    }

    fn queue_view(&self, record: QueueRecord) -> QueueView {
        QueueView {
            stats: self.job_stats().of(&record.name),
            process: self
                .processes()
                .of_queue(&record.name)
                .map(|process| process.id.clone()),
            record,
        }
    }

    /// Pauses a queue, or resumes it.
    pub async fn pause(&self, queue: &str, paused: bool) -> Result<QueueView> {
        self.base().refuse_when_stopping()?;
        self.queue(queue).await?;
        let pause = Change::Pause {
            queue: Name::from(queue),
            paused,
            now_ms: self.base().now_ms(),
        };
        self.base().commit(Commit::of(pause)).await?;
        self.queue(queue).await
    }

    /// Removes waiting jobs; with `delayed` also delayed ones. The jobs of steps stay: their runs
    /// wait for them.
    pub async fn drain(&self, queue: &str, delayed: bool) -> Result<Drained> {
        self.queue(queue).await?;
        let mut removed = self
            .purge(queue, JobState::Waiting, self.base().now_ms(), None)
            .await?;
        if delayed {
            removed += self
                .purge(queue, JobState::Delayed, self.base().now_ms(), None)
                .await?;
        }
        let QueueRecord {
            waiting,
            delayed: later,
            ..
        } = self.queue(queue).await?.record;
        let left = if delayed { waiting + later } else { waiting };
        Ok(Drained { removed, left })
    }

    /// Removes ended jobs of a state that ended at or before a time, the oldest first.
    pub async fn purge(
        &self,
        queue: &str,
        state: JobState,
        before_ms: Millis,
        most: Option<u64>,
    ) -> Result<u64> {
        self.base().refuse_when_stopping()?;
        let mut removed = 0;
        loop {
            let left = most.map_or(BATCH as u64, |most| most.saturating_sub(removed));
            let limit = usize::try_from(left).unwrap_or(BATCH).min(BATCH);
            if limit == 0 {
                return Ok(removed);
            }
            let purge = Purge {
                queue: Name::from(queue),
                state,
                before_ms,
                spare: Some("step"),
                limit,
            };
            let gone = match self.base().store().purge_jobs(&purge).await {
                Err(StoreError::QueueNotFound(_)) if self.has_queue(queue) => 0,
                gone => gone?,
            };
            removed += gone;
            self.base()
                .hub()
                .purged(&purge.queue, state, gone, self.base().now_ms());
            if gone < limit as u64 {
                return Ok(removed);
            }
            tokio::task::yield_now().await;
        }
    }
}
