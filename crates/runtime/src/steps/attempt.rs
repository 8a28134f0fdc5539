//! One attempt of a visit that a process runs.

use std::{sync::Arc, time::Duration};

use riverrun_contract::{Cancellation, Invocation, Process};
use riverrun_engine::{AwaitFor, Awaiting, Failure, Input, Outcome, Parked, VisitKey, retry};
use riverrun_protocol::{CancelReason, Reply, Suspended, WorkError};
use riverrun_store::{
    AwaitState, Awaited, Change, ClaimedJob, Commit, Error as StoreError, NewAwait, Settle, Settled,
};
use riverrun_types::{Draft, ErrorCode, EventType, Json, Name, Retry, RunId};

use super::{Steps, fitting::mismatch, host::StepHost, log::log, prepare::Prepared};
use crate::{
    awaits::{self, Callback, Past},
    base::Error,
    flows::Compiled,
    queues::{
        KeptOptions, StepPlace, Stop, checked, failure_of as failure, is_loss, is_released, silent,
        to_job, waiting_event,
    },
    runs::{Fence, Message},
};

/// An attempt under way.
struct Attempt<'a> {
    job: &'a ClaimedJob,
    place: &'a StepPlace,
    prepared: Box<Prepared>,
    host: Arc<StepHost>,
    cancel: Cancellation,
}

impl Steps {
    /// Runs the job of a visit, and sends its outcome to the run.
    pub(crate) async fn attempt(&self, job: &ClaimedJob, place: StepPlace) {
        if job.losses_in_row >= retry::MAX_LOSSES {
            return Box::pin(self.quarantine_step(job, &place)).await;
        }
        let Some(prepared) = self.wanted(job, &place).await else {
            return;
        };
        let process = &prepared.process;
        self.queues()
            .job_stats()
            .started(&process.config.queue, self.base().now_ms() - job.ready_ms);
        let cancel = Cancellation::default();
        self.queues().keeper().begin(&job.lease, Stop::of(&cancel));
        let host = StepHost::new(self, &prepared, job, &place, cancel.clone());
        let attempt = Attempt {
            job,
            place: &place,
            prepared,
            host,
            cancel,
        };
        let outcome = self.run_step(&attempt).await;
        self.end_step(&attempt, outcome).await;
        self.queues().keeper().end(&job.lease);
    }

    /// Parks a visit whose job was lost too often in a row. The run may not know of the last
    /// attempts, if they ended before their start was recorded.
    async fn quarantine_step(&self, job: &ClaimedJob, place: &StepPlace) {
        let began = Input::Began {
            visit: place.visit(),
            attempt: place.before.saturating_add(job.attempt),
            at_ms: self.base().now_ms(),
        };
        let mut message = Message::new(vec![began]);
        message.last = Some(Input::Park {
            visit: place.visit(),
            attempt: None,
            parked: Parked::after_losses(job.losses_in_row),
        });
        message.fence = Some(Fence {
            lease: job.lease.clone(),
            settles: true,
        });
        let run = &place.run;
        match self.runs().deliver_here(run, message).await {
            Ok(_) => {
                tracing::error!(%run, step = %place.step, "a step is parked: its worker was lost too often");
            }
            Err(error) => tracing::debug!(%run, %error, "a step was not parked"),
        }
    }

    async fn run_step(&self, attempt: &Attempt<'_>) -> Result<Reply, WorkError> {
        let Prepared {
            process,
            flow,
            invoke,
            ..
        } = &*attempt.prepared;
        let invocation = Invocation {
            invoke: invoke.clone()?,
            host: attempt.host.clone(),
            cancel: attempt.cancel.clone(),
        };
        let timeout = self.step_timeout(flow, &attempt.place.step, process);
        let running = self.queues().bounded(process, invocation, timeout);
        tokio::pin!(running);
        loop {
            tokio::select! {
                biased;
                outcome = &mut running => return outcome,
                () = attempt.host.due() => {}
            }
            // Concurrently with the handler: a function in this process may be storing something,
            // and would never end if its requests were not polled meanwhile.
            let mut storing = Box::pin(attempt.host.flush());
            tokio::select! {
                biased;
                outcome = &mut running => {
                    storing.await;
                    return outcome;
                }
                () = &mut storing => {}
            }
        }
    }

