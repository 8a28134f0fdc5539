//! Bulk operations on ended jobs: redrive of dead letters, and removal by a filter.
//!
//! Only jobs that had ended at the time of the request are touched, each at most once: a job that
//! fails again at once is not redriven a second time.

use std::{
    collections::HashSet,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use riverrun_store::{
    Change, Commit, Error as StoreError, JobFilter, JobRecord, JobState, Reason, Steer, Waits,
    Wanted,
};
use riverrun_types::{Millis, Name};

use super::{Queues, actions::BATCH, attempt::to_job};
use crate::base::{Error, Result};

/// Which dead letters are redriven, and how fast.
#[derive(Clone, Debug)]
pub struct Redrive {
    /// The newest first; all where absent.
    pub most: Option<u64>,
    /// How many of them may begin per second.
    pub per_second: Option<NonZeroU32>,
    pub wanted: Wanted,
    /// How long the caller waits. The rest is redriven in the background.
    pub patience: Duration,
}

impl Default for Redrive {
    fn default() -> Self {
        Self {
            most: None,
            per_second: None,
            wanted: Wanted::default(),
            patience: Duration::from_secs(5),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redriven {
    /// How many wait again.
    pub redriven: u64,
    /// More dead letters remain, and follow.
    pub goes_on: bool,
}

/// The queues whose dead letters are being redriven: one redrive of a queue at a time.
#[derive(Default)]
pub(crate) struct Redrives(Mutex<HashSet<Name>>);

struct RedriveGuard {
    redrives: Arc<Redrives>,
    queue: Name,
}

impl Drop for RedriveGuard {
    fn drop(&mut self) {
        self.redrives.0.lock().remove(&self.queue);
    }
}

impl Redrives {
    fn begin(self: &Arc<Self>, queue: &Name) -> Result<RedriveGuard> {
        match self.0.lock().insert(queue.clone()) {
            true => Ok(RedriveGuard {
                redrives: self.clone(),
                queue: queue.clone(),
            }),
            false => Err(Error::Redriving(queue.to_string())),
        }
    }
}

/// A walk over ended jobs of a queue, the newest first.
struct Walk {
    filter: JobFilter,
    left: u64,
    began: Millis,
    is_over: bool,
}

impl Walk {
    fn new(
        queue: &Name,
        state: JobState,
        mut wanted: Wanted,
        most: Option<u64>,
        began: Millis,
    ) -> Self {
        wanted.before_ms = Some(wanted.before_ms.map_or(began, |before| before.min(began)));
        Self {
            filter: JobFilter {
                queue: queue.clone(),
                states: vec![state],
                wanted,
                ..JobFilter::default()
            },
            left: most.unwrap_or(u64::MAX),
            began,
            is_over: false,
        }
    }

    /// The next jobs, as many as fit into one commit; the page may hold none.
    async fn next(&mut self, queues: &Queues) -> Result<Option<Vec<JobRecord>>> {
        if self.is_over || self.left == 0 {
            return Ok(None);
        }
        self.filter.limit = usize::try_from(self.left).unwrap_or(BATCH).min(BATCH);
        let page = queues.jobs(&self.filter).await?;
        self.is_over = page.next.is_none();
        self.filter.cursor = page.next;
        self.left -= page.items.len() as u64;
        Ok(Some(page.items))
    }
}

impl Queues {
    /// Redrives dead letters of a queue, from their first attempt on.
    pub async fn redrive(&self, queue: &str, redrive: Redrive) -> Result<Redriven> {
        self.base().refuse_when_stopping()?;
        self.queue(queue).await?;
        let queue = Name::from(queue);
        let guard = self.redrives().begin(&queue)?;
        let over = Instant::now() + redrive.patience;
        let Redrive {
            most,
            per_second,
            wanted,
            ..
        } = redrive;
        let mut walk = Walk::new(&queue, JobState::Failed, wanted, most, self.base().now_ms());
        let mut redriven = 0;
        while let Some(jobs) = walk.next(self).await? {
            redriven += self
                .retry_all(&jobs, walk.began, redriven, per_second)
                .await?;
            if Instant::now() >= over && !walk.is_over && walk.left > 0 {
                self.base().spawn(redrive_rest(
                    self.clone(),
                    guard,
                    walk,
                    redriven,
                    per_second,
                ));
                return Ok(Redriven {
                    redriven,
                    goes_on: true,
                });
            }
        }
        Ok(Redriven {
            redriven,
            goes_on: false,
        })
    }

    /// Removes ended jobs that a filter selects, the newest first. Returns how many.
    pub async fn purge_wanted(
        &self,
        queue: &str,
        state: JobState,
        wanted: Wanted,
        most: Option<u64>,
    ) -> Result<u64> {
        self.base().refuse_when_stopping()?;
        let mut walk = Walk::new(
            &Name::from(queue),
            state,
            wanted,
            most,
            self.base().now_ms(),
        );
        let mut removed = 0;
        while let Some(jobs) = walk.next(self).await? {
            let steers = jobs.iter().map(|job| (job, Steer::Remove)).collect();
            removed += self.steer_all(steers).await?;
        }
        Ok(removed)
    }

    async fn retry_all(
        &self,
        jobs: &[JobRecord],
        began: Millis,
        before: u64,
        per_second: Option<NonZeroU32>,
    ) -> Result<u64> {
        let at_ms = |index: usize| {
            per_second.map_or(0, |per_second| {
                let after =
                    (before + index as u64).saturating_mul(1_000) / u64::from(per_second.get());
                began.saturating_add(i64::try_from(after).unwrap_or(i64::MAX))
            })
        };
        let steers = jobs.iter().enumerate();
        let steers = steers.map(|(index, job)| {
            (
                job,
                Steer::Retry {
                    at_ms: at_ms(index),
                },
            )
        });
        self.steer_all(steers.collect()).await
    }

    /// Steers jobs in one commit; one by one if another writer has changed one of them.
    async fn steer_all(&self, steers: Vec<(&JobRecord, Steer)>) -> Result<u64> {
        let now = self.base().now_ms();
        if steers.is_empty() {
            return Ok(0);
        }
        let mut commit = Commit::default();
        for (job, steer) in &steers {
            commit = steered(commit, job, steer, now);
        }
        match self.base().commit(commit).await {
            Ok(_) => return Ok(steers.len() as u64),
            Err(StoreError::JobState { .. } | StoreError::JobNotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let mut done = 0;
        for (job, steer) in &steers {
            match self
                .base()
                .commit(steered(Commit::default(), job, steer, now))
                .await
            {
                Ok(_) => done += 1,
                Err(StoreError::JobState { .. } | StoreError::JobNotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }
}

/// A redriven job says so in its stream, before its row drops its earlier attempts.
fn steered(mut commit: Commit, job: &JobRecord, steer: &Steer, now_ms: Millis) -> Commit {
    if let Steer::Retry { at_ms } = steer {
        let later = Some(*at_ms).filter(|at_ms| *at_ms > now_ms);
        let waits = Waits::new(&job.queue, Reason::Redriven).at(later);
        commit = commit.and(Change::Append(to_job(&job.id, vec![waits.draft(now_ms)])));
    }
    commit.and(Change::Steer {
        job: job.id.clone(),
        steer: steer.clone(),
        now_ms,
    })
}

/// Goes on after the caller was answered. A shutdown ends it: the remaining jobs are still dead
/// letters.
async fn redrive_rest(
    queues: Queues,
    guard: RedriveGuard,
    mut walk: Walk,
    mut redriven: u64,
    per_second: Option<NonZeroU32>,
) {
    let queue = &guard.queue;
    while !queues.base().is_stopping() {
        let step = async {
            let Some(jobs) = walk.next(&queues).await? else {
                return Ok(None);
            };
            let (began, before) = (walk.began, redriven);
            let done = queues.retry_all(&jobs, began, before, per_second).await?;
            Ok::<_, Error>(Some(done))
        };
        match step.await {
            Ok(Some(done)) => redriven += done,
            Ok(None) => {
                tracing::info!(%queue, redriven, "dead letters wait again");
                return;
            }
            Err(error) => {
                tracing::warn!(%queue, redriven, %error, "the redrive of dead letters has ended early");
                return;
            }
        }
    }
}
