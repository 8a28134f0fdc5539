//! Flows that the processes of workers form, each worker's with each other and with those of the
//! other connected workers.
//!
//! A step of one worker belongs to a flow that another begins if its config names the flow. The
//! flows that workers form are kept: a worker that disconnects removes none of its steps, which
//! wait for it, and is read anew when it is back. A contradiction is reported, and the flow stays
//! as it was.

use std::collections::{BTreeMap, BTreeSet};

use riverrun_engine::Severity;
use riverrun_protocol::{Fault, NotLoaded};
use riverrun_types::{ErrorCode, Json};
use serde_json::{Value, json};

use super::{Composable, ComposedFlow, Composer, compose, part::names_flow};
use crate::{
    base::{Error, Result},
    flows::{RegisteredFlow, newest},
};

/// The tag of flows that workers form together.
const TOGETHER: &str = "workers";

/// The result for the flows that the processes of a worker form.
#[derive(Default)]
pub struct Made {
    pub flows: Vec<MadeFlow>,
    pub faults: Vec<Fault>,
}

pub struct MadeFlow {
    pub registered: RegisteredFlow,
    /// The processes of its steps, if other workers have some of them.
    pub shared: Vec<String>,
}

/// The processes that a worker offers, and all others.
struct Offer<'a> {
    own: BTreeSet<&'a str>,
    /// Of all workers and of this instance.
    all: BTreeSet<String>,
}

impl Composer {
    /// Registers the flows that the processes of one worker form, together with those of the
    /// `others` that name a flow. A flow that this instance forms itself does not change, nor does
    /// one that a `broken` file of the worker belongs to.
    pub async fn register_offered(
        &self,
        processes: &[Composable<'_>],
        others: &[Composable<'_>],
        broken: &[NotLoaded],
    ) -> Made {
        let mut made = Made::default();
        let alone = compose(processes);
        if alone.is_empty() {
            return made;
        }
        let ours = self.composed().flows.into_iter();
        let ours: BTreeMap<String, Value> = ours.map(|flow| (flow.id(), flow.definition)).collect();
        for issue in &alone.issues {
            made.faults.push(Fault {
                code: ErrorCode::ProcessInvalid.into(),
                message: format!("{}: {}", issue.path, issue.message),
                flow: None,
            });
        }
        let offer = self.offer(processes, others);
        let together = compose(&beside(processes, others)).flows;
        let is_ours = |flow: &&ComposedFlow| flow.processes().any(|id| offer.own.contains(id));
        let together: Vec<&ComposedFlow> = together.iter().filter(is_ours).collect();
        for (flow, issue) in &alone.incomplete {
            if let Some(why) = self.entry_held_back(flow, broken) {
                made.faults.push(held(flow, why));
            } else if ours.contains_key(flow) {
                made.faults.push(our_own(flow));
            } else if !together.iter().any(|made| made.id() == *flow)
                && !self.is_known_with(flow, processes)
            {
                made.faults.push(Fault {
                    code: ErrorCode::FlowIncomplete.into(),
                    message: format!("{}: {}", issue.path, issue.message),
                    flow: Some(flow.clone()),
                });
            }
        }
        for flow in together {
            let alone = alone.flows.iter().find(|alone| alone.id() == flow.id());
            if let Some(why) = self.held_back(flow, broken) {
                made.faults.push(held(&flow.id(), why));
                continue;
            }
            match ours.get(&flow.id()) {
                // Both have the same code.
                Some(known) if *known == flow.definition => {}
                Some(_) if alone.is_some() => made.faults.push(our_own(&flow.id())),
                // It was reported above.
                Some(_) => {}
                None => match self.register_flow(flow, alone, &offer).await {
                    Ok(registered) => made.flows.push(registered),
                    Err(fault) => made.faults.push(fault),
                },
            }
        }
        made
    }

    fn offer<'a>(&self, processes: &'a [Composable<'_>], others: &[Composable<'_>]) -> Offer<'a> {
        let here = self.processes().own();
        let here = here.iter().map(|process| process.id.to_string());
        let there = processes.iter().chain(others);
        Offer {
            own: processes.iter().map(|process| process.id).collect(),
            all: there.map(|it| it.id.to_owned()).chain(here).collect(),
        }
    }