    /// Sends the end of an attempt to the run.
    async fn end_step(&self, attempt: &Attempt<'_>, outcome: Result<Reply, WorkError>) {
        let Attempt { job, place, .. } = *attempt;
        let mut said = attempt.host.close().await;
        if attempt.cancel.reason() == Some(CancelReason::LeaseLost) {
            tracing::warn!(job = %job.lease.id, "the lease was lost; the attempt records nothing");
            return;
        }
        let Prepared {
            process,
            flow,
            invoke,
            ..
        } = &*attempt.prepared;
        let mut suspended = None;
        let outcome = match outcome {
            // The next attempt reports to the run that this one was lost.
            Err(error) if is_loss(&error) => {
                let error = Json::of(&error);
                let lost = Settled::Lost { error };
                return Box::pin(self.settle_alone(job, lost, false)).await;
            }
            Err(error) if is_released(&error) => {
                return Box::pin(self.settle_alone(job, Settled::Released, false)).await;
            }
            Ok(Reply {
                suspended: Some(wait),
                seen,
                ..
            }) => {
                let input = invoke.as_ref().ok();
                let input = input.and_then(|invoke| invoke.job.input.clone());
                let input = input.unwrap_or_else(Json::null);
                let room = &attempt.host.room;
                let room = room.seen(&seen).and_then(|()| room.answer(&wait));
                let waits = Box::pin(self.suspended(attempt, &wait, &input)).await;
                match room.map_err(failure).and(waits) {
                    Ok((awaiting, new)) => {
                        suspended = new;
                        said.extend(attempt.host.recorded(seen));
                        Outcome::Await(awaiting)
                    }
                    Err(failure) => Outcome::Failure(failure),
                }
            }
            Ok(reply) => {
                let value = reply.value.unwrap_or_else(Json::null);
                match checked(process, Ok(value)) {
                    Ok(output) => {
                        let ended = Outcome::success(output);
                        self.runs()
                            .with_declared_time(flow, &place.step, ended)
                            .await
                    }
                    Err(error) => Outcome::Failure(failure(error)),
                }
            }
            Err(error) => match mismatch(&error) {
                Some(parked) => Outcome::Park(parked),
                None => Outcome::Failure(failure(error)),
            },
        };
        let message = self.end_message(attempt, outcome, said, suspended);
        match self.runs().deliver_here(&place.run, message).await {
            Ok(_) => {}
            Err(Error::Store(StoreError::JobLost(_))) => {
                tracing::warn!(job = %job.lease.id, "the lease was lost; the outcome is not recorded");
            }
            Err(error) => {
                tracing::debug!(job = %job.lease.id, %error, "the run does not need the outcome");
            }
        }
    }

    /// The message to the run at the end of an attempt.
    fn end_message(
        &self,
        attempt: &Attempt<'_>,
        outcome: Outcome,
        mut said: Vec<Draft>,
        suspended: Option<NewAwait>,
    ) -> Message {
        let Attempt { job, place, .. } = *attempt;
        let Prepared {
            process,
            flow,
            attempt: number,
            failures,
            ..
        } = &*attempt.prepared;
        if matches!(outcome, Outcome::Success { .. }) {
            // The code is not called again.
            said.retain(|draft| draft.kind != EventType::StepMemo);
        }
        let retry = retry_of(flow, &place.step, process);
        let settled = counted(&outcome, retry, failures.saturating_add(1));
        let took = self.base().now_ms() - job.created_ms;
        self.queues()
            .job_stats()
            .settled(&process.config.queue, &settled, took);
        log(place, *number, &outcome, &settled);
        let visit = place.visit();
        let mut message = Message::new(vec![Input::Began {
            visit: visit.clone(),
            attempt: *number,
            at_ms: attempt.host.began_ms,
        }]);
        // A callback may have been resumed before the step waited for it.
        message.look = matches!(&outcome, Outcome::Await(awaiting) if matches!(awaiting.what, AwaitFor::Trigger { .. }));
        message.said = Some((visit.clone(), *number, said));
        message.last = Some(Input::Finished {
            visit,
            attempt: *number,
            outcome,
            jitter: rand::random(),
            retry: Some(process.config.policy.retry.clone()),
        });
        message.fence = Some(Fence {
            lease: job.lease.clone(),
            settles: true,
        });
        message.awaits = suspended;
        message
    }

    /// How long one attempt of a step may take: the step's own timeout, else its process's.
    pub(super) fn step_timeout(&self, flow: &Compiled, step: &str, process: &Process) -> Duration {
        let own = flow.plan.step(step).and_then(|step| step.timeout_ms);
        let own = own.map(Duration::from_millis);
        own.or(process.config.policy.timeout)
            .unwrap_or(self.base().options().attempt_timeout)
    }

