//! Before an attempt: whether its visit still needs it, and everything that the handler gets.

use std::sync::Arc;

use riverrun_contract::{Process, schema_issues};
use riverrun_engine::{Memo, Operation, RunState, Visit, VisitKey, Wait};
use riverrun_protocol::{Invoke, JobInput, JournalEntry, WorkError};
use riverrun_store::{
    Append, Change, ClaimedJob, Commit, Error as StoreError, Expect, Settle, Settled,
};
use riverrun_types::{ErrorCode, Json, Name, RunId, StreamName, time::iso};

use super::{
    Steps,
    attempt::retry_of,
    retries::{pending, tries},
    room::Room,
};
use crate::{
    base::Error,
    flows::Compiled,
    queues::{StepPlace, Tried},
    runs::CachedRun,
};

impl Steps {
    /// Prepares an attempt; if its run does not need it, the job is removed.
    pub(super) async fn wanted(
        &self,
        job: &ClaimedJob,
        place: &StepPlace,
    ) -> Option<Box<Prepared>> {
        loop {
            match self.prepare(job, place).await {
                Ok(JobVisit::Wanted(prepared)) => return Some(prepared),
                // The visit has ended, or its run is paused and will ask again. If it has asked
                // meanwhile, this is the job that it asked for.
                Ok(JobVisit::Unwanted(seen)) => {
                    if Box::pin(self.drop_job(job, place, seen)).await {
                        return None;
                    }
                }
                Err(error) => {
                    tracing::warn!(job = %job.lease.id, %error, "a step could not be begun; it waits");
                    Box::pin(self.settle_alone(job, Settled::Released, false)).await;
                    return None;
                }
            }
        }
    }

    /// Everything that an attempt needs; nothing if the visit does not need it.
    async fn prepare(&self, job: &ClaimedJob, place: &StepPlace) -> crate::base::Result<JobVisit> {
        let known = match self.known_for(job, place) {
            Some(known) => known,
            None => match Box::pin(self.runs().load(&place.run)).await {
                Ok(loaded) => loaded.known(),
                Err(Error::Store(StoreError::RunNotFound(_))) => {
                    return Ok(JobVisit::Unwanted(None));
                }
                Err(error) => return Err(error),
            },
        };
        let state = &known.state;
        let Some(visit) = wanting(state, &place.visit()) else {
            return Ok(JobVisit::Unwanted(Some(known)));
        };
        let flow = &known.context.flow_name;
        let flow = self.flows().compiled(flow, Some(&known.version)).await?;
        let Some(process) = self.processes().get(&place.process) else {
            let message = format!("there is no process {:?} here", place.process);
            return Err(Error::BadRequest(message));
        };
        let attempt = place.before.saturating_add(job.attempt);
        let invoke = self.invoke_step(job, place, &process, &flow, state, visit, attempt);
        let tenant = &known.context.tenant_id;
        let invoke = invoke.map(|mut invoke| {
            invoke.job.tenant_id = tenant.as_ref().map(ToString::to_string);
            Arc::new(invoke)
        });
        Ok(JobVisit::Wanted(Box::new(Prepared {
            process,
            flow,
            invoke,
            attempt,
            failures: visit.failures,
            tries: tries(visit),
            chain: state.chain,
            correlation: correlation(state, &place.run),
        })))
    }

