//! Parked visits: each waits until it is released, without further effects.

use riverrun_types::{VisitStatus, event::StepReleased};

use super::Decider;
use crate::{Fact, Failure, Parked, Visit, VisitKey, Wait};

impl Decider<'_> {
    pub(super) fn park(&mut self, key: &VisitKey, attempt: Option<u32>, parked: Parked) {
        let is_it = |visit: &&Visit| match attempt {
            Some(attempt) => visit.status == VisitStatus::Running && visit.attempt == attempt,
            None => is_active(visit),
        };
        if let Some(visit) = self.state.visit(key).filter(is_it).cloned() {
            self.park_visit(&visit, parked);
        }
    }

    pub(super) fn park_visit(&mut self, visit: &Visit, parked: Parked) {
        if matches!(visit.wait, Some(Wait::Job { .. })) {
            self.decision.parked.push(visit.key.clone());
        }
        self.emit_parked(visit, parked);
    }

    pub(super) fn emit_parked(&mut self, visit: &Visit, parked: Parked) {
        let mut failure = Failure::new(parked.code, parked.message);
        failure.details = parked.details;
        let Failure {
            code,
            message,
            details,
            ..
        } = self.fitted(failure);
        let parked = Parked {
            code,
            message,
            details,
        };
        self.emit(Fact::StepParked(visit.at(), parked));
    }

    /// Jobs of visits are left alone: workers run them.
    pub(super) fn park_all(&mut self, parked: Parked) {
        let is_driven = |visit: &&Visit| {
            let has_job = matches!(visit.wait, Some(Wait::Job { .. }));
            is_active(visit) && (!has_job || self.plan.must_await(visit))
        };
        let driven = self.state.visits.iter().filter(is_driven);
        let driven: Vec<Visit> = driven.cloned().collect();
        if driven.is_empty() {
            let Parked { code, message, .. } = parked;
            return self.pause(Some(format!("{code}: {message}")));
        }
        for visit in driven {
            self.park_visit(&visit, parked.clone());
        }
    }

    pub(super) fn release(&mut self, which: Option<&[VisitKey]>, reason: &str) {
        let is_meant = |visit: &&Visit| {
            visit.parked().is_some() && which.is_none_or(|which| which.contains(&visit.key))
        };
        let released = self.state.visits.iter().filter(is_meant);
        let released: Vec<Visit> = released.cloned().collect();
        for visit in released {
            let data = StepReleased {
                reason: reason.to_owned(),
                waited_ms: self.since(visit.since_ms),
            };
            self.emit(Fact::StepReleased(visit.at(), data));
            self.again.push(visit.key);
        }
    }
}

/// Whether an attempt of it runs, or is about to begin by itself.
fn is_active(visit: &Visit) -> bool {
    use VisitStatus as S;
    matches!(visit.status, S::Pending | S::Running | S::Retrying)
}
