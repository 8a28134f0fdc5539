//! Reads the facts that explain why a run does not move.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use riverrun_engine::{RunState, VisitKey, Wait};
use riverrun_store::{
    AwaitRecord, AwaitState, Awaited, Direction, Error as StoreError, EventQuery, JobRecord,
    JobState, QueueRecord, SignalLane, SignalsOf,
};
use riverrun_types::{EventType, Json, Millis, Name, RunId, StreamName};

use super::{
    Why,
    facts::{Facts, JobFacts, Taker},
    judge,
};
use crate::{
    awaits::troubles,
    base::{Base, Error, Result},
    processes::Processes,
    queues::{KeptOptions, Queues, job_id},
    runs::{Runs, damage},
};

/// How deep nested runs are read.
const MAX_DEPTH: usize = 5;
/// Visits that are read, in all these runs together.
const MAX_LOOKS: usize = 200;
/// Events that an await has yet to judge are counted up to this.
const MAX_SIGNALS: usize = 100;

/// Explains runs, jobs and calls.
pub struct Reasons {
    base: Base,
    processes: Arc<Processes>,
    queues: Queues,
    runs: Runs,
}

impl Reasons {
    pub(crate) fn new(base: Base, processes: Arc<Processes>, queues: Queues, runs: Runs) -> Self {
        Self {
            base,
            processes,
            queues,
            runs,
        }
    }

    /// Why a run, or a job of a queue, is in its state.
    pub async fn why(&self, run: &RunId) -> Result<Why> {
        let mut looks = Looks {
            left: MAX_LOOKS,
            queues: HashMap::new(),
        };
        match self.why_run(run, MAX_DEPTH, &mut looks).await {
            Err(Error::Store(StoreError::RunNotFound(id))) => {
                let Some(job) = self.base.store().job(run).await? else {
                    let call = self.why_call(run).await?;
                    return call.ok_or(Error::Store(StoreError::RunNotFound(id)));
                };
                let state = job.state;
                let facts = self.job_facts(job, &mut looks).await?;
                Ok(judge::job(run, state, &facts, self.base.now_ms()))
            }
            answer => answer,
        }
    }

    /// For a call that runs here, or has left a stream.
    async fn why_call(&self, id: &RunId) -> Result<Option<Why>> {
        if let Some(began_ms) = self.queues.call_began(id) {
            return Ok(Some(judge::call(id, "running", Some(began_ms))));
        }
        let last = EventQuery {
            direction: Direction::Backward,
            from: None,
            ..EventQuery::forward(0, 1)
        };
        let stream = StreamName::new("call", id.as_str());
        let last = self.base.store().events(&stream, &last).await?.pop();
        Ok(last.map(|last| match last.kind.as_str() {
            "call.completed" => judge::call(id, "completed", Some(last.id.ms)),
            "call.failed" => judge::call(id, "failed", Some(last.id.ms)),
            "call.cancelled" => judge::call(id, "cancelled", Some(last.id.ms)),
            // The outcome is on its way to the store, or the server died before it was stored.
            _ => judge::call(id, "ended", None),
        }))
    }

