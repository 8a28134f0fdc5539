//! Attempts that will never answer: their worker is gone, or they run in another run.

use riverrun_types::{
    ErrorCode, OnFailure, VisitStatus,
    event::{FlowForked, StepRetry},
};

use super::Decider;
use crate::{Branches, Fact, Failure, Parked, Visit, VisitKey, retry};

impl Decider<'_> {
    /// Running attempts whose worker is gone are tried again, a bounded number of times in a row.
    pub(super) fn lost(&mut self) {
        // For attempts that run as jobs, the queue reports the loss.
        let is_running =
            |visit: &&Visit| visit.status == VisitStatus::Running && visit.wait.is_none();
        let running: Vec<Visit> = self
            .state
            .visits
            .iter()
            .filter(is_running)
            .cloned()
            .collect();
        for visit in running {
            self.lose(&visit);
        }
        self.settle();
    }

    /// An attempt was lost with its worker: it is tried again, unless that happened so often in a
    /// row that the visit itself may be the cause. Then it is parked. Returns whether the visit
    /// goes on.
    pub(super) fn lose(&mut self, visit: &Visit) -> bool {
        let losses = visit.losses.saturating_add(1);
        if losses >= retry::MAX_LOSSES {
            self.park_visit(visit, Parked::after_losses(losses));
            return false;
        }
        let data = StepRetry {
            reason: "the worker was lost".to_owned(),
            delay_ms: 0,
            lost: true,
        };
        self.emit(Fact::StepRetry(visit.next_attempt(), data));
        true
    }

    /// In a copy no visit runs yet, and the original's children belong to the original. The copy
    /// may have been cut anywhere, even between the events of one decision: the rest of that
    /// decision is made here.
    pub(super) fn forked(&mut self) {
        let deadline = self.state.deadline.and(self.plan.deadline(self.now));
        self.emit(Fact::FlowForked(FlowForked { deadline }));
        self.again = self.state.visits.iter().map(|v| v.key.clone()).collect();
        let fails = self.plan.on_failure == OnFailure::Stop && !self.state.compensating;
        if let Some(error) = self.state.error.clone()
            && fails
        {
            return self.fail_run(error);
        }
        if let Some(cancellation) = self.state.cancellation.clone() {
            return self.cancelled(cancellation);
        }
        let forks = self.state.visits.iter().filter(|v| v.branches().is_some());
        let forks: Vec<_> = forks.map(|visit| visit.key.clone()).collect();
        for key in forks.into_iter().rev() {
            self.mend_fork(&key);
        }
        self.settle();
    }

    /// A fork whose branches were being cancelled when the copy was cut, and which would wait for
    /// them for ever.
    fn mend_fork(&mut self, key: &VisitKey) {
        self.touched.push(key.clone());
        let Some(visit) = self.state.visit(key).cloned() else {
            return;
        };
        let is_whole = |branches: &Branches| {
            let inside = |visit: &&Visit| visit.branch.as_ref().is_some_and(|b| b.of == *key);
            let active = self.state.visits.iter().filter(inside).count();
            branches.is_settled() || active == branches.entered.saturating_sub(branches.ended)
        };
        if visit.branches().is_none_or(is_whole) {
            return;
        }
        let message = "the run was forked while the branches were being cancelled";
        self.cancel_inside(&visit, message);
        self.fail(&visit, Failure::new(ErrorCode::Cancelled, message), 0.0);
    }
}
