//! The judgement: from a state and facts to reasons. Pure.

use riverrun_engine::{
    AwaitFor, Awaiting, Branches, Failure, InBranch, MemoRetry, Operation, Parked, RunState, Visit,
    Wait,
};
use riverrun_store::{Error as StoreError, JobRecord, JobState, QueueRecord, RunRecord};
use riverrun_types::{Gather, Json, Millis, Name, Rate, RunId, VisitStatus, time::Iso};
use serde_json::json;

use super::{
    ActiveBranch, AtJob, AtOperation, AtWorker, Cause, FilterTrouble, InVisit, JobStateName,
    Reason, Why,
    facts::{Facts, JobFacts, Taker},
    shown,
    words::sentence,
};
use crate::awaits::callback_url;

/// The most branches that are named.
const MAX_BRANCHES: usize = 100;

const READY: Cause = Cause::Ready {
    busy: false,
    held: false,
};

/// A cause with its times.
#[derive(Debug, PartialEq)]
pub(super) struct TimedCause {
    pub cause: Cause,
    pub since: Option<Millis>,
    pub until: Option<Millis>,
}

impl TimedCause {
    fn new(cause: Cause, since: impl Into<Option<Millis>>) -> Self {
        Self {
            cause,
            since: since.into(),
            until: None,
        }
    }

    fn until(mut self, until: impl Into<Option<Millis>>) -> Self {
        self.until = until.into();
        self
    }

    fn reason(self, visit: Option<InVisit>) -> Reason {
        let (since, until) = (self.since.map(Iso), self.until.map(Iso));
        Reason {
            summary: sentence(&self.cause, visit.as_ref(), since, until),
            cause: self.cause,
            visit,
            since,
            until,
        }
    }
}

/// The reasons of a run.
pub(super) fn run(run: &RunId, flow: &Name, state: &RunState, facts: &Facts, now: Millis) -> Why {
    let mut reasons: Vec<Reason> = whole(state, facts, now)
        .into_iter()
        .map(|found| found.reason(None))
        .collect();
    if !state.status.is_ended() {
        let visit = |visit: &Visit| {
            let found = match visit.parked() {
                Some(parked) => of_parked(run, visit, parked),
                None => of_visit(state, facts, visit, now)?,
            };
            Some(found.reason(about(visit)))
        };
        reasons.extend(state.visits.iter().filter_map(visit));
    }
    if reasons.is_empty() {
        let ready = Cause::Ready {
            busy: facts.busy,
            held: false,
        };
        reasons.push(TimedCause::new(ready, state.updated_ms).reason(None));
    }
    Why {
        flow: Some(flow.clone()),
        failing: state
            .error
            .as_ref()
            .filter(|_| !state.compensating && !state.status.is_ended())
            .map(|error| error.code.clone()),
        compensating: state.compensating && !state.status.is_ended(),
        deadline_at: state.deadline.map(Iso).filter(|_| !state.status.is_ended()),
        ..answer(run, "flow", state.status.as_str(), reasons, facts.unseen)
    }
}

/// The reasons of a run whose stream cannot be read.
pub(super) fn damaged(record: &RunRecord, error: &StoreError) -> Why {
    let cause = match record.status.is_ended() {
        true => Cause::Ended,
        false => Cause::Damaged {
            error: shown(&Failure::new(error.code(), error.to_string())),
        },
    };
    let since = record.ended_ms.unwrap_or(record.updated_ms);
    let reasons = vec![TimedCause::new(cause, since).reason(None)];
    Why {
        flow: Some(record.flow.clone()),
        ..answer(&record.id, "flow", record.status.as_str(), reasons, 0)
    }
}

/// The reasons of a job of a queue.
pub(super) fn job(id: &RunId, status: JobState, facts: &JobFacts, now: Millis) -> Why {
    let found = of_job(facts, now);
    let found = found.unwrap_or_else(|| TimedCause::new(READY, None));
    answer(id, "job", status.as_str(), vec![found.reason(None)], 0)
}

/// The reason of a call: it has no queue, so it runs or has ended.
pub(super) fn call(id: &RunId, status: &'static str, at: Option<Millis>) -> Why {
    let cause = match status {
        "running" => Cause::Running { job: None },
        _ => Cause::Ended,
    };
    let reasons = vec![TimedCause::new(cause, at).reason(None)];
    answer(id, "call", status, reasons, 0)
}