    /// A run's children are judged first, so this calls itself.
    fn why_run<'a>(
        &'a self,
        run: &'a RunId,
        depth: usize,
        looks: &'a mut Looks,
    ) -> BoxFuture<'a, Result<Why>> {
        Box::pin(async move {
            let loaded = match self.runs.load(run).await {
                Ok(loaded) => loaded,
                Err(error) => match (damage(&error), self.base.store().run(run).await?) {
                    (Some(damage), Some(record)) => return Ok(judge::damaged(&record, damage)),
                    _ => return Err(error),
                },
            };
            let state = &loaded.state;
            let facts = self.facts(run, state, depth, looks).await?;
            let flow = &loaded.record.flow;
            Ok(judge::run(run, flow, state, &facts, self.base.now_ms()))
        })
    }

    async fn facts(
        &self,
        run: &RunId,
        state: &RunState,
        depth: usize,
        looks: &mut Looks,
    ) -> Result<Facts> {
        let mut facts = Facts {
            busy: self.runs.is_full(),
            public_url: self.base.options().public_url.clone(),
            ..Facts::default()
        };
        if state.status.is_ended() {
            return Ok(facts);
        }
        if state.paused {
            facts.paused = self.paused_since(run).await?;
        }
        if state.visits.iter().any(|visit| is_awaited(&visit.wait)) {
            let awaits = self.base.store().awaits_of(run).await?;
            self.filters(run, &awaits, &mut facts).await?;
            let fired = awaits.iter();
            let fired = fired.filter(|record| record.state == AwaitState::Fired);
            for record in fired {
                facts.fired(record, state);
            }
        }
        for visit in state.visits.iter() {
            match &visit.wait {
                Some(Wait::Job { .. }) if looks.take() => {
                    let job = self.visit_job(run, &visit.key, looks).await?;
                    facts.jobs.insert(visit.key.clone(), job);
                }
                Some(Wait::Job { .. }) => facts.unseen += 1,
                Some(Wait::Run { run: child, .. }) if depth > 1 && looks.take() => {
                    match self.why_run(child, depth - 1, looks).await {
                        Ok(why) => drop(facts.children.insert(child.clone(), why)),
                        Err(Error::Store(StoreError::RunNotFound(_))) => {}
                        Err(error) => return Err(error),
                    }
                }
                _ => {}
            }
        }
        Ok(facts)
    }

    /// The state of the expressions of open awaits.
    async fn filters(&self, run: &RunId, awaits: &[AwaitRecord], facts: &mut Facts) -> Result<()> {
        let filtered = awaits.iter().filter_map(|record| match &record.what {
            Awaited::Event { kind, matcher, .. } if record.state == AwaitState::Open => {
                matcher.filter().map(|_| (record, kind))
            }
            _ => None,
        });
        for (record, kind) in filtered {
            let mut judging = 0;
            let own = record.tenant.clone().map(Some);
            for tenant in [None].into_iter().chain(own) {
                let kind = kind.clone();
                let lane = SignalLane { kind, tenant };
                let signals = self
                    .base
                    .store()
                    .signals(SignalsOf::Lane(&lane), 0, MAX_SIGNALS)
                    .await?;
                judging += signals.len();
            }
            facts.judging.insert(record.id.clone(), judging);
        }
        if !facts.judging.is_empty() {
            let troubles = troubles(self.base.store(), run).await?.into_iter();
            facts.troubles = troubles.map(|one| (one.id.clone(), one)).collect();
        }
        Ok(())
    }

    async fn paused_since(&self, run: &RunId) -> Result<Option<(Millis, Option<String>)>> {
        let query = EventQuery {
            direction: Direction::Backward,
            from: None,
            types: vec![EventType::FlowPaused],
            ..EventQuery::forward(0, 1)
        };
        let events = self
            .base
            .store()
            .events(&StreamName::flow(run), &query)
            .await?;
        Ok(events.first().map(|event| {
            let data = event.data.as_ref().map(Json::value);
            let reason = data.as_ref().and_then(|data| data["reason"].as_str());
            (event.id.ms, reason.map(str::to_owned))
        }))
    }

    async fn visit_job(
        &self,
        run: &RunId,
        visit: &VisitKey,
        looks: &mut Looks,
    ) -> Result<JobFacts> {
        let id = job_id(run, visit);
        match self.base.store().job(&id).await? {
            Some(job) => self.job_facts(job, looks).await,
            None => Ok(JobFacts::gone()),
        }
    }

    async fn job_facts(&self, job: JobRecord, looks: &mut Looks) -> Result<JobFacts> {
        let ahead = match job.state {
            JobState::Waiting => self.base.store().jobs_ahead(&job.id).await?,
            _ => None,
        };
        let active_of_key = match (&job.key, job.state) {
            (Some(key), JobState::Waiting) => {
                Some(self.base.store().active_of_key(&job.queue, key).await?)
            }
            _ => None,
        };
        let step = KeptOptions::read(job.options.as_ref()).step;
        let process = step.map(|place| place.process);
        let is_known = |id: &Name| self.processes.get(id).is_some();
        let taker = match process.as_ref().is_none_or(is_known) {
            true => self.taker_of(&job.queue),
            false => None,
        };
        let broken = match &process {
            Some(id) => self.processes.why_broken(id),
            None => self.processes.why_queue_broken(&job.queue),
        };
        let provider = match &process {
            Some(id) => self.processes.get(id),
            None => self.processes.of_queue(&job.queue),
        };
        let holder = provider.filter(|_| job.state == JobState::Active);
        let holder = holder.and_then(|process| process.provider.holder(job.id.as_str()));
        Ok(JobFacts {
            broken: broken.filter(|_| taker.is_none()),
            holder,
            queue: self.queue_of(&job.queue, looks).await?,
            ahead,
            active_of_key,
            process,
            taker,
            job: Some(job),
        })
    }

    async fn queue_of(&self, queue: &Name, looks: &mut Looks) -> Result<QueueRecord> {
        if let Some(known) = looks.queues.get(queue) {
            return Ok(known.clone());
        }
        let record = self.base.store().queue(queue).await?.unwrap_or_default();
        looks.queues.insert(queue.clone(), record.clone());
        Ok(record)
    }

    fn taker_of(&self, queue: &str) -> Option<Taker> {
        let process = self.processes.of_queue(queue)?;
        let places = process.provider.places();
        // The processes of a disconnected worker stay known.
        if places.as_ref().is_some_and(|places| !places.is_staffed()) {
            return None;
        }
        let room = places.map(|places| {
            let taken = places.take(1).count;
            if taken > 0 {
                places.give_back(taken);
            }
            taken > 0
        });
        Some(Taker {
            concurrency: process.config.concurrency,
            limits: process.config.limits,
            room,
        })
    }
}

/// How many visits may still be read, and how many were.
struct Looks {
    left: usize,
    queues: HashMap<Name, QueueRecord>,
}

impl Looks {
    fn take(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

impl JobFacts {
    fn gone() -> Self {
        Self {
            job: None,
            queue: QueueRecord::default(),
            ahead: None,
            active_of_key: None,
            process: None,
            taker: None,
            broken: None,
            holder: None,
        }
    }
}

fn is_awaited(wait: &Option<Wait>) -> bool {
    matches!(wait, Some(Wait::Await(awaiting)) if !awaiting.what.is_time())
}
