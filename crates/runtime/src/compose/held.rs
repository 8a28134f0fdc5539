//! Finds the flows to which a file that does not load belongs. Without its steps such a flow would
//! be a different one, and newer than the complete one, so its registered version stays; all other
//! flows go on.
//!
//! The file belongs to a flow if the registered flow has a step of it, if its path names the flow, or
//! if its text names the flow, an event that the flow emits, or a step that one of its steps names.

use std::collections::BTreeSet;

use riverrun_protocol::NotLoaded;
use serde_json::Value;

use super::{ComposedFlow, Composer, offered::processes_of};
use crate::processes::stays_whole;

impl Composer {
    /// Why a flow of processes stays as it was registered; none if it may change.
    pub fn held_back(&self, flow: &ComposedFlow, files: &[NotLoaded]) -> Option<String> {
        let id = flow.id();
        let names = names_in(&flow.definition);
        self.why_held(&id, &names, files)
    }

    /// The same for a flow that has steps and no entry.
    pub fn entry_held_back(&self, flow: &str, files: &[NotLoaded]) -> Option<String> {
        self.why_held(flow, &BTreeSet::new(), files)
    }

    fn why_held(&self, id: &str, names: &BTreeSet<String>, files: &[NotLoaded]) -> Option<String> {
        let registered = self.flows().versions(id).into_iter().next();
        let registered = registered.map(|flow| flow.definition.value());
        let belongs = |file: &&NotLoaded| {
            let Some(own) = &file.id else {
                return true;
            };
            file.names_flow(id)
                || registered
                    .as_ref()
                    .is_some_and(|flow| has_step_of(flow, own))
                || file.mentions.iter().any(|word| names.contains(word))
        };
        let why: Vec<String> = files
            .iter()
            .filter(belongs)
            .map(|file| file.why.clone())
            .collect();
        (!why.is_empty()).then(|| stays_whole(id, &why))
    }
}

/// The words that lead from a flow to steps which it does not have yet: the events that it emits
/// and the steps that it names.
fn names_in(definition: &Value) -> BTreeSet<String> {
    let steps = definition["steps"].as_object().into_iter().flatten();
    let names = steps.flat_map(|(_, step)| {
        let emits = step["emits"].as_array().into_iter().flatten();
        let named = [&step["await"]["onTimeout"], &step["compensation"]["step"]];
        emits.chain(named).filter_map(Value::as_str)
    });
    names.map(str::to_owned).collect()
}

/// A file may have several processes: `<id>` and `<id>.<export>`.
fn has_step_of(definition: &Value, file: &str) -> bool {
    processes_of(definition).any(|process| {
        let rest = process.strip_prefix(file);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
