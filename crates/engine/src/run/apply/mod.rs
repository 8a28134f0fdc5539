//! The reducer: the changes of each fact. No other code changes a run.

mod journal;
mod visit;

use std::sync::Arc;

use riverrun_types::{
    Draft, EventId, EventType, Json, Millis, Name, RunStatus, State, StepRef, VisitStatus,
    event::{
        FlowCompensating, FlowStarted, OpKind, StateDelete, StateOp, StateSet, StepAwaitRun,
        StepRetry,
    },
};

use super::{InBranch, RunState, Visit, VisitKey, Wait};
use crate::Fact;
use journal::{emitted, written};

pub(crate) use journal::timed_out;

/// The values that a visit takes from its cause.
#[derive(Default)]
pub(super) struct From {
    pub branch: Option<InBranch>,
    pub caught: Option<Arc<State>>,
    pub input: Option<Json>,
    pub undoes: Option<VisitKey>,
    /// The values so far of the previous visit's await.
    pub so_far: Option<Json>,
    /// The id of the event that entered it.
    pub entered_by: Option<Name>,
}

impl From {
    /// The values that the next step on a visit's path takes over.
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

    /// Whether code of a visit is running, since only that can record an operation. An outside
    /// event that names a step refers to no visit; in older streams to the first one, at any time.
    fn is_running(&self, at: &StepRef) -> bool {
        let visit = self.visit(&VisitKey::of(at));
        visit.is_some_and(|visit| visit.status == VisitStatus::Running)
    }

    pub fn apply_fact(&mut self, fact: &Fact, ms: Millis) {
        self.len += 1;
        self.updated_ms = ms;
        if !matches!(fact, Fact::StepEntered(..) | Fact::StepJoined(_)) {
            self.latest = None;
            self.latest_id = None;
        }
        match fact {
            Fact::FlowStarted(started) => self.begin(started, ms),
            Fact::FlowCompleted(completed) => {
                self.result = Some(completed.result.clone());
                self.end(RunStatus::Completed, ms);
            }
            Fact::FlowFailed(failed) => {
                self.error = Some(failed.error.clone());
                self.result = None;
                self.cancellation = None;
                self.end(RunStatus::Failed, ms);
            }
            Fact::FlowCancelled(cancelled) => {
                self.cancellation = Some(cancelled.cancellation());
                // A cancelled run has not failed, though a part of it may have.
                self.error = self.error.take().filter(|_| self.ends_cancelled.is_none());
                self.result = None;
                self.end(RunStatus::Cancelled, ms);
            }
            Fact::FlowPaused(_) => self.paused = true,
            Fact::FlowResumed(_) => self.paused = false,
            Fact::FlowForked(forked) => self.forked(forked.deadline),
            Fact::FlowCompensating(compensating) => self.compensate(compensating),
            Fact::StepStarted(at, started) => {
                self.step_started(at, started.at_ms.map_or(ms, |at_ms| at_ms.min(ms)))
            }
            Fact::StepCompleted(at, completed) => self.step_completed(at, completed, ms),
            Fact::StepFailed(at, failed) => self.step_failed(at, failed, ms),
            Fact::StepRetry(at, StepRetry { lost: true, .. }) => self.again(at, 0, |visit| {
                visit.losses = visit.losses.saturating_add(1);
            }),
            // Scheduled by the step.failed before it.
            Fact::StepRetry(..) => {}
            Fact::StepCancelled(at, cancelled) => self.step_cancelled(at, cancelled, ms),
            Fact::StepParked(at, parked) => self.park(at, parked, ms),
            Fact::StepReleased(at, _) => self.release(at, ms),
            Fact::StepResumed(at, resumed) => self.resume(at, resumed.value.as_ref()),
            Fact::StepEntered(at, entered) => self.entered(at, entered, ms),
            Fact::StepJoined(joined) => self.joined(joined),
            Fact::StepAwaitTime(at, time) => self.wait(at, time.into(), ms),
            Fact::StepAwaitEvent(at, event) => self.wait(at, Wait::Await(event.into()), ms),
            Fact::StepAwaitTrigger(at, trigger) => self.wait(at, Wait::Await(trigger.into()), ms),
            Fact::StepAwaitTimeout(at, timeout) => self.await_timeout(at, timeout, ms),
            Fact::StepAwaitBranches(at, fork) => self.fork(at, fork, ms),
            Fact::StepAwaitRun(at, StepAwaitRun { run, flow, .. }) => {
                let (run, flow) = (run.clone(), flow.clone());
                self.wait(at, Wait::Run { run, flow }, ms);
            }
            Fact::StepMemo(at, memo) => self.remember(at, memo.into()),
            Fact::StepMemoRetry(at, retry) => self.tried(at, retry.into()),
            Fact::Emitted { at, kind, payload } => {
                if let Some(at) = at {
                    self.emitted(at, kind);
                }
                self.latest = Some(payload.clone());
                let seq = self.len - 1;
                self.latest_id = Some(Name::from(EventId { ms, seq }.to_string()));
            }
            Fact::StateSet(StateSet { key, value }) => self.state_mut().set(key, value.clone()),
            Fact::StateDelete(StateDelete { key }) => self.state_mut().delete(key),
            Fact::StateBatch(batch) => batch.operations.iter().for_each(|op| self.operate(op)),
            Fact::StateSnapshot(state) => *self.state_mut() = state.clone(),
            Fact::Other => {}
        }
        self.derive_status();
    }

    fn begin(&mut self, started: &FlowStarted, ms: Millis) {
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

    fn compensate(&mut self, compensating: &FlowCompensating) {
        let FlowCompensating {
            error,
            cancellation,
        } = compensating;
        self.error = Some(error.clone());
        self.ends_cancelled = cancellation.clone();
        self.cancellation = None;
        self.deadline = None;
        self.compensating = true;
        self.uncounted = self.step_count;
        self.held.clear();
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
            // Requests of another run are answered to that run.
            visit.forget_open_callbacks();
            let waits_there = matches!(visit.wait, Some(Wait::Run { .. } | Wait::Await(_)));
            if visit.status != VisitStatus::Running && !waits_there {
                continue;
            }
            let is_queued = self.queued.contains(&visit.key.step);
            let job = is_queued.then_some(Wait::Job { until_ms: None });
            // Waits before a handler began begin anew.
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

    /// The state, for the applied event to write to.
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