    async fn register_flow(
        &self,
        flow: &ComposedFlow,
        alone: Option<&ComposedFlow>,
        offer: &Offer<'_>,
    ) -> std::result::Result<MadeFlow, Fault> {
        let id = flow.id();
        let or_fault = |done: Result<RegisteredFlow>| done.map_err(|error| fault(&id, &error));
        let known = self.newest_together(&flow.definition);
        let is_shared = flow.processes().any(|id| !offer.own.contains(id));
        match alone {
            // A worker that has the whole flow replaces one that had it.
            Some(alone) if known.is_none() && (!is_shared || !flow.disputed.is_empty()) => {
                return Ok(MadeFlow {
                    registered: or_fault(self.register_composed(alone).await)?,
                    shared: Vec::new(),
                });
            }
            _ => {}
        }
        if let Some(issue) = flow.disputed.first() {
            return Err(Fault {
                code: ErrorCode::FlowConflict.into(),
                message: format!(
                    "{}: {}, in another worker: flow {id:?} stays as it was",
                    issue.path, issue.message
                ),
                flow: Some(id),
            });
        }
        let mut definition = flow.definition.clone();
        definition["tags"] = json!([TOGETHER]);
        if let Some(known) = known {
            keep_absent(&mut definition, &known, offer);
        }
        let registered = or_fault(self.flows().register_changed(&definition).await)?;
        let shared = processes_of(&definition).map(str::to_owned).collect();
        Ok(MadeFlow { registered, shared })
    }

    /// The part of a flow that workers formed, in the newest form of a version.
    fn newest_together(&self, definition: &Value) -> Option<Value> {
        let version = definition["version"].as_str()?;
        let known = self
            .flows()
            .versions(definition["id"].as_str()?)
            .into_iter();
        let known: Vec<(String, Json)> = known
            .map(|entry| (entry.version.to_string(), entry.definition))
            .collect();
        let (_, newest) = newest(version, &known)?;
        let newest = newest.value();
        let is_together = newest["tags"].as_array()?.contains(&json!(TOGETHER));
        is_together.then_some(newest)
    }

    /// Whether workers have formed a flow together with the steps of these processes.
    fn is_known_with(&self, flow: &str, processes: &[Composable<'_>]) -> bool {
        let Some(newest) = self.flows().versions(flow).into_iter().next() else {
            return false;
        };
        let newest = newest.definition.value();
        let is_together = |tags: &Vec<Value>| tags.contains(&json!(TOGETHER));
        let offered: BTreeSet<&str> = processes.iter().map(|process| process.id).collect();
        newest["tags"].as_array().is_some_and(is_together)
            && processes_of(&newest).any(|id| offered.contains(id))
    }
}

/// The processes of a worker, and those of the others that name a flow: each once.
fn beside<'a>(processes: &[Composable<'a>], others: &[Composable<'a>]) -> Vec<Composable<'a>> {
    let mut all: Vec<Composable<'a>> = processes.to_vec();
    for other in others.iter().filter(|other| names_flow(other.config)) {
        if !all.iter().any(|known| known.id == other.id) {
            all.push(*other);
        }
    }
    all
}

/// Keeps the steps of disconnected workers, which wait for these. The config of a connected process
/// says itself if it is no step any more.
fn keep_absent(definition: &mut Value, known: &Value, offer: &Offer<'_>) {
    for (step, was) in known["steps"].as_object().into_iter().flatten() {
        let process = was["config"]["process"].as_str().unwrap_or_default();
        if definition["steps"].get(step).is_none() && !offer.all.contains(process) {
            definition["steps"][step] = was.clone();
        }
    }
}

pub(super) fn processes_of(definition: &Value) -> impl Iterator<Item = &str> {
    let steps = definition["steps"].as_object().into_iter().flatten();
    steps.filter_map(|(_, step)| step["config"]["process"].as_str())
}

impl ComposedFlow {
    fn processes(&self) -> impl Iterator<Item = &str> {
        processes_of(&self.definition)
    }
}

fn held(flow: &str, why: String) -> Fault {
    Fault {
        code: ErrorCode::ProcessBroken.into(),
        message: why,
        flow: Some(flow.to_owned()),
    }
}

fn our_own(flow: &str) -> Fault {
    Fault {
        code: ErrorCode::FlowConflict.into(),
        message: format!(
            "the server makes flow {flow:?} of its own processes: those of the worker are no steps of it"
        ),
        flow: Some(flow.to_owned()),
    }
}

fn fault(flow: &str, error: &Error) -> Fault {
    let first = match error {
        Error::FlowInvalid(issues) => {
            let mut errors = issues.iter().filter(|it| it.severity == Severity::Error);
            errors
                .next()
                .map(|it| format!(": {}: {}", it.path, it.message))
        }
        _ => None,
    };
    Fault {
        code: error.code().into(),
        message: format!("flow {flow:?}: {error}{}", first.unwrap_or_default()),
        flow: Some(flow.to_owned()),
    }
}
