//! Flows made of processes, which are grouped by their configs.
//!
//! A process declares that it is a step by `flow` (the unified form) or by `step`, `subscriptions`
//! and `await` at the top level (the older form). A process that no event in its own config enters
//! is the entry of a flow. A process that names its flow belongs to that flow; one without a flow
//! name belongs to every flow in which an event that it subscribes to is emitted.
//!
//! `part` reads a config, `members` gathers the parts of a flow, `left_out` reports those of no
//! flow. The processes of this instance form flows with each other; `offered` forms those of
//! workers.

mod held;
mod home;
mod left_out;
mod members;
mod offered;
mod part;
#[cfg(test)]
mod tests;

pub use offered::{Made, MadeFlow};

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use riverrun_contract::ConfigIssue;
use riverrun_types::Json;
use serde_json::Value;

use members::{doubles, flow, members};
use part::{Part, read};

use crate::{
    base::Result,
    flows::{Flows, RegisteredFlow},
    processes::Processes,
    queues::Queues,
};

/// A process as this module sees it.
#[derive(Clone, Copy)]
pub struct Composable<'a> {
    pub id: &'a str,
    pub config: &'a Json,
}

/// The flows that the processes form.
#[derive(Debug, Default)]
pub struct Composed {
    pub flows: Vec<ComposedFlow>,
    pub issues: Vec<ConfigIssue>,
    /// Steps of flows without an entry here, with the flow that they name.
    pub incomplete: Vec<(String, ConfigIssue)>,
    /// Likely mistakes.
    pub warnings: Vec<ConfigIssue>,
}

impl Composed {
    /// The processes are steps of no flow.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.issues.is_empty() && self.incomplete.is_empty()
    }
}

#[derive(Debug)]
pub struct ComposedFlow {
    pub definition: Value,
    /// Whether a config sets the version; otherwise every change makes one.
    pub is_versioned: bool,
    /// Likely mistakes: two entries, two processes for one step. They are among the issues too.
    pub disputed: Vec<ConfigIssue>,
}

impl ComposedFlow {
    pub fn id(&self) -> String {
        self.definition["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// Forms flows of processes, and registers them.
#[derive(Clone)]
pub struct Composer {
    processes: Arc<Processes>,
    flows: Flows,
    queues: Queues,
}

impl Composer {
    pub(crate) fn new(processes: Arc<Processes>, flows: Flows, queues: Queues) -> Self {
        Self {
            processes,
            flows,
            queues,
        }
    }

    fn processes(&self) -> &Processes {
        &self.processes
    }

    fn flows(&self) -> &Flows {
        &self.flows
    }

    fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Registers a flow of processes. A flow whose configs set no version gets a new one whenever
    /// it has changed.
    pub async fn register_composed(&self, flow: &ComposedFlow) -> Result<RegisteredFlow> {
        match flow.is_versioned {
            true => self.flows().register(&flow.definition).await,
            false => self.flows().register_changed(&flow.definition).await,
        }
    }

    /// The flows that the processes of this instance form.
    pub fn composed(&self) -> Composed {
        let processes = self.processes().own();
        let composable: Vec<Composable<'_>> = processes
            .iter()
            .map(|process| Composable {
                id: &process.id,
                config: &process.config.raw,
            })
            .collect();
        compose(&composable)
    }
}

/// Forms flows of processes.
pub fn compose(processes: &[Composable<'_>]) -> Composed {
    let mut composed = Composed::default();
    let mut parts: Vec<Part> = Vec::new();
    for process in processes {
        match read(process, &mut composed.issues) {
            Ok(found) => parts.extend(found),
            Err(message) => composed.issues.push(issue(process.id, message)),
        }
    }
    composed
        .warnings
        .extend(parts.iter().flat_map(Part::in_vain));
    let named: BTreeSet<String> = parts.iter().flat_map(|part| part.names.clone()).collect();
    let mut flows: BTreeMap<String, &Part> = BTreeMap::new();
    // Flows with two entries.
    let mut entries: Vec<(String, ConfigIssue)> = Vec::new();
    for part in parts.iter().filter(|part| part.is_entry) {
        // A step that another one names is no entry, unless its config says so.
        let id = match &part.flow {
            Some(_) if !part.has_role && is_named(part, &parts) => continue,
            Some(flow) => flow.clone(),
            None if named.contains(&part.step) => continue,
            None => part.step.clone(),
        };
        let first = *flows.entry(id.clone()).or_insert(part);
        if first.process != part.process {
            let both = format!("{} and {}", first.process, part.process);
            let message = format!("flow {id:?} has two entries: {both}");
            entries.push((id, issue(&part.process, message)));
        }
    }
    for part in parts.iter().filter(|part| !part.is_entry) {
        let missing = part.flow.as_ref().filter(|flow| !flows.contains_key(*flow));
        if let Some(flow) = missing {
            let message =
                format!("no process is the entry of flow {flow:?}: one must say role entry");
            let issue = issue(&part.process, message);
            composed.incomplete.push((flow.clone(), issue));
        }
    }
    for (id, entry) in &flows {
        let members = members(id, entry, &parts);
        let mut made = flow(id, entry, &members.steps);
        let two = entries.iter().filter(|(flow, _)| flow == id);
        made.disputed.extend(two.map(|(_, issue)| issue.clone()));
        made.disputed.extend(doubles(id, &members));
        composed.issues.extend(made.disputed.iter().cloned());
        composed.flows.push(made);
    }
    composed.tell_left_out(&parts, &flows);
    composed
}

/// Whether another part of the same flow names this one's step, as one that undoes or as one that
/// is entered when an await times out.
fn is_named(part: &Part, parts: &[Part]) -> bool {
    parts.iter().any(|other| {
        let is_same = other.flow.is_none() || other.flow == part.flow;
        is_same && other.step != part.step && other.names.contains(&part.step)
    })
}

fn issue(process: &str, message: String) -> ConfigIssue {
    ConfigIssue {
        path: format!("{process}.flow"),
        message,
    }
}
