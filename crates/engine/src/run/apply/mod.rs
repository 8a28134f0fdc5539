//! The reducer: what each fact changes. Nothing else changes a run.

mod journal;
mod visit;

use std::sync::Arc;

use riverrun_types::{
    Draft, EventId, EventType, Json, Millis, Name, RunStatus, State, StepRef, VisitStatus,
};

use super::{HeldEvent, InBranch, RunState, ToEmit, Undo, Visit, VisitKey, Wait};
use crate::fact::{Fact, OpKind, Started, StateOp};
use journal::{emitted, written};

pub(crate) use journal::timed_out;

/// What a visit takes over from what led to it.
#[derive(Default)]
pub(super) struct From {
    pub branch: Option<InBranch>,
    pub caught: Option<Arc<State>>,
    pub input: Option<Json>,
    pub undoes: Option<VisitKey>,
    /// What had come of what the visit before it waited for.
    pub so_far: Option<Json>,
    /// The id of the event that entered it.
    pub entered_by: Option<Name>,
}

impl From {
    /// What the next step on a visit's path takes over.
    fn of(visit: Visit) -> Self {
        Self {
            branch: visit.branch,
            caught: visit.caught,
            ..Self::default()
        }
    }
}

impl RunState {
    /// Reduces one more event of the stream.
    pub fn apply(&mut self, draft: &Draft) {
        let fact = Fact::read(draft);
        self.apply_fact(&fact, draft.ms);
        if draft.kind == EventType::FlowStarted {
            self.correlation = draft.correlation_id.clone();
        }
        if let Some(at) = &draft.step
            && self.is_running(at)
            && let Some(memo) = emitted(&fact, draft).or_else(|| written(&fact, draft))
        {
            self.remember(at, memo);
        }
    }

    /// Whether code of a visit is under way, which alone can have done something. Somebody outside
    /// who names a step speaks of no visit; in older streams of the first one, at any time.
    fn is_running(&self, at: &StepRef) -> bool {
        let visit = self.visit(&VisitKey::of(at));
        visit.is_some_and(|visit| visit.status == VisitStatus::Running)
    }

    pub fn apply_fact(&mut self, fact: &Fact, ms: Millis) {
        self.len += 1;
        self.updated_ms = ms;
        if !matches!(fact, Fact::Entered { .. } | Fact::Joined { .. }) {
            self.latest = None;
            self.latest_id = None;
        }
        match fact {
            Fact::Started(started) => self.begin(started, ms),
            Fact::Completed { result, .. } => {
                self.result = Some(result.clone());
                self.end(RunStatus::Completed, ms);
            }
            Fact::Failed { error, .. } => {
                self.error = Some(error.clone());
                self.result = None;
                self.cancellation = None;
                self.end(RunStatus::Failed, ms);
            }
            Fact::Cancelled { cancellation, .. } => {
                self.cancellation = Some(cancellation.clone());
                // A run that was cancelled has not failed, though something of it may have.
                self.error = self.error.take().filter(|_| self.ends_cancelled.is_none());
                self.result = None;
                self.end(RunStatus::Cancelled, ms);
            }
            Fact::Paused { .. } => self.paused = true,
            Fact::Resumed => self.paused = false,
            Fact::Forked { deadline } => self.forked(*deadline),
            Fact::StepStarted { at, at_ms } => {
                self.step_started(at, at_ms.map_or(ms, |at_ms| at_ms.min(ms)))
            }
            Fact::StepCompleted {
                at,
                result,
                output_key,
                next,
                compensation,
                emits,
            } => {
                let Some(visit) = self.leave(at, VisitStatus::Completed, ms) else {
                    return;
                };
                if let (Some(key), Some(value)) = (output_key, result) {
                    self.write(&visit, key, value.clone());
                }
                if let Some(by) = compensation {
                    let (visit, by, result) = (visit.key.clone(), by.clone(), result.clone());
                    self.undo.push(Undo { visit, by, result });
                }
                let is_free = |kind: &&Name| EventType::parse(kind).is_free();
                let to_emit = emits.iter().filter(is_free).map(|kind| ToEmit {
                    visit: visit.key.clone(),
                    attempt: at.attempt,
                    kind: kind.clone(),
                    data: result.clone(),
                });
                self.to_emit.extend(to_emit);
                match next {
                    Some(next) => self.enter(next, From::of(visit), ms),
                    None => self.path_ended(&visit, result.clone(), ms),
                }
            }
            Fact::StepFailed {
                at,
                error,
                retry_at: Some(until_ms),
                ..
            } => {
                self.summarise(&at.name, |step| step.error = Some(error.clone()));
                self.again(at, *until_ms, |visit| {
                    visit.failures = visit.failures.saturating_add(1);
                    visit.losses = 0;
                });
            }
            Fact::StepFailed {
                at, error, next, ..
            } => self.step_failed(at, error, next.as_ref(), ms),
            Fact::StepRetry { at, lost: true, .. } => {
                self.again(at, 0, |visit| {
                    visit.losses = visit.losses.saturating_add(1);
                });
            }
            // Scheduled by the step.failed before it.
            Fact::StepRetry { .. } => {}
            Fact::StepParked { at, parked } => self.park(at, parked, ms),
            Fact::StepReleased { at, .. } => self.release(at, ms),
            Fact::StepResumed { at, value, .. } => self.resume(at, value.as_ref()),
            Fact::Await { at, awaiting } => self.wait(at, Wait::Await(awaiting.clone()), ms),
            Fact::AwaitTimeout {
                at, next, value, ..
            } => self.await_timeout(at, next.as_ref(), value.as_ref(), ms),
            Fact::Entered {
                at,
                input,
                joined,
                undoes,
            } => self.entered(at, input.as_ref(), *joined, undoes.as_ref(), ms),
            Fact::Joined { step, kind, input } => {
                let input = input.clone().or_else(|| self.latest.clone());
                self.held.push(HeldEvent {
                    step: step.clone(),
                    kind: kind.clone(),
                    input: input.unwrap_or_else(Json::null),
                });
            }
            Fact::Memo { at, memo } => self.remember(at, memo.clone()),
            Fact::MemoRetry { at, retry, .. } => self.tried(at, retry.clone()),
            Fact::Emitted { at, kind, payload } => {
                if let Some(at) = at {
                    self.emitted(at, kind);
                }
                self.latest = Some(payload.clone());
                let seq = self.len - 1;
                self.latest_id = Some(Name::from(EventId { ms, seq }.to_string()));
            }
            Fact::Compensating {
                error,
                cancellation,
            } => {
                self.error = Some(error.clone());
                self.ends_cancelled = cancellation.clone();
                self.cancellation = None;
                self.deadline = None;
                self.compensating = true;
                self.uncounted = self.step_count;
                self.held.clear();
            }
            Fact::StepCancelled {
                at,
                cancellation,
                compensation,
            } => {
                let Some(visit) = self.leave(at, VisitStatus::Cancelled, ms) else {
                    return;
                };
                if visit.branch.is_none() {
                    self.cancellation = Some(cancellation.clone());
                }
                if let (Some(by), Some(Wait::Time { output, .. })) = (compensation, visit.wait) {
                    let (visit, by, result) = (visit.key, by.clone(), output);
                    self.undo.push(Undo { visit, by, result });
                }
            }
            Fact::AwaitTime {
                at,
                until_ms,
                reason,
                output,
                next,
            } => {
                let wait = Wait::Time {
                    until_ms: *until_ms,
                    reason: reason.clone(),
                    output: output.clone(),
                    next: next.clone(),
                };
                self.wait(at, wait, ms);
            }
            Fact::AwaitRun { at, run, flow, .. } => {
                let (run, flow) = (run.clone(), flow.clone());
                self.wait(at, Wait::Run { run, flow }, ms);
            }
            Fact::AwaitBranches { at, fork } => self.fork(at, fork, ms),
            Fact::StateSet { key, value } => self.state_mut().set(key, value.clone()),
            Fact::StateDelete { key } => self.state_mut().delete(key),
            Fact::StateBatch(operations) => operations.iter().for_each(|op| self.operate(op)),
            Fact::StateSnapshot(state) => *self.state_mut() = state.clone(),
            Fact::Other => {}
        }
        self.derive_status();
    }

