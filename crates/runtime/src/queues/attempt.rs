//! One attempt of a job, or of a batch of them: invoked, bounded in time, settled.

use std::{sync::Arc, time::Duration};

use riverrun_contract::{Cancellation, Invocation, OnFail, Policy, Process, schema_issues};
use riverrun_engine::{Failure, retry};
use riverrun_protocol::{CancelReason, Invoke, JobInput, Reply, ReplyItem, WorkError};
use riverrun_store::{
    Append, Change, ClaimedJob, Commit, Error as StoreError, Expect, JobLease, NewJob, Note,
    Reason, Settle, Settled, StalledJob, Waits,
};
use riverrun_types::{
    Draft, ErrorCode, Json, Millis, Name, RunId, StreamName, error_code::Disposition,
    event::EventContext, time::iso,
};
use serde_json::json;

use super::{
    Queues,
    host::{BatchHost, JobHost},
    keeper::Stop,
    record,
    request::KeptOptions,
};

/// How long a handler that was asked to stop may take before it is abandoned. Providers kill it
/// earlier than that.
const GIVE_UP: Duration = Duration::from_secs(15);
/// The default reason of a cancelled job.
const CANCELLED: &str = "it was cancelled";
/// Characters of an error in a log line.
pub(crate) const LOGGED: usize = 1_000;

/// A job with the decisions made when it was claimed.
struct StartedJob {
    job: ClaimedJob,
    policy: Policy,
    options: KeptOptions,
    stop: Stop,
}

impl Queues {
    /// Runs jobs that were claimed together, and records the outcome of each.
    pub(super) async fn attempt(&self, process: &Arc<Process>, jobs: Vec<ClaimedJob>) {
        let cancel = Cancellation::default();
        let stops = Stop::each(&cancel, jobs.len());
        let held: Vec<StartedJob> = jobs
            .into_iter()
            .zip(stops)
            .map(|(job, stop)| {
                let options = KeptOptions::read(job.options.as_ref());
                let policy = options.policy(Some(process));
                StartedJob {
                    job,
                    policy,
                    options,
                    stop,
                }
            })
            .collect();
        if held.is_empty() {
            return;
        }
        let began = self.base().now_ms();
        for held in &held {
            self.job_stats()
                .started(&process.config.queue, began - held.job.ready_ms);
        }
        for held in &held {
            self.keeper().begin(&held.job.lease, held.stop.clone());
        }
        let host = Arc::new(BatchHost::new(held.iter().map(|held| {
            JobHost::new(
                self.clone(),
                process.clone(),
                held.job.lease.clone(),
                &held.options,
                cancel.clone(),
            )
        })));
        // No job of a batch runs longer than its own limit.
        let timeout = held.iter().filter_map(|held| held.policy.timeout).min();
        let timeout = timeout.unwrap_or(self.base().options().attempt_timeout);
        let invoke = invoke(self, process, &held, timeout).await;
        let outcome = match invoke {
            Err(error) => Err(error),
            Ok(invoke) => {
                let invocation = Invocation {
                    invoke: Arc::new(invoke),
                    host: host.clone(),
                    cancel: cancel.clone(),
                };
                self.bounded(process, invocation, timeout).await
            }
        };
        let said = host.close().await;
        // Once: a job of a batch may be claimed again while the others are still to be settled.
        let is_lost = cancel.reason() == Some(CancelReason::LeaseLost);
        let outcomes = each(outcome, held.len());
        for ((held, outcome), said) in held.iter().zip(outcomes).zip(said) {
            let outcome = match checked(process, outcome) {
                // A handler that is asked to stop and returns has stopped; the other jobs of its
                // batch may have gone on. Their results are not used.
                Ok(_) if held.stop.is_wanted() => {
                    Err(WorkError::new(ErrorCode::Cancelled, CANCELLED))
                }
                outcome => outcome,
            };
            self.settle(process, held, outcome, is_lost, said).await;
            self.keeper().end(&held.job.lease);
        }
    }

