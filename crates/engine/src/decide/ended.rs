//! Ends: of branches, of the fork around them, of the run.

use indexmap::IndexMap;
use riverrun_types::{
    ErrorCode, Json, OnFailure,
    event::{FlowCompensating, FlowCompleted, FlowFailed, StepCancelled},
};
use serde_json::json;

use super::{Decider, How, Over};
use crate::{BranchStatus, Branches, Cancellation, Fact, Failure, Visit, Wait};

impl Decider<'_> {
    /// A path inside a branch has ended: the fork around it may have ended, too.
    pub(super) fn branch_ended(&mut self, visit: &Visit) {
        let place = visit.branch.as_ref();
        self.touched.extend(place.map(|place| place.of.clone()));
    }

    /// Ends every visit that waits for nothing more: forks whose branches are done, then the run.
    pub(super) fn settle(&mut self) {
        while let Some(key) = self.touched.pop() {
            let limit = self.plan.limits.max_value_bytes;
            let settled = |visit: &&Visit| {
                visit
                    .branches()
                    .is_some_and(|branches| branches.is_settled() || branches.result_bytes > limit)
            };
            if let Some(visit) = self.state.visit(&key).filter(settled).cloned() {
                self.end_fork(&visit);
            }
        }
        self.check_undo();
        let is_idle = self.state.visits.is_empty() && self.state.to_emit.is_empty();
        if is_idle && !self.state.status.is_ended() {
            self.nothing_active();
        }
    }

    /// No visit is active any more: the run undoes one more, or has ended.
    fn nothing_active(&mut self) {
        if self.state.undo.is_empty()
            && let Some(cancellation) = self.state.ends_cancelled.clone()
        {
            return self.cancelled(cancellation);
        }
        match (self.state.compensating, self.state.error.clone()) {
            (true, _) if !self.state.undo.is_empty() => self.undo_last(),
            (true, Some(error)) => self.end_failed(error),
            (false, Some(error)) => self.fail_run(error),
            _ => self.complete_run(),
        }
    }

    /// A failure has reached the run itself.
    pub(super) fn uncaught(&mut self) {
        let Some(error) = self.state.error.clone() else {
            return;
        };
        if !self.state.compensating && self.plan.on_failure == OnFailure::Stop {
            self.fail_run(error);
        }
    }

    fn end_fork(&mut self, visit: &Visit) {
        let Some(branches) = visit.branches() else {
            return;
        };
        let limit = self.plan.limits.max_value_bytes;
        if branches.result_bytes > limit {
            let message = format!(
                "the results of the branches have more than {limit} bytes together, the most that the flow's limits.maxValueBytes allows"
            );
            self.cancel_inside(visit, "the results of the branches are too large");
            let failure = Failure::new(ErrorCode::ValueTooLarge, message).permanent();
            return self.fail(visit, failure, 0.0);
        }
        let is_failed = |branch: &crate::Branch| branch.status == BranchStatus::Failed;
        let Some(index) = branches.branches.iter().position(is_failed) else {
            let next = self.after_wait(visit);
            self.complete_in_time(visit, results(branches), next, 0.0);
            return;
        };
        self.cancel_inside(visit, "another branch failed");
        let branch = &branches.branches[index];
        let step = &branch.step;
        let mut message = format!("branch {index} ({step}) failed");
        if let Some(Failure {
            code, message: why, ..
        }) = &branch.error
        {
            message.push_str(&format!(": {code}: {why}"));
        }
        let failure = Failure::new(ErrorCode::BranchFailed, message)
            .details(json!({"branch": index, "step": step, "error": branch.error}));
        self.fail(visit, failure, 0.0);
    }

    /// Cancels the visits in the branches of a visit, at any depth.
    pub(super) fn cancel_inside(&mut self, of: &Visit, reason: &str) {
        let branches = of.branches();
        if branches.is_some_and(|branches| branches.ended == branches.entered) {
            return;
        }
        let cancellation = Cancellation {
            source: "system".to_owned(),
            reason: Some(reason.to_owned()),
        };
        self.cancel_visits(&cancellation, |decider, visit| {
            let mut around = decider.state.forks_around(visit);
            around.any(|(holder, _)| holder.key == of.key)
        });
    }

    /// Cancels visits, the last entered first, and abandons the children that they wait for.
    pub(super) fn cancel_visits(
        &mut self,
        cancellation: &Cancellation,
        which: impl Fn(&Self, &Visit) -> bool,
    ) {
        let visits = self.state.visits.iter().rev();
        let visits: Vec<Visit> = visits.filter(|v| which(self, v)).cloned().collect();
        let reason = cancellation.reason.as_deref();
        let reason = reason.unwrap_or("the run was cancelled");
        for visit in visits {
            match &visit.wait {
                Some(Wait::Run { run, .. }) => self.decision.abandoned.push(run.clone()),
                Some(Wait::Job { .. }) => self.decision.dequeued.push(visit.key.clone()),
                Some(Wait::Await(awaiting)) => {
                    let reason = reason.to_owned();
                    let over = Over::of(&visit, awaiting, How::Cancelled { reason });
                    self.decision.settled.push(over);
                }
                _ => {}
            }
            self.close_callbacks(&visit, reason);
            let is_done =
                matches!(&visit.wait, Some(Wait::Time { output, .. }) if output.is_some());
            let compensation = self.compensation(&visit).filter(|_| is_done);
            let cancelled = StepCancelled::new(cancellation.clone(), compensation);
            self.emit(Fact::StepCancelled(visit.at(), cancelled));
        }
    }

    pub(super) fn fail_run(&mut self, error: Failure) {
        let source = if error.code == ErrorCode::Timeout {
            "timeout"
        } else {
            "system"
        };
        let cancellation = Cancellation {
            source: source.to_owned(),
            reason: Some("the run failed".to_owned()),
        };
        self.cancel_visits(&cancellation, |_, _| true);
        if self.state.undo.is_empty() || self.state.compensating {
            return self.end_failed(error);
        }
        self.compensate(error, None);
    }

    pub(super) fn compensate(&mut self, error: Failure, cancellation: Option<Cancellation>) {
        self.emit(Fact::FlowCompensating(FlowCompensating {
            error,
            cancellation,
        }));
        self.undo_last();
    }

    fn end_failed(&mut self, error: Failure) {
        self.emit_last();
        let duration_ms = self.since(self.state.created_ms);
        self.emit(Fact::FlowFailed(FlowFailed { error, duration_ms }));
    }

    /// Events that finished visits have still to emit come before the run's end: they lead to no
    /// visit here, but others may wait for them.
    pub(super) fn emit_last(&mut self) {
        for due in self.state.to_emit.clone() {
            self.take_in(due.draft(self.now));
        }
    }

    fn complete_run(&mut self) {
        let result = match &self.plan.result {
            Some(path) => self.state.state.path(path),
            None => self.state.result.clone(),
        };
        let duration_ms = self.since(self.state.created_ms);
        self.emit(Fact::FlowCompleted(FlowCompleted {
            result: result.unwrap_or_else(Json::null),
            duration_ms,
        }));
    }
}

fn results(branches: &Branches) -> Json {
    let result = |branch: &crate::Branch| branch.result.clone().unwrap_or_else(Json::null);
    let all = branches.branches.iter();
    if branches.as_list {
        Json::of(&all.map(result).collect::<Vec<_>>())
    } else {
        let named = all.map(|branch| (&branch.step, result(branch)));
        Json::of(&named.collect::<IndexMap<_, _>>())
    }
}
