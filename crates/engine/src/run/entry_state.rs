//! The state that visits found when they were entered, for visits that run as jobs. Their code is
//! called again after a failure, a loss or a wait, and gets the same input each time, regardless of
//! later writes.

use std::sync::Arc;

use riverrun_types::{Json, State};
use serde::{Deserialize, Serialize};

use super::{RunState, Visit};
use crate::{Select, TemplateTooLarge};

/// A state that visits found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryState {
    pub state: State,
    /// How many visits still need their input from it.
    pub visits: usize,
}

impl RunState {
    /// The selected input of a visit that runs as a job: from the state that it found. The run's
    /// first visit found the run's input.
    pub(crate) fn selected(
        &self,
        select: &Select,
        visit: &Visit,
        max_bytes: usize,
    ) -> Result<Json, TemplateTooLarge> {
        let is_full = *select == Select::Full;
        if self.is_first(visit) {
            return match is_full {
                true => Ok(self.input.clone()),
                false => {
                    let state = State::from_input(&self.input);
                    let view = self.view_around(visit, &state, &[]);
                    select.resolve(&visit.seen(view), max_bytes)
                }
            };
        }
        // A visit in a snapshot of a version that did not keep it uses the current state.
        let found = visit.found.and_then(|at| self.found.get(&at));
        let state = found.map_or(&self.state, |found| &found.state);
        let view = self.view_around(visit, state, &visit.around);
        // Values of its await came later: selectors can name them, and they are not part of the
        // whole.
        let view = match is_full {
            true => visit.led(view),
            false => visit.seen(view),
        };
        select.resolve(&view, max_bytes)
    }

    /// Keeps the state that an entered visit finds, if its input comes from that.
    pub(super) fn keep_found(&mut self, visit: &mut Visit) {
        let is_given = visit.input.is_some() || self.is_first(visit);
        if is_given || !self.queued.contains(&visit.key.step) {
            return;
        }
        let (at, state) = (self.written, &self.state);
        let found = self.found.entry(at).or_insert_with(|| EntryState {
            state: state.clone(),
            visits: 0,
        });
        found.visits += 1;
        visit.found = Some(at);
        // Only the visit writes to its own branch while it exists.
        let outer = self.forks_around(visit).skip(1);
        let scopes = outer.filter_map(|(holder, index)| holder.branch(index));
        let scopes: Vec<Arc<State>> = scopes.map(|branch| branch.scope.clone()).collect();
        visit.around = scopes;
    }

    /// A visit that has ended does not need its found state any more.
    pub(super) fn drop_found(&mut self, visit: &Visit) {
        let Some(at) = visit.found else { return };
        let Some(found) = self.found.get_mut(&at) else {
            return;
        };
        found.visits = found.visits.saturating_sub(1);
        if found.visits == 0 {
            self.found.remove(&at);
        }
    }

    /// Whether the run began with the visit.
    fn is_first(&self, visit: &Visit) -> bool {
        let first = self.steps.first().map(|(step, _)| step);
        visit.key.visit == 1 && first == Some(&visit.key.step)
    }
}