    /// Invokes, and stops jobs that time out or are cancelled.
    pub(crate) async fn bounded(
        &self,
        process: &Process,
        invocation: Invocation,
        timeout: Duration,
    ) -> Result<Reply, WorkError> {
        let clock = self.base().clock();
        let _running = clock.handler();
        let cancel = invocation.cancel.clone();
        let mut running = process.provider.invoke(invocation);
        let ended = async {
            tokio::select! {
                biased;
                outcome = &mut running => Err(outcome),
                () = clock.sleep(timeout) => Ok(CancelReason::Timeout),
                () = self.base().grace_over() => Ok(CancelReason::Shutdown),
                reason = cancel.cancelled() => Ok(reason),
            }
        };
        let reason = match clock.rest(ended).await {
            Err(outcome) => return outcome,
            Ok(reason) => reason,
        };
        cancel.cancel(reason);
        let ended = tokio::time::timeout(GIVE_UP, &mut running).await;
        match (ended, reason) {
            // Its worker was lost before the timeout: that is why it took so long.
            (Ok(Err(error)), CancelReason::Timeout) if is_loss(&error) => Err(error),
            // An attempt that timed out has failed, even if it returns later.
            (_, CancelReason::Timeout) => {
                let message = format!("the handler took longer than {} ms", timeout.as_millis());
                Err(WorkError::new(ErrorCode::Timeout, message))
            }
            // An attempt that succeeded at the moment it was asked to stop has succeeded.
            (Ok(Ok(reply)), _) => Ok(reply),
            (_, CancelReason::Shutdown) => Err(WorkError::new(
                ErrorCode::ShuttingDown,
                "the server is shutting down",
            )),
            (_, CancelReason::LeaseLost) => {
                Err(WorkError::new(ErrorCode::JobLost, "the lease is gone"))
            }
            (Ok(Err(error)), _) if !error.is_cancelled() => Err(error),
            _ => Err(WorkError::new(ErrorCode::Cancelled, CANCELLED)),
        }
    }

