//! Control by people and time: cancel, pause, resume, deadlines.

use riverrun_types::{
    ErrorCode,
    event::{FlowCancelled, FlowPaused, FlowResumed},
    time::iso,
};

use super::Decider;
use crate::{Cancellation, Fact, Failure};

impl Decider<'_> {
    pub(super) fn due(&mut self) {
        if self.state.paused {
            return;
        }
        if self.is_overdue() {
            return self.time_out();
        }
        self.resume_due();
        self.settle();
    }

    /// The run's deadline does not advance while visits are parked.
    pub(super) fn is_overdue(&self) -> bool {
        let deadline = self.state.deadline.filter(|_| self.state.parked.is_none());
        deadline.is_some_and(|deadline| deadline <= self.now)
    }

    pub(super) fn time_out(&mut self) {
        let timeout_ms = self.plan.timeout_ms.unwrap_or_default();
        let by = self.state.deadline.map_or_else(String::new, iso);
        let message = format!("the run did not end within {timeout_ms} ms, by {by}");
        self.fail_run(Failure::new(ErrorCode::Timeout, message));
    }

    pub(super) fn cancel(&mut self, source: &'static str, reason: Option<String>) {
        self.cancelled(Cancellation {
            source: source.to_owned(),
            reason,
        });
    }

    /// The run that waited for this one has failed. This run's steps are undone before it is
    /// cancelled, as are the other run's; a run that is already undoing continues.
    pub(super) fn abandoned(&mut self, reason: String) {
        if self.state.compensating {
            return;
        }
        let error = Failure::new(ErrorCode::Cancelled, reason.clone());
        let cancellation = Cancellation {
            source: "parent".to_owned(),
            reason: Some(reason),
        };
        self.cancel_visits(&cancellation, |_, _| true);
        if self.state.undo.is_empty() {
            return self.cancelled(cancellation);
        }
        self.compensate(error, Some(cancellation));
    }

    pub(super) fn cancelled(&mut self, cancellation: Cancellation) {
        self.cancel_visits(&cancellation, |_, _| true);
        self.emit_last();
        let duration_ms = self.since(self.state.created_ms);
        let data = FlowCancelled::new(cancellation, duration_ms);
        self.emit(Fact::FlowCancelled(data));
    }

    pub(super) fn pause(&mut self, reason: Option<String>) {
        if !self.state.paused {
            self.emit(Fact::FlowPaused(FlowPaused { reason }));
        }
    }

    pub(super) fn resume(&mut self) {
        self.release(None, "the run was resumed");
        if self.state.paused {
            self.emit(Fact::FlowResumed(FlowResumed));
            // Jobs that were claimed meanwhile were rejected.
            self.again = self.state.visits.iter().map(|v| v.key.clone()).collect();
        }
    }
}
