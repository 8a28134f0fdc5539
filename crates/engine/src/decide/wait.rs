//! Waits: for a time, for branches, for a child run; how they begin and end.

use riverrun_types::{
    ErrorCode, Json, Millis, Name, RunId,
    event::{StepAwaitRun, StepResumed},
    time::MAX_WAIT_MS,
};
use serde_json::json;

use super::{Child, Decider};
use crate::{Fact, Failure, Fork, Lineage, SubFlow, Visit, VisitKey, Wait};

/// Sub-flows inside sub-flows, at most: a flow that starts itself ends here.
pub(crate) const MAX_DEPTH: u32 = 32;

/// Forks inside forks, at most: a fork that branches into itself ends here.
const MAX_FORKS: usize = 32;

/// Active visits at once, at most. Maps inside maps multiply, and every visit is kept in memory and
/// scanned.
const MAX_VISITS: usize = 20_000;

impl Decider<'_> {
    pub(super) fn is_too_far(&self, until_ms: Millis) -> bool {
        until_ms > self.now.saturating_add(MAX_WAIT_MS)
    }

    /// Resumes the waits whose time has come. A paused run resumes none.
    pub(super) fn resume_due(&mut self) {
        if self.state.paused {
            return;
        }
        let due = self.state.visits.iter().filter(|visit| self.is_due(visit));
        let due: Vec<Visit> = due.cloned().collect();
        for visit in due {
            // The previous one may have ended the run.
            if self.state.status.is_ended() {
                return;
            }
            self.wait_over(&visit);
        }
    }

    /// Resumes one wait, if its time has come.
    pub(super) fn resume_if_due(&mut self, key: &VisitKey) {
        let visit = self.state.visit(key).filter(|visit| self.is_due(visit));
        if let Some(visit) = visit.filter(|_| !self.state.paused).cloned() {
            self.wait_over(&visit);
        }
    }

    fn is_due(&self, visit: &Visit) -> bool {
        match &visit.wait {
            Some(Wait::Time { until_ms, .. }) => *until_ms <= self.now,
            Some(Wait::Await(awaiting)) => awaiting.until_ms.is_some_and(|until| until <= self.now),
            _ => false,
        }
    }

    fn wait_over(&mut self, visit: &Visit) {
        match &visit.wait {
            Some(Wait::Time { output, next, .. }) => {
                self.resumed(visit, "time reached".to_owned(), None);
                let next = next.clone().unwrap_or_else(|| self.after_wait(visit));
                self.complete(visit, output.clone(), next, 0.0);
            }
            Some(Wait::Await(awaiting)) => self.await_over(visit, awaiting, None),
            _ => {}
        }
    }

    pub(super) fn child_ended(
        &mut self,
        key: &VisitKey,
        child: &RunId,
        result: Result<Json, Failure>,
    ) {
        let waits =
            |visit: &&Visit| matches!(&visit.wait, Some(Wait::Run { run, .. }) if run == child);
        let Some(visit) = self.state.visit(key).filter(waits).cloned() else {
            return;
        };
        match result {
            Ok(output) => {
                self.resumed(&visit, format!("run {child} completed"), None);
                let next = self.after_wait(&visit);
                self.complete_in_time(&visit, output, next, 0.0);
            }
            Err(failure) => {
                let reason = format!("run {child} ended with {}", failure.code);
                self.resumed(&visit, reason, None);
                self.fail(&visit, failure, 0.0);
            }
        }
        self.settle();
    }

    pub(super) fn resumed(&mut self, visit: &Visit, reason: String, value: Option<Json>) {
        let data = StepResumed {
            reason,
            waited_ms: self.since(visit.since_ms),
            value,
        };
        self.emit(Fact::StepResumed(visit.at(), data));
    }

    /// A resumed wait goes to `onResume`, else to `onSuccess`.
    pub(super) fn after_wait(&self, visit: &Visit) -> Option<Name> {
        self.transition(visit, |step| &step.on_resume)
            .or_else(|| self.transition(visit, |step| &step.on_success))
    }

    pub(super) fn fork(&mut self, visit: &Visit, fork: Fork, jitter: f64) {
        let unknown = |name: &Name| self.plan.step(name).is_none();
        if let Some(spec) = fork.branches.iter().find(|spec| unknown(&spec.step)) {
            let message = format!("the flow has no step {:?} to branch to", spec.step);
            let failure = Failure::new(ErrorCode::StepNotFound, message).permanent();
            return self.fail(visit, failure, jitter);
        }
        let checked = self.check_fork(visit, &fork);
        if let Err(failure) = checked.and_then(|()| self.check_steps(&fork)) {
            return self.fail(visit, failure.permanent(), jitter);
        }
        self.touched.push(visit.key.clone());
        self.emit(Fact::StepAwaitBranches(visit.at(), fork));
    }

    /// Whether more visits are active than a run may have.
    pub(super) fn is_crowded(&self) -> bool {
        self.state.visits.len() > MAX_VISITS
    }

    fn check_fork(&self, visit: &Visit, fork: &Fork) -> Result<(), Failure> {
        let refuse = |message: String| Err(Failure::new(ErrorCode::ForkLimit, message));
        if self.state.forks_around(visit).nth(MAX_FORKS - 1).is_some() {
            return refuse(format!(
                "{MAX_FORKS} forks already stand around this one: does a branch lead to itself?"
            ));
        }
        let at_once = match fork.concurrency {
            0 => fork.branches.len(),
            limit => fork.branches.len().min(limit as usize),
        };
        let visits = self.state.visits.len() + at_once;
        if visits > MAX_VISITS {
            return refuse(format!(
                "{visits} visits would be under way at once, a run may have {MAX_VISITS}: use a lower concurrency"
            ));
        }
        Ok(())
    }

    /// Every branch takes a step at least. If not all can have one none begins: half of them with
    /// their effects are worse than none.
    fn check_steps(&self, fork: &Fork) -> Result<(), Failure> {
        let limit = self.plan.limits.max_steps;
        let left = limit.saturating_sub(self.state.counted_steps());
        let branches = fork.branches.len();
        if branches as u64 <= left {
            return Ok(());
        }
        let message = format!(
            "{branches} branches take a step or more each, and of the {limit} that the flow's limits.maxSteps allows {left} are left: raise it"
        );
        Err(Failure::new(ErrorCode::MaxSteps, message))
    }

    pub(super) fn sub_flow(&mut self, visit: &Visit, sub: SubFlow, jitter: f64) {
        let above = self.state.parent.as_ref().map_or(0, |parent| parent.depth);
        let depth = above.saturating_add(1);
        if depth > MAX_DEPTH {
            let message = format!(
                "{MAX_DEPTH} runs already stand above this one: does the flow start itself?"
            );
            let failure = Failure::new(ErrorCode::SubflowDepth, message).permanent();
            return self.fail(visit, failure, jitter);
        }
        let child = Child {
            parent: Lineage {
                run_id: self.run.clone(),
                step: visit.key.step.clone(),
                visit: visit.key.visit,
                depth,
                detached: sub.detached,
            },
            run: sub.run,
            flow: sub.flow,
            version: sub.version,
            input: sub.input,
        };
        if sub.detached {
            let next = self.transition(visit, |step| &step.on_success);
            let output = Json::from(json!({ "runId": child.run }));
            // A child of a failed step would have no parent, so it is not started.
            if !self.complete_in_time(visit, output, next, jitter) {
                return;
            }
        } else {
            let data = StepAwaitRun {
                run: child.run.clone(),
                flow: child.flow.clone(),
                version: child.version.clone(),
            };
            self.emit(Fact::StepAwaitRun(visit.at(), data));
        }
        self.decision.children.push(child);
    }
}