    fn begin(&mut self, started: &Started, ms: Millis) {
        self.version = started.version.clone();
        self.input = started.input.clone();
        *self.state_mut() = State::from_input(&started.input);
        self.not_before = started.not_before;
        self.deadline = started.deadline;
        self.parent = started.parent.clone();
        self.created_ms = ms;
        self.queued = started.queued.clone();
        self.chain = started.chain;
        self.enter(&started.next, From::default(), ms);
    }

    fn end(&mut self, status: RunStatus, ms: Millis) {
        self.status = status;
        self.ended_ms = Some(ms);
        self.visits.clear();
        self.found.clear();
        self.scope_bytes = 0;
        self.held.clear();
        self.undo.clear();
        self.ends_cancelled = None;
        self.to_emit.clear();
        self.consumed.clear();
        self.paused = false;
        self.parked = None;
    }

    fn forked(&mut self, deadline: Option<Millis>) {
        self.deadline = deadline;
        self.parent = None;
        let now = self.updated_ms;
        if let Some(parked) = &mut self.parked {
            parked.since_ms = now;
        }
        for visit in self.visits.iter_mut() {
            // What another run has asked for answers to that run.
            visit.forget_open_callbacks();
            let waits_there = matches!(visit.wait, Some(Wait::Run { .. } | Wait::Await(_)));
            if visit.status != VisitStatus::Running && !waits_there {
                continue;
            }
            let is_queued = self.queued.contains(&visit.key.step);
            let job = is_queued.then_some(Wait::Job { until_ms: None });
            // What waited before its handler began waits anew.
            (visit.status, visit.wait) = match visit.attempt {
                0 => (VisitStatus::Pending, job),
                _ => (
                    VisitStatus::Retrying,
                    job.or(Some(Wait::Backoff { until_ms: 0 })),
                ),
            };
            if let Some(step) = self.steps.get_mut(&visit.key.step) {
                step.status = visit.status;
            }
        }
    }

    fn operate(&mut self, operation: &StateOp) {
        let StateOp { kind, key, value } = operation;
        match kind {
            OpKind::Set => {
                let value = value.clone().unwrap_or_else(Json::null);
                self.state_mut().set(key, value);
            }
            OpKind::Delete => self.state_mut().delete(key),
        }
    }

    /// The state, for the event that is applied to write to.
    pub(super) fn state_mut(&mut self) -> &mut State {
        self.written = self.len;
        &mut self.state
    }

    fn derive_status(&mut self) {
        if self.status.is_ended() {
            return;
        }
        let waits =
            |visit: &Visit| matches!(visit.status, VisitStatus::Waiting | VisitStatus::Retrying);
        self.status = if self.paused {
            RunStatus::Paused
        } else if !self.visits.is_empty() && self.visits.iter().all(waits) {
            RunStatus::Waiting
        } else if self.step_count == 0 {
            RunStatus::Pending
        } else {
            RunStatus::Running
        };
    }
}