    /// The wait of suspended code.
    async fn suspended(
        &self,
        attempt: &Attempt<'_>,
        wait: &Suspended,
        input: &Json,
    ) -> std::result::Result<(Awaiting, Option<NewAwait>), Failure> {
        let Attempt { job, place, .. } = *attempt;
        let refuse = |message: String| Failure::new(ErrorCode::InputError, message).permanent();
        if wait.kind == "retry" {
            let nothing = || refuse("the step waits for a retry, and nothing of it failed".into());
            let (operation, until_ms) = attempt.host.tries.first().ok_or_else(nothing)?;
            return Ok((awaits::retry(operation, until_ms), None));
        }
        let kind = wait.event_kind.as_deref().map(EventType::parse);
        if let Some(kind) = kind.filter(|kind| !kind.is_emitted()) {
            let message = format!(
                "{kind} is written by riverrun itself, and no run can wait for it: emit an event of your own, or have a trigger on it start a flow that does"
            );
            return Err(Failure::new(ErrorCode::BadKind, message).permanent());
        }
        let options = KeptOptions::read(job.options.as_ref());
        let tenant = options.tenant_id.as_deref().map(Name::from);
        let (run, key, now) = (&place.run, place.visit(), self.base().now_ms());
        let past = match wait.event_kind.is_some() {
            true => self.past(wait, run, &key).await.map_err(refuse)?,
            false => Past {
                kept_ms: None,
                began_ms: now,
                given: Vec::new(),
            },
        };
        let (mut awaiting, new) =
            awaits::suspended(wait, input, run, &key, tenant.as_ref(), now, past)
                .map_err(refuse)?;
        if matches!(awaiting.what, AwaitFor::Trigger { .. }) {
            let known = self.base().store().await_by(&awaiting.id).await;
            let known = known.map_err(|error| refuse(error.to_string()))?;
            let callback = known.filter(|record| record.run == *run && record.step == key.step);
            let stranger = || refuse("the step waits for a trigger that is not its own".to_owned());
            let callback = callback.ok_or_else(stranger)?;
            let is_over = callback.expires_ms.is_some_and(|until| until <= now);
            if callback.state == AwaitState::Closed && !is_over {
                let message = "the step waits again for a trigger that was used: one for many is made with `many`";
                return Err(refuse(message.to_owned()));
            }
            awaiting.until_ms = callback.expires_ms;
            if let Awaited::Callback { callback, .. } = &callback.what {
                let callback: Callback = callback.read().unwrap_or_default();
                awaiting.what = AwaitFor::Trigger {
                    trigger_type: callback.kind,
                };
            }
        }
        Ok((awaiting, new))
    }

    /// The events before an await that looks back.
    async fn past(
        &self,
        wait: &Suspended,
        run: &RunId,
        key: &VisitKey,
    ) -> std::result::Result<Past, String> {
        let loaded = self
            .runs()
            .load(run)
            .await
            .map_err(|error| error.to_string())?;
        let kind = wait.event_kind.as_deref().unwrap_or_default();
        Ok(Past {
            kept_ms: self.base().options().retention.emits_ms,
            began_ms: loaded.record.created_ms,
            given: loaded.state.consumed(key, kind, &loaded.context()),
        })
    }

    /// A step's job whose lease has expired: it begins again, and the next attempt reports to the
    /// run that this one was lost.
    pub(crate) async fn give_up(&self, job: &ClaimedJob, queue: &Name, place: &StepPlace) {
        tracing::warn!(job = %job.lease.id, run = %place.run, "the worker of a step was lost");
        let error = Json::of(&silent());
        let outcome = Settled::Lost { error };
        self.settle_alone(job, outcome, true).await;
        self.base().hub().work_in(queue);
    }

    pub(super) async fn settle_alone(&self, job: &ClaimedJob, outcome: Settled, if_expired: bool) {
        let (now, lease) = (self.base().now_ms(), &job.lease);
        let waits = waiting_event(&lease.queue, &outcome, job.attempt, now);
        let settle = Settle {
            if_expired,
            ..Settle::new(lease, outcome, now)
        };
        // Facts that the row drops when the job waits again are stored before.
        let mut commit = Commit::default();
        if let Some(waits) = waits {
            commit = commit.and(Change::Append(to_job(&lease.id, vec![waits])));
        }
        commit = commit.and(settle.into());
        match self.base().commit(commit).await {
            Ok(_) | Err(StoreError::JobLost(_)) => {}
            Err(error) => tracing::warn!(job = %job.lease.id, %error, "a job was not settled"),
        }
    }
}

/// The retry policy of a step: its own, else its process's.
pub(super) fn retry_of<'a>(flow: &'a Compiled, step: &str, process: &'a Process) -> &'a Retry {
    let own = flow.plan.step(step).and_then(|step| step.retry.as_ref());
    own.unwrap_or(&process.config.policy.retry)
}

/// The outcome of an attempt for its queue. Suspended code has not ended.
fn counted(outcome: &Outcome, retry: &Retry, failures: u32) -> Settled {
    match outcome {
        Outcome::Await(_) | Outcome::Park(_) => Settled::Released,
        Outcome::Failure(failure) => {
            let error = Json::null();
            match retry::after_failure(Some(retry), failure, failures, 0.0) {
                Some(at_ms) => Settled::Retry { at_ms, error },
                None if failure.code == ErrorCode::Cancelled => Settled::Cancelled { error },
                None => Settled::Failed { error },
            }
        }
        _ => Settled::Completed {
            result: Json::null(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<F>(_: impl FnOnce() -> F) -> usize {
        size_of::<F>()
    }

    /// Every job of a step is one of these, as every other job is an attempt of its queue: fields
    /// that it seldom needs are boxed.
    #[test]
    #[expect(unreachable_code, reason = "only the types are looked at")]
    fn attempts_are_small() {
        let steps: fn() -> &'static Steps = || unreachable!();
        let job: fn() -> &'static ClaimedJob = || unreachable!();
        let step = size(|| steps().attempt(job(), unreachable!()));
        assert!(step < 4_000, "{step} bytes");
    }
}
