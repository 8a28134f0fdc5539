//! What people and time do to a run: cancel, pause, resume, deadlines.

use super::Turn;
use crate::{Cancellation, fact::Fact};

impl Turn<'_> {
    pub(super) fn due(&mut self) {
        if self.state.paused {
            return;
        }
        if let Some(deadline) = self.state.deadline.filter(|deadline| *deadline <= self.now) {
            return self.fail_run(self.deadline_failure(deadline));
        }
        self.resume_due();
        self.settle();
    }

    pub(super) fn cancel(&mut self, source: &'static str, reason: Option<String>) {
        let cancellation = Cancellation {
            source: source.to_owned(),
            reason,
        };
        self.cancel_visits(&cancellation, |_| true);
        let duration_ms = self.now - self.state.created_ms;
        self.emit(Fact::Cancelled {
            cancellation,
            duration_ms,
        });
    }

    pub(super) fn pause(&mut self, reason: Option<String>) {
        if !self.state.paused {
            self.emit(Fact::Paused { reason });
        }
    }

    pub(super) fn resume(&mut self) {
        if self.state.paused {
            self.emit(Fact::Resumed);
        }
    }
}