fn answer(
    id: &RunId,
    kind: &'static str,
    status: &'static str,
    mut reasons: Vec<Reason>,
    more: usize,
) -> Why {
    reasons.sort_by_key(|reason| reason.cause.rank());
    let first = reasons.first().map(|reason| reason.summary.clone());
    let mut summary = first.unwrap_or_default();
    let others = reasons.len().saturating_sub(1) + more;
    if others > 0 {
        summary.push_str(&format!(" (and {others} more)"));
    }
    let ends = |reason: &Reason| reason.cause == Cause::Ended;
    Why {
        run_id: id.clone(),
        kind,
        flow: None,
        status,
        moving: !reasons.iter().any(ends) && reasons.iter().any(|reason| reason.cause.moves()),
        summary,
        reasons,
        more,
        failing: None,
        compensating: false,
        deadline_at: None,
    }
}

/// Facts that hold for all visits of a run.
fn whole(state: &RunState, facts: &Facts, now: Millis) -> Vec<TimedCause> {
    if state.status.is_ended() {
        return vec![TimedCause::new(Cause::Ended, state.ended_ms)];
    }
    let mut found = Vec::new();
    if state.paused {
        let (since, reason) = facts.paused.clone().unzip();
        let reason = reason.flatten();
        found.push(TimedCause::new(Cause::Paused { reason }, since));
    }
    if let Some(until) = state.not_before.filter(|until| *until > now) {
        found.push(TimedCause::new(Cause::NotBefore, state.created_ms).until(until));
    }
    found
}

fn about(visit: &Visit) -> Option<InVisit> {
    Some(InVisit {
        step: visit.key.step.clone(),
        visit: visit.key.visit,
        attempt: visit.attempt,
        status: visit.status,
        undoes: visit.undoes.as_ref().map(|undone| match undone.visit {
            1 => undone.step.to_string(),
            number => format!("{}#{number}", undone.step),
        }),
    })
}

fn of_parked(run: &RunId, visit: &Visit, parked: &Parked) -> TimedCause {
    let Parked {
        code,
        message,
        details,
    } = parked.clone();
    let cause = Cause::Parked {
        code,
        message,
        details,
        release: format!("riverrun runs resume {run}"),
    };
    TimedCause::new(cause, visit.since_ms)
}

/// Why a visit that is not parked does not move; nothing for the first one of a delayed run.
pub(super) fn of_visit(
    state: &RunState,
    facts: &Facts,
    visit: &Visit,
    now: Millis,
) -> Option<TimedCause> {
    let since = visit.since_ms;
    let is_later = state.not_before.is_some_and(|until| until > now);
    let ready = || {
        let cause = Cause::Ready {
            busy: facts.busy && !state.paused,
            held: state.paused,
        };
        (!is_later).then(|| TimedCause::new(cause, since))
    };
    Some(match &visit.wait {
        Some(Wait::Time {
            until_ms, reason, ..
        }) => {
            let (await_id, reason) = (None, reason.clone());
            TimedCause::new(Cause::AwaitTime { await_id, reason }, since).until(*until_ms)
        }
        Some(Wait::Await(Awaiting {
            what: AwaitFor::Retry(operation),
            until_ms,
            ..
        })) => {
            let retry = visit.retry_of(operation)?;
            TimedCause::new(backoff_of(retry, None), since).until(*until_ms)
        }
        Some(Wait::Await(awaiting)) => {
            TimedCause::new(awaited(awaiting, facts), since).until(awaiting.until_ms)
        }
        Some(Wait::Backoff { until_ms }) if *until_ms > now => {
            let cause = Cause::Backoff {
                error: last_error(state, visit),
                job: None,
                operation: None,
            };
            TimedCause::new(cause, since).until(*until_ms)
        }
        Some(Wait::Backoff { .. }) => return ready(),
        Some(Wait::Branches(inside)) => TimedCause::new(branches(state, visit, inside), since),
        Some(Wait::Run { run, flow }) => {
            let cause = Cause::Child {
                child_id: run.clone(),
                child_flow: Some(flow.clone()),
                child: facts.children.get(run).cloned().map(Box::new),
            };
            TimedCause::new(cause, since)
        }
        Some(Wait::Job { .. }) => {
            let job = facts.jobs.get(&visit.key)?;
            let Some(found) = of_job(job, now) else {
                return ready();
            };
            match found.cause {
                Cause::Delayed { job } if visit.status == VisitStatus::Retrying => {
                    let cause = Cause::Backoff {
                        error: last_error(state, visit),
                        job: Some(job),
                        operation: None,
                    };
                    TimedCause { cause, ..found }
                }
                // Its code waits for the next try of an operation.
                Cause::Running { job: Some(ref job) } => match next_retry(visit, now) {
                    Some(retry) => {
                        let cause = backoff_of(retry, Some(job.clone()));
                        TimedCause { cause, ..found }.until(retry.until_ms)
                    }
                    None => found,
                },
                _ => found,
            }
        }
        Some(Wait::Parked(_)) => return None,
        None if visit.status == VisitStatus::Running => {
            TimedCause::new(Cause::Running { job: None }, since)
        }
        None => return ready(),
    })
}