    /// Records the outcome of an attempt, until the store accepts it or the lease is lost.
    async fn settle(
        &self,
        process: &Process,
        held: &StartedJob,
        outcome: Result<Json, WorkError>,
        is_lost: bool,
        said: (Vec<Draft>, Option<Json>),
    ) {
        let now = self.base().now_ms();
        let queue = &process.config.queue;
        let started = held.job.created_ms;
        let lease = &held.job.lease;
        if is_lost {
            tracing::warn!(job = %lease.id, %queue, "the lease was lost; the attempt records nothing");
            return;
        }
        let decided = match outcome {
            Ok(result) => Settled::Completed { result },
            // A handler that throws when it is asked to stop has stopped, like one that returns.
            Err(_) if held.stop.is_wanted() => {
                let reason = held.stop.reason().unwrap_or(CANCELLED);
                Settled::Cancelled {
                    error: Json::of(&WorkError::new(ErrorCode::Cancelled, reason)),
                }
            }
            // It was not begun, or will be run elsewhere.
            Err(error) if is_released(&error) => Settled::Released,
            Err(error) if is_loss(&error) => lost(&held.job, &error),
            Err(error) => decide(&held.policy, &error, &held.job, now),
        };
        self.job_stats().settled(queue, &decided, now - started);
        log(queue, &held.job, &decided);
        let (mut events, progress) = said;
        events.extend(waiting_event(queue, &decided, held.job.attempt, now));
        let mut commit = self.outcome(queue, &held.job, &held.policy, decided, now, false, events);
        if progress.is_some() {
            let note = Note {
                progress,
                ..Note::new(lease, now)
            };
            commit.changes.insert(0, note.into());
        }
        loop {
            match self.commit(commit.clone()).await {
                Ok(_) => return,
                Err(StoreError::JobLost(_)) => {
                    tracing::warn!(job = %lease.id, %queue, "the lease was lost; the outcome is not recorded");
                    return;
                }
                Err(error @ (StoreError::Closed | StoreError::Corrupt(_))) => {
                    tracing::error!(job = %lease.id, %error, "the outcome could not be recorded");
                    return;
                }
                Err(error) => {
                    tracing::warn!(job = %lease.id, %error, "the outcome could not be recorded; trying again");
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        }
    }

    /// All changes of an outcome, in one commit.
    #[expect(clippy::too_many_arguments, reason = "each is one fact of the outcome")]
    fn outcome(
        &self,
        queue: &Name,
        job: &ClaimedJob,
        policy: &Policy,
        decided: Settled,
        now: Millis,
        if_expired: bool,
        events: Vec<Draft>,
    ) -> Commit {
        let dead_letter_job = match &decided {
            Settled::Failed { error } => policy
                .dead_queue
                .as_ref()
                .filter(|dead| *dead != queue)
                .and_then(|dead| dead_letter(dead, queue, job, error, now)),
            _ => None,
        };
        let is_dropped = decided == Settled::Dropped;
        // Recorded frames come before the row moves: the stream then holds what the row knew of
        // this attempt, and the row alone knows how it ended.
        let mut commit = Commit::default();
        if !events.is_empty() && !is_dropped {
            commit = commit.and(Change::Append(to_job(&job.lease.id, events)));
        }
        let settle = Settle {
            if_expired,
            ..Settle::new(&job.lease, decided, now)
        };
        commit = commit.and(settle.into());
        if let Some(dead_letter_job) = dead_letter_job {
            commit = commit.and(Change::Enqueue([dead_letter_job].into()));
        }
        commit
    }

    /// Judges a job whose lease has expired.
    pub(super) async fn give_up(&self, stalled: StalledJob) {
        let StalledJob {
            job,
            queue,
            cancelling,
        } = stalled;
        if let Some(place) = KeptOptions::read(job.options.as_ref()).step {
            if let Some(steps) = self.steps() {
                steps.give_up(job, queue, place).await;
            }
            return;
        }
        let process = self.processes().of_queue(&queue);
        let options = KeptOptions::read(job.options.as_ref());
        let policy = options.policy(process.as_deref());
        let now = self.base().now_ms();
        let decided = match cancelling {
            true => Settled::Cancelled {
                error: Json::of(&WorkError::new(
                    ErrorCode::Cancelled,
                    "the job was cancelled",
                )),
            },
            false => lost(&job, &silent()),
        };
        let events = waiting_event(&queue, &decided, job.attempt, now)
            .into_iter()
            .collect();
        let commit = self.outcome(&queue, &job, &policy, decided.clone(), now, true, events);
        match self.commit(commit).await {
            Ok(_) => {
                tracing::warn!(job = %job.lease.id, %queue, attempt = job.attempt, "the worker of a job was lost");
                log(&queue, &job, &decided);
                let total_ms = now - job.created_ms;
                self.job_stats().settled(&queue, &decided, total_ms);
            }
            // Its holder was only slow, or another instance was first.
            Err(StoreError::JobLost(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "a job whose worker was lost could not be settled")
            }
        }
        self.base().hub().work_in(&queue);
    }
}

/// The input of a handler.
async fn invoke(
    queues: &Queues,
    process: &Process,
    held: &[StartedJob],
    timeout: Duration,
) -> Result<Invoke, WorkError> {
    let mut inputs = Vec::with_capacity(held.len());
    for held in held {
        inputs.push(input(queues, held).await?);
    }
    let is_batch = process.config.batch.is_some();
    let (job, jobs) = match inputs.pop() {
        Some(one) if !is_batch && inputs.is_empty() => (one, Vec::new()),
        last => {
            inputs.extend(last);
            let none = JobInput {
                attempt: 1,
                max_attempts: 1,
                ..JobInput::default()
            };
            (none, inputs)
        }
    };
    let lease = held.first().map(|held| held.job.lease.token.to_string());
    Ok(Invoke {
        queue: Some(process.config.queue.to_string()),
        jobs,
        lease,
        ..process.invoke("job", job, timeout)
    })
}

async fn input(queues: &Queues, held: &StartedJob) -> Result<JobInput, WorkError> {
    let StartedJob {
        job,
        policy,
        options,
        ..
    } = held;
    let journal = match job.has_stream {
        false => Vec::new(),
        true => Box::pin(super::host::journal(queues.base(), &job.lease.id)).await?,
    };
    Ok(JobInput {
        job_id: Some(job.lease.id.to_string()),
        name: job.name.as_ref().map(ToString::to_string),
        input: Some(job.data.clone()),
        attempt: job.attempt,
        // Attempts that were lost do not count.
        max_attempts: policy.retry.max_attempts.saturating_add(job.losses),
        correlation_id: Some(
            options
                .correlation_id
                .clone()
                .unwrap_or_else(|| job.lease.id.to_string()),
        ),
        causation_id: options.causation_id.clone(),
        tenant_id: options.tenant_id.clone(),
        checkpoint: job.checkpoint.clone(),
        journal,
        enqueued_at: Some(iso(job.created_ms)),
    })
}

/// The outcome of an invocation for each of its jobs.
fn each(outcome: Result<Reply, WorkError>, count: usize) -> Vec<Result<Json, WorkError>> {
    match outcome {
        Err(error) => vec![Err(error); count],
        Ok(Reply {
            results: Some(results),
            ..
        }) => {
            let said = results.len();
            let mut each: Vec<_> = results.into_iter().take(count).map(item).collect();
            let missing = || {
                let message = format!("the handler answered for {said} of {count} jobs");
                Err(WorkError::new(ErrorCode::ResultMissing, message))
            };
            each.resize_with(count, missing);
            each
        }
        Ok(Reply { value, .. }) => {
            let value = value.unwrap_or_else(Json::null);
            vec![Ok(value); count]
        }
    }
}

fn item(item: ReplyItem) -> Result<Json, WorkError> {
    match item.error {
        Some(error) => Err(error),
        None => Ok(item.value.unwrap_or_else(Json::null)),
    }
}

/// Whether a result may be recorded.
pub(crate) fn checked(
    process: &Process,
    outcome: Result<Json, WorkError>,
) -> Result<Json, WorkError> {
    let result = outcome?;
    if let Some(schema) = &process.config.output_schema {
        let issues = schema_issues(schema, &result);
        if let Some(first) = issues.first() {
            let message = format!("the result breaks the output schema{}", first.described());
            let error = WorkError::new(ErrorCode::OutputInvalid, message).permanent();
            return Err(error.details(&json!({ "issues": issues })));
        }
    }
    Ok(result)
}

/// The error of an attempt whose lease has expired.
pub(crate) fn silent() -> WorkError {
    let message = "the worker gave no sign of life: it died, hangs or lost its connection";
    WorkError::new(ErrorCode::WorkerLost, message)
}

/// Whether a provider reports that the handler's worker was lost. A handler that throws the error
/// of a loss, such as that of its call, has failed: providers and records mark it as retriable or
/// not.
pub(crate) fn is_loss(error: &WorkError) -> bool {
    error.code == ErrorCode::WorkerLost && error.retriable.is_none()
}

/// Whether the handler was not begun, or is to run elsewhere. A loss is counted, so it does not
/// match; nor does an error that a handler passes on, such as that of its call.
pub(crate) fn is_released(error: &WorkError) -> bool {
    error.code != ErrorCode::WorkerLost
        && error.code.disposition() == Disposition::Release
        && error.retriable.is_none()
}

/// A loss is not a failure: the job is tried again at once, and its retry policy does not count it.
/// A job that was lost too often in a row may be the cause itself: it is parked.
pub(crate) fn lost(job: &ClaimedJob, error: &WorkError) -> Settled {
    let losses = job.losses_in_row.saturating_add(1);
    if losses < retry::MAX_LOSSES {
        let error = Json::of(error);
        return Settled::Lost { error };
    }
    let message = format!(
        "its worker was lost {losses} times in a row while it ran: {}",
        error.message
    );
    let error = Json::of(&WorkError::new(ErrorCode::JobQuarantined, message));
    Settled::Parked { error }
}

/// The one decision about a failure: again at a time, a dead letter, or forgotten.
fn decide(policy: &Policy, error: &WorkError, job: &ClaimedJob, now: Millis) -> Settled {
    let failures = job.attempt.saturating_sub(job.losses);
    let failure = Failure::new(error.code.clone(), error.message.clone());
    let mut failure = failure.thrown(error.name.clone(), None);
    failure.retriable = error.retriable;
    failure.retry_after_ms = error.retry_after_ms;
    let retry = policy.retry_for_ever_if_said();
    let kept = Json::of(error);
    match retry::after_failure(Some(&retry), &failure, failures, rand::random()) {
        Some(delay) => Settled::Retry {
            at_ms: now.saturating_add(delay),
            error: kept,
        },
        None if policy.on_fail == OnFail::Drop => Settled::Dropped,
        None => Settled::Failed { error: kept },
    }
}

/// Logs a failure for the operators of the server.
fn log(queue: &Name, job: &ClaimedJob, decided: &Settled) {
    let (id, attempt) = (&job.lease.id, job.attempt);
    let text = |error: &Json, member: &str| {
        let found = error.get(member).unwrap_or_else(Json::null);
        found.as_text().chars().take(LOGGED).collect::<String>()
    };
    match decided {
        Settled::Failed { error } => {
            let (code, message) = (text(error, "code"), text(error, "message"));
            tracing::warn!(job = %id, %queue, attempt, code, message, "a job has failed for good");
        }
        Settled::Dropped => {
            tracing::warn!(job = %id, %queue, attempt, "a job has failed for good and is dropped");
        }
        Settled::Parked { error } => {
            let (code, message) = (text(error, "code"), text(error, "message"));
            tracing::error!(job = %id, %queue, attempt, code, message, "a job is parked: riverrun jobs retry {id} releases it");
        }
        Settled::Retry { at_ms, error } => {
            let (code, message) = (text(error, "code"), text(error, "message"));
            let at = iso(*at_ms);
            tracing::info!(job = %id, %queue, attempt, code, message, at, "a job is tried again");
        }
        _ => {}
    }
}

/// The facts that the job's row drops once the next attempt begins.
pub(crate) fn waiting_event(
    queue: &Name,
    decided: &Settled,
    attempt: u32,
    now: Millis,
) -> Option<Draft> {
    let waits = |reason| Waits {
        attempt: Some(attempt),
        ..Waits::new(queue, reason)
    };
    match decided {
        Settled::Retry { at_ms, error } => {
            let waits = Waits {
                error: Some(error),
                ..waits(Reason::Retry)
            };
            Some(waits.at(Some(*at_ms)).draft(now))
        }
        Settled::Lost { error } | Settled::Parked { error } => {
            let reason = match decided {
                Settled::Lost { .. } => Reason::Stalled,
                _ => Reason::Parked,
            };
            let waits = Waits {
                error: Some(error),
                ..waits(reason)
            };
            Some(waits.draft(now))
        }
        Settled::Released => Some(waits(Reason::Released).draft(now)),
        _ => None,
    }
}

/// The copy of a failed job for another queue; none if it was copied from that queue, since queues
/// that name each other would copy it for ever.
fn dead_letter(
    dead: &Name,
    queue: &Name,
    job: &ClaimedJob,
    error: &Json,
    now: Millis,
) -> Option<NewJob> {
    let JobLease { id, .. } = &job.lease;
    let kept = KeptOptions::read(job.options.as_ref());
    let before = kept.metadata.as_ref().and_then(|metadata| {
        let metadata = metadata.value();
        metadata.get("deadLetterOf").cloned()
    });
    let mut origins = std::iter::successors(before.as_ref(), |origin| origin.get("before"));
    if origins.any(|origin| origin["queue"] == **dead) {
        return None;
    }
    let metadata = record::DeadLetter {
        dead_letter_of: record::Origin {
            queue,
            job_id: id,
            attempt: job.attempt,
            error,
            before: before.as_ref(),
        },
    };
    let options = KeptOptions {
        metadata: Some(Json::of(&metadata)),
        correlation_id: kept.correlation_id,
        causation_id: Some(id.to_string()),
        tenant_id: kept.tenant_id,
        chain: kept.chain,
        tags: kept.tags,
        ..KeptOptions::default()
    };
    Some(NewJob {
        id: RunId::fresh(),
        is_named: false,
        queue: dead.clone(),
        // The queue of the original, if the copy has no other name.
        name: Some(job.name.clone().unwrap_or_else(|| queue.clone())),
        data: job.data.clone(),
        priority: 0,
        at_ms: None,
        created_ms: now,
        key: job.key.clone(),
        unique: None,
        correlation: options.correlation_id.as_deref().map(Name::from),
        options: Some(Json::of(&options)),
    })
}

/// Events for the stream of a job.
pub(crate) fn to_job(job: &RunId, events: Vec<Draft>) -> Append {
    Append {
        stream: StreamName::new("job", job.as_str()),
        context: EventContext {
            run_id: Name::from(job.as_str()),
            flow_name: Name::from("job"),
            tenant_id: None,
        },
        expect: Expect::Any,
        events: events.into(),
    }
}
