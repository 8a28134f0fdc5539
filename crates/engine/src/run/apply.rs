//! The reducer: what each fact changes. Nothing else changes a run.

use std::sync::Arc;

use riverrun_types::{Draft, Json, Millis, Name, RunStatus, State, StepRef, VisitStatus};

use super::{InBranch, RunState, StepSummary, Visit, VisitKey, Wait};
use crate::{
    Failure,
    fact::{Fact, OpKind, Started, StateOp},
};

impl RunState {
    /// Reduces one more event of the stream.
    pub fn apply(&mut self, draft: &Draft) {
        self.apply_fact(&Fact::read(draft), draft.ms);
    }

    pub fn apply_fact(&mut self, fact: &Fact, ms: Millis) {
        self.len += 1;
        self.updated_ms = ms;
        match fact {
            Fact::Started(started) => self.begin(started, ms),
            Fact::Completed { result, .. } => {
                self.result = Some(result.clone());
                self.end(RunStatus::Completed, ms);
            }
            Fact::Failed { error, .. } => {
                self.error = Some(error.clone());
                self.cancellation = None;
                self.end(RunStatus::Failed, ms);
            }
            Fact::Cancelled { cancellation, .. } => {
                self.cancellation = Some(cancellation.clone());
                self.end(RunStatus::Cancelled, ms);
            }
            Fact::Paused { .. } => self.paused = true,
            Fact::Resumed => self.paused = false,
            Fact::Forked { deadline } => self.forked(*deadline),
            Fact::StepStarted(at) => self.step_started(at, ms),
            Fact::StepCompleted {
                at,
                result,
                output_key,
                next,
            } => {
                let Some(visit) = self.leave(at, VisitStatus::Completed, ms) else {
                    return;
                };
                if let (Some(key), Some(value)) = (output_key, result) {
                    self.write(&visit, key, value.clone());
                }
                match next {
                    Some(next) => self.enter(next, visit.branch, visit.caught, ms),
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
            Fact::StepResumed { at, .. } => {
                self.change(at, VisitStatus::Running, |visit| visit.wait = None);
            }
            Fact::StepCancelled { at, cancellation } => {
                let visit = self.leave(at, VisitStatus::Cancelled, ms);
                if visit.is_some_and(|visit| visit.branch.is_none()) {
                    self.cancellation = Some(cancellation.clone());
                }
            }
            Fact::AwaitTime {
                at,
                until_ms,
                reason,
            } => {
                let (until_ms, reason) = (*until_ms, reason.clone());
                self.wait(at, Wait::Time { until_ms, reason }, ms);
            }
            Fact::AwaitRun { at, run, flow, .. } => {
                let (run, flow) = (run.clone(), flow.clone());
                self.wait(at, Wait::Run { run, flow }, ms);
            }
            Fact::AwaitBranches { at, fork } => self.fork(at, fork, ms),
            Fact::StateSet { key, value } => self.state.set(key, value.clone()),
            Fact::StateDelete { key } => self.state.delete(key),
            Fact::StateBatch(operations) => operations.iter().for_each(|op| self.operate(op)),
            Fact::StateSnapshot(state) => self.state = state.clone(),
            Fact::Other => {}
        }
        self.derive_status();
    }

    fn begin(&mut self, started: &Started, ms: Millis) {
        self.version = started.version.clone();
        self.input = started.input.clone();
        self.state = State::from_input(&started.input);
        self.not_before = started.not_before;
        self.deadline = started.deadline;
        self.parent = started.parent.clone();
        self.created_ms = ms;
        self.enter(&started.next, None, None, ms);
    }

    fn end(&mut self, status: RunStatus, ms: Millis) {
        self.status = status;
        self.ended_ms = Some(ms);
        self.visits.clear();
        self.paused = false;
    }

    fn forked(&mut self, deadline: Option<Millis>) {
        self.deadline = deadline;
        self.parent = None;
        for visit in self.visits.iter_mut() {
            let waits_for_run = matches!(visit.wait, Some(Wait::Run { .. }));
            if visit.status != VisitStatus::Running && !waits_for_run {
                continue;
            }
            visit.status = VisitStatus::Retrying;
            visit.wait = Some(Wait::Backoff { until_ms: 0 });
            if let Some(step) = self.steps.get_mut(&visit.key.step) {
                step.status = VisitStatus::Retrying;
            }
        }
    }

    pub(super) fn enter(
        &mut self,
        step: &Name,
        branch: Option<InBranch>,
        caught: Option<Arc<State>>,
        ms: Millis,
    ) {
        let summary = self
            .steps
            .entry(step.clone())
            .or_insert_with(|| StepSummary {
                status: VisitStatus::Pending,
                visits: 0,
                attempt: 0,
                started_ms: None,
                ended_ms: None,
                error: None,
            });
        summary.visits = summary.visits.saturating_add(1);
        summary.status = VisitStatus::Pending;
        summary.attempt = 0;
        let key = VisitKey {
            step: step.clone(),
            visit: summary.visits,
        };
        self.visits.push(Visit {
            key,
            status: VisitStatus::Pending,
            attempt: 0,
            failures: 0,
            losses: 0,
            branch,
            caught,
            since_ms: ms,
            wait: None,
        });
    }

    fn step_started(&mut self, at: &StepRef, ms: Millis) {
        if at.attempt == 1 {
            self.step_count += 1;
        }
        self.not_before = None;
        self.change(at, VisitStatus::Running, |visit| {
            visit.attempt = at.attempt;
            visit.since_ms = ms;
            visit.wait = None;
        });
        self.summarise(&at.name, |step| {
            step.attempt = at.attempt;
            step.started_ms = Some(ms);
            step.ended_ms = None;
            step.error = None;
        });
    }

    /// A failure that is not tried again: its route takes it, or the branch around it, or the run.
    fn step_failed(&mut self, at: &StepRef, error: &Failure, next: Option<&Name>, ms: Millis) {
        self.summarise(&at.name, |step| step.error = Some(error.clone()));
        let Some(visit) = self.leave(at, VisitStatus::Failed, ms) else {
            return;
        };
        // A route or a branch may be shared by many steps.
        let error = error.clone().at(&at.name);
        match next {
            Some(next) => {
                let caught = [("error".to_owned(), Json::of(&error))];
                let caught = Arc::new(caught.into_iter().collect());
                self.enter(next, visit.branch, Some(caught), ms);
            }
            None if visit.branch.is_some() => self.branch_failed(&visit, error, ms),
            None => self.error = Some(error),
        }
    }

    /// The visit is to be tried once more, at a time.
    fn again(&mut self, at: &StepRef, until_ms: Millis, count: impl FnOnce(&mut Visit)) {
        self.change(at, VisitStatus::Retrying, |visit| {
            count(visit);
            visit.wait = Some(Wait::Backoff { until_ms });
        });
    }

    pub(super) fn wait(&mut self, at: &StepRef, wait: Wait, ms: Millis) {
        self.change(at, VisitStatus::Waiting, |visit| {
            visit.wait = Some(wait);
            visit.since_ms = ms;
        });
    }

    fn operate(&mut self, operation: &StateOp) {
        let StateOp { kind, key, value } = operation;
        match kind {
            OpKind::Set => {
                let value = value.clone().unwrap_or_else(Json::null);
                self.state.set(key, value);
            }
            OpKind::Delete => self.state.delete(key),
        }
    }

    fn change(&mut self, at: &StepRef, status: VisitStatus, edit: impl FnOnce(&mut Visit)) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.status = status;
            edit(visit);
        }
        self.summarise(&at.name, |step| step.status = status);
    }

    fn leave(&mut self, at: &StepRef, status: VisitStatus, ms: Millis) -> Option<Visit> {
        let visit = self.visits.remove(&VisitKey::of(at))?;
        self.summarise(&at.name, |step| {
            step.status = status;
            step.ended_ms = Some(ms);
        });
        Some(visit)
    }

    fn summarise(&mut self, step: &Name, edit: impl FnOnce(&mut StepSummary)) {
        if let Some(summary) = self.steps.get_mut(step) {
            edit(summary);
        }
    }

    fn derive_status(&mut self) {
        if self.status.is_ended() {
            return;
        }
        let waits =
            |visit: &Visit| matches!(visit.status, VisitStatus::Waiting | VisitStatus::Retrying);
        self.status = if self.paused {
            RunStatus::Paused
        } else if self.step_count == 0 {
            RunStatus::Pending
        } else if !self.visits.is_empty() && self.visits.iter().all(waits) {
            RunStatus::Waiting
        } else {
            RunStatus::Running
        };
    }
}