fn last_error(state: &RunState, visit: &Visit) -> Option<Json> {
    let step = state.steps.get(&visit.key.step)?;
    step.error.as_ref().map(shown)
}

/// The operation of a visit's code that is tried again first, if none is under way.
fn next_retry(visit: &Visit, now: Millis) -> Option<&MemoRetry> {
    let retries = visit.retries.iter();
    let first = retries.min_by_key(|retry| retry.until_ms)?;
    (first.until_ms > now).then_some(first)
}

fn backoff_of(retry: &MemoRetry, job: Option<AtJob>) -> Cause {
    let said = |key: &str| retry.error.get(key).map(|text| text.value());
    let Operation { op, name, nth } = retry.operation.clone();
    Cause::Backoff {
        error: Some(Json::of(
            &json!({"code": said("code"), "message": said("message")}),
        )),
        job,
        operation: Some(AtOperation {
            op,
            name,
            nth,
            attempt: retry.failures,
        }),
    }
}

fn awaited(awaiting: &Awaiting, facts: &Facts) -> Cause {
    let await_id = awaiting.id.clone();
    let fired_at = facts.fired.get(&await_id).copied().map(Iso);
    match &awaiting.what {
        AwaitFor::Time | AwaitFor::Retry(_) => Cause::AwaitTime {
            await_id: Some(await_id),
            reason: None,
        },
        AwaitFor::Event {
            event_kind,
            condition,
        } => Cause::AwaitEvent {
            event_kind: event_kind.clone(),
            condition: condition.clone(),
            fired_at,
            trouble: facts.troubles.get(&await_id).map(|trouble| FilterTrouble {
                at: Iso(trouble.ms),
                code: trouble.code.clone(),
                message: trouble.message.clone(),
            }),
            judging: facts.judging.get(&await_id).copied().unwrap_or_default(),
            await_id,
        },
        AwaitFor::Trigger { trigger_type } => Cause::AwaitTrigger {
            url: callback_url(facts.public_url.as_deref(), &await_id, *trigger_type),
            trigger_type: *trigger_type,
            fired_at,
            opened: facts.opened.get(&await_id).map(|(opened, _)| *opened),
            wanted: facts.opened.get(&await_id).and_then(|(_, wanted)| *wanted),
            await_id,
        },
    }
}

fn branches(state: &RunState, visit: &Visit, inside: &Branches) -> Cause {
    let is_inside = |other: &&Visit| {
        let branch = other.branch.as_ref();
        branch.is_some_and(|InBranch { of, .. }| *of == visit.key)
    };
    let active = state.visits.iter().filter(is_inside).take(MAX_BRANCHES);
    let active = active.map(|visit| ActiveBranch {
        index: visit.branch.as_ref().map_or(0, |branch| branch.index),
        step: visit.key.step.clone(),
        visit: visit.key.visit,
        status: visit.status,
    });
    Cause::Branches {
        total: inside.branches.len(),
        ended: inside.ended,
        failed: inside.failed,
        active: active.collect(),
    }
}

/// Why a job does not move; nothing if it does not exist.
pub(super) fn of_job(facts: &JobFacts, now: Millis) -> Option<TimedCause> {
    let record = facts.job.as_ref()?;
    let job = at_job(record, facts);
    // The next claim finds it waiting: something else blocks it.
    let is_due = record.at_ms.is_some_and(|at_ms| at_ms <= now);
    Some(match record.state {
        JobState::Completed | JobState::Failed | JobState::Cancelled => {
            TimedCause::new(Cause::Ended, record.ended_ms)
        }
        JobState::Parked => {
            let error = record.error.as_ref();
            let text = |member: &str| {
                let found = error.and_then(|error| error.get(member));
                found.map_or_else(String::new, |found| found.as_text().into_owned())
            };
            let cause = Cause::Parked {
                code: text("code").into(),
                message: text("message"),
                details: None,
                release: format!("riverrun jobs retry {}", record.id),
            };
            TimedCause::new(cause, record.at_ms)
        }
        JobState::Active if record.until_ms.is_some_and(|until| until <= now) => {
            TimedCause::new(Cause::LeaseExpired { job }, record.until_ms)
        }
        JobState::Active => match facts.holder.as_ref().and_then(|holder| holder.away) {
            Some(away) => {
                TimedCause::new(Cause::WorkerAway { job }, away.since_ms).until(away.until_ms)
            }
            None => TimedCause::new(Cause::Running { job: Some(job) }, record.started_ms),
        },
        JobState::Delayed if !is_due => {
            let tried = record.error.clone().filter(|_| record.attempt > 0);
            let cause = match tried {
                None => Cause::Delayed { job },
                error => Cause::Backoff {
                    error,
                    job: Some(job),
                    operation: None,
                },
            };
            TimedCause::new(cause, record.created_ms).until(record.at_ms)
        }
        JobState::Waiting | JobState::Delayed => {
            let (cause, until) = waiting(facts, job, now);
            // The time at which a queue was paused is not stored.
            let is_paused = matches!(cause, Cause::QueuePaused { .. });
            let since = Some(record.created_ms).filter(|_| !is_paused);
            TimedCause::new(cause, since).until(until)
        }
    })
}