    /// The cached run, if that is enough for a first attempt: the decision that asked for it, and
    /// no journal that an earlier attempt may have left.
    fn known_for(&self, job: &ClaimedJob, place: &StepPlace) -> Option<CachedRun> {
        let after = place
            .after
            .filter(|_| job.attempt == 1 && place.before == 0)?;
        let known = self.runs().known(&place.run)?;
        let is_enough = known.state.len >= after && wanting(&known.state, &place.visit()).is_some();
        is_enough.then_some(known)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is one thing that a handler gets"
    )]
    fn invoke_step(
        &self,
        job: &ClaimedJob,
        place: &StepPlace,
        process: &Process,
        flow: &Compiled,
        state: &RunState,
        visit: &Visit,
        attempt: u32,
    ) -> Result<Invoke, WorkError> {
        let input = match flow.plan.step(&place.step) {
            Some(step) => step
                .input(state, visit)
                .map_err(|failure| WorkError::new(failure.code, failure.message).permanent())?,
            None => Json::null(),
        };
        if let Some(schema) = &process.config.input_schema {
            let issues = schema_issues(schema, &input);
            if let Some(first) = issues.first() {
                let message = format!("the input breaks the process's schema{}", first.described());
                let error = WorkError::new(ErrorCode::InputInvalid, message).permanent();
                return Err(error.details(&serde_json::json!({ "issues": issues })));
            }
        }
        let timeout = self.step_timeout(flow, &place.step, process);
        let most = retry_of(flow, &place.step, process).max_attempts;
        // Lost attempts, and those before a finished wait, do not count.
        let left = most.saturating_sub(1).saturating_sub(visit.failures);
        let input_of_job = JobInput {
            job_id: Some(job.lease.id.to_string()),
            name: Some(place.step.to_string()),
            input: Some(input),
            attempt,
            max_attempts: attempt.saturating_add(left),
            correlation_id: Some(correlation(state, &place.run).to_string()),
            causation_id: None,
            tenant_id: None,
            checkpoint: job.checkpoint.clone(),
            journal: visit.journal.iter().map(entry).collect(),
            enqueued_at: Some(iso(job.created_ms)),
        };
        Ok(Invoke {
            queue: Some(process.config.queue.to_string()),
            run_id: Some(place.run.to_string()),
            flow: Some(flow.plan.id.to_string()),
            step: Some(place.step.to_string()),
            visit: Some(place.visit),
            awaited: visit.brought().cloned(),
            retries: pending(visit, self.base().now_ms()),
            config: flow
                .plan
                .step(&place.step)
                .and_then(|step| step.config.clone()),
            lease: Some(job.lease.token.to_string()),
            ..process.invoke("step", input_of_job, timeout)
        })
    }

    /// Removes a job that its run does not need. False if the run has moved since it was read.
    async fn drop_job(&self, job: &ClaimedJob, place: &StepPlace, seen: Option<CachedRun>) -> bool {
        let seen = seen.filter(|seen| !seen.state.status.is_ended());
        let Some(seen) = seen else {
            self.settle_alone(job, Settled::Dropped, false).await;
            return true;
        };
        let still = Change::Append(Append {
            stream: StreamName::flow(&place.run),
            context: seen.context,
            expect: Expect::Len(seen.state.len),
            events: Arc::from([]),
        });
        let dropped = Settle::new(&job.lease, Settled::Dropped, self.base().now_ms());
        match self
            .base()
            .commit(Commit::of(still).and(dropped.into()))
            .await
        {
            Err(StoreError::Conflict(_) | StoreError::RunEnded(_) | StoreError::RunNotFound(_)) => {
                false
            }
            Ok(_) | Err(StoreError::JobLost(_)) => true,
            Err(error) => {
                tracing::warn!(job = %job.lease.id, %error, "a job was not removed");
                true
            }
        }
    }
}

/// The visit, if it waits for its job and its run goes on.
fn wanting<'a>(state: &'a RunState, key: &VisitKey) -> Option<&'a Visit> {
    let waits = |visit: &&Visit| matches!(visit.wait, Some(Wait::Job { .. }));
    let visit = state.visit(key).filter(waits);
    visit.filter(|_| !state.status.is_ended() && !state.paused)
}

/// The state of the visit that a job is for.
enum JobVisit {
    Wanted(Box<Prepared>),
    /// Its run as it was read, if it exists.
    Unwanted(Option<CachedRun>),
}

pub(super) struct Prepared {
    pub process: Arc<Process>,
    pub flow: Arc<Compiled>,
    /// The input of the handler, or why it is not invoked at all.
    pub invoke: Result<Arc<Invoke>, WorkError>,
    pub attempt: u32,
    /// Attempts that failed before it, of those that its retry policy counts.
    pub failures: u32,
    /// Operations of its code that failed before, and have no outcome yet.
    pub tries: Vec<(Operation, Tried)>,
    /// How many events started a run on the way to this one.
    pub chain: u32,
    /// The story that the run belongs to.
    pub correlation: Name,
}

impl Prepared {
    /// The remaining room in the journal.
    pub fn room(&self) -> Room {
        let nothing = Invoke::default();
        Room::beside(self.invoke.as_deref().unwrap_or(&nothing))
    }
}

/// The story of a run: its own, unless it was started in another.
fn correlation(state: &RunState, run: &RunId) -> Name {
    let given = state.correlation.clone();
    given.unwrap_or_else(|| Name::from(run.as_str()))
}

fn entry(memo: &Memo) -> JournalEntry {
    JournalEntry {
        op: memo.op.to_string(),
        name: memo.name.to_string(),
        nth: memo.nth,
        value: memo.value.clone(),
        error: memo.error.as_ref().and_then(recorded),
        emits: memo.emits.iter().map(ToString::to_string).collect(),
    }
}

/// A recorded error as code receives it: with the members that only code uses, and with `retriable`
/// also if an older version recorded `retryable`.
fn recorded(error: &Json) -> Option<Json> {
    let read: WorkError = error.read().ok()?;
    Some(match error.get("retryable") {
        None => error.clone(),
        Some(_) => Json::of(&read),
    })
}
