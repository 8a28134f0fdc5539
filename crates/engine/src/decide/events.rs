//! Emitted events: the visits that they enter, and those that they undo.

use std::collections::HashSet;

use riverrun_types::{
    Draft, ErrorCode, Json, Name, StepRef,
    event::{StepEntered, StepJoined},
};
use serde_json::json;

use super::{Decider, Entry};
use crate::{Fact, Failure, Undo, VisitKey};

/// Events that wait for others of a join, at most.
const MAX_HELD: usize = 10_000;

impl Decider<'_> {
    /// An event was emitted in the run, or outside and for the run. Each step that it enters gets a
    /// visit of its own.
    pub(super) fn emitted(&mut self, event: Draft, entries: Vec<Entry>) {
        let kind = match Fact::read(&event) {
            Fact::Emitted { kind, .. } => kind,
            _ => return,
        };
        self.take_in(event);
        // A run that undoes its steps begins no new ones.
        if self.state.compensating {
            return self.settle();
        }
        let mut entered = HashSet::with_capacity(entries.len());
        for Entry { step, input } in entries {
            // The same event never enters a step twice.
            if !entered.insert(step.clone()) {
                continue;
            }
            let Some(known) = self.plan.step(&step) else {
                continue;
            };
            if known.joins.is_empty() {
                self.enter(step, input, false, None);
                continue;
            }
            let (joins, kind) = (&known.joins, kind.clone());
            self.emit(Fact::StepJoined(StepJoined {
                step: step.clone(),
                kind,
                input,
            }));
            let has = |kind: &Name| {
                let mut held = self.state.held.iter();
                held.any(|held| held.step == step && held.kind == *kind)
            };
            if joins.iter().all(has) {
                self.enter(step, None, true, None);
            }
        }
        self.undo_because_of(&kind);
        self.check_held();
        self.settle();
    }

    /// Fails the run if more events wait in it than the limit allows.
    fn check_held(&mut self) {
        if self.state.held.len() > MAX_HELD || self.is_crowded() {
            let message =
                "more visits or events are waiting than a run may have: does a step feed itself?";
            return self.fail_run(Failure::new(ErrorCode::ForkLimit, message));
        }
        let limit = self.plan.limits.max_state_bytes;
        let bytes: usize = self.state.held.iter().map(|held| held.input.bytes()).sum();
        if bytes > limit {
            let message = format!(
                "the events that wait for others of a join have {bytes} bytes together; they may have {limit}, the flow's limits.maxStateBytes"
            );
            self.fail_run(Failure::new(ErrorCode::StateTooLarge, message));
        }
    }

    /// Fails the run if the results that it keeps for undoing are too large together. The last of
    /// them is kept, too: every visit is undone.
    pub(super) fn check_undo(&mut self) {
        if self.state.compensating || self.state.status.is_ended() {
            return;
        }
        let limit = self.plan.limits.max_state_bytes;
        let results = self
            .state
            .undo
            .iter()
            .filter_map(|undo| undo.result.as_ref());
        let bytes: usize = results.map(Json::bytes).sum();
        if bytes > limit {
            let message = format!(
                "the results that compensations would be given have {bytes} bytes together; they may have {limit}, the flow's limits.maxStateBytes"
            );
            self.fail_run(Failure::new(ErrorCode::StateTooLarge, message));
        }
    }

    fn enter(&mut self, step: Name, input: Option<Json>, joined: bool, undoes: Option<VisitKey>) {
        let visits = self.state.steps.get(&step).map_or(0, |step| step.visits);
        let at = StepRef {
            name: step,
            visit: visits.saturating_add(1),
            attempt: 0,
        };
        let data = StepEntered {
            input,
            joined,
            undoes,
        };
        self.emit(Fact::StepEntered(at, data));
    }

    /// Undoes the finished visits whose definition names this kind of event, the latest first.
    fn undo_because_of(&mut self, kind: &str) {
        let calls = |undo: &&Undo| {
            let step = self.plan.step(&undo.visit.step);
            let compensation = step.and_then(|step| step.compensation.as_ref());
            compensation.is_some_and(|undo| undo.on.iter().any(|on| on == kind))
        };
        let called: Vec<Undo> = self.state.undo.iter().filter(calls).cloned().collect();
        for undo in called.into_iter().rev() {
            self.undo(undo);
        }
    }

    /// Undoes the visit that ended last of those that can be undone.
    pub(super) fn undo_last(&mut self) {
        if let Some(undo) = self.state.undo.last().cloned() {
            self.undo(undo);
        }
    }

    fn undo(&mut self, undo: Undo) {
        let Undo { visit, by, result } = undo;
        let error = self.state.error.as_ref();
        let input = json!({
            "step": visit.step, "visit": visit.visit, "result": result, "error": error,
        });
        self.enter(by, Some(Json::of(&input)), false, Some(visit));
    }
}