/// The obstacle of a waiting job: decisions of people, then missing workers, then limits, then the
/// jobs before it.
fn waiting(facts: &JobFacts, job: AtJob, now: Millis) -> (Cause, Option<Millis>) {
    let queue = &facts.queue;
    if queue.paused {
        return (Cause::QueuePaused { job }, None);
    }
    let Some(taker) = &facts.taker else {
        let process = facts.process.clone();
        let cause = match &facts.broken {
            None => Cause::NoWorker { job, process },
            Some(error) => Cause::ProcessBroken {
                job,
                process,
                error: Json::of(&json!({"code": error.code, "message": error.message})),
            },
        };
        return (cause, None);
    };
    if let Some(limit) = full(queue, taker) {
        let cause = Cause::Concurrency {
            job,
            key: None,
            limit,
            active: queue.active,
        };
        return (cause, None);
    }
    if let Some((key, limit, active)) = full_key(facts, taker) {
        let cause = Cause::Concurrency {
            job,
            key: Some(key),
            limit,
            active,
        };
        return (cause, None);
    }
    if let Some((rate, until)) = used_up(facts, taker, now) {
        let Rate { max, window_ms } = rate;
        let cause = Cause::RateLimit {
            job,
            max,
            window_ms,
        };
        return (cause, Some(until));
    }
    if taker.room == Some(false) {
        return (Cause::NoRoom { job }, None);
    }
    if let Some((gather, until)) = gathering(queue, taker, now) {
        let (count, waiting) = (gather.count, queue.waiting);
        let cause = Cause::Gathering {
            job,
            count,
            waiting,
        };
        return (cause, Some(until));
    }
    (Cause::Queued { job }, None)
}

/// The limit of active jobs that was reached: of the queue on all servers, or of this one, if
/// connected workers do not count their own.
fn full(queue: &QueueRecord, taker: &Taker) -> Option<u32> {
    let here = Some(taker.concurrency).filter(|_| taker.room.is_none());
    let limit = taker.limits.concurrency.into_iter().chain(here).min()?;
    (queue.active >= u64::from(limit)).then_some(limit)
}

/// The limit of each key that the jobs of its key have reached.
fn full_key(facts: &JobFacts, taker: &Taker) -> Option<(Name, u32, u64)> {
    let key = facts.job.as_ref()?.key.clone()?;
    let (limit, active) = (taker.limits.per_key?, facts.active_of_key?);
    (active >= u64::from(limit)).then_some((key, limit, active))
}

/// The rate that is used up, and when the job can begin at the earliest: those before it fill
/// windows of their own.
fn used_up(facts: &JobFacts, taker: &Taker, now: Millis) -> Option<(Rate, Millis)> {
    let rate = taker.limits.rate?;
    let window = facts.queue.rate?;
    let until = window.from_ms.saturating_add(rate.window_ms);
    let is_used_up = window.begun >= u64::from(rate.max);
    let before = facts.ahead.unwrap_or(0) / u64::from(rate.max.max(1));
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let begins = until.saturating_add(rate.window_ms.saturating_mul(before));
    (is_used_up && window.from_ms <= now && now < until).then_some((rate, begins))
}

fn gathering(queue: &QueueRecord, taker: &Taker, now: Millis) -> Option<(Gather, Millis)> {
    let gather = taker.limits.gather?;
    let until = queue.oldest_ms?.saturating_add(gather.wait_ms);
    (queue.waiting < u64::from(gather.count) && now < until).then_some((gather, until))
}

fn at_job(record: &JobRecord, facts: &JobFacts) -> AtJob {
    let is = |state: JobState| record.state == state;
    AtJob {
        id: record.id.clone(),
        queue: record.queue.clone(),
        state: JobStateName(record.state),
        ahead: facts.ahead.filter(|_| is(JobState::Waiting)),
        queue_paused: facts.queue.paused && is(JobState::Delayed),
        owner: record.owner.clone().filter(|_| is(JobState::Active)),
        lease_until: record.until_ms.map(Iso).filter(|_| is(JobState::Active)),
        worker: facts.holder.as_ref().map(|holder| AtWorker {
            id: holder.id,
            name: holder.name.clone(),
        }),
        cancelling: record.cancelling,
    }
}
