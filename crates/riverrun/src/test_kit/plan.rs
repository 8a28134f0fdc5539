//! The flow that a test executes: which of its processes are steps of it, and where it begins.
//!
//! A test names its steps itself, so their configs need not name the flow: a step without one belongs
//! to the flow that is executed, even if no other step emits the events that it subscribes to.

use std::collections::BTreeSet;

use riverrun_protocol::{LoadedProcess, WorkError};
use riverrun_types::{ErrorCode, Json};
use serde_json::{Map, Value, json};

/// Which flow is played, as the test says.
#[derive(Default)]
pub struct Wanted {
    pub flow: Option<String>,
    pub entry: Option<String>,
}

/// The processes as steps of one flow.
#[derive(Debug)]
pub struct Planned {
    pub flow: String,
    /// Each process with the config that makes it a step.
    pub steps: Vec<(String, Json)>,
}

/// A process in one of the flows that it may be a step of.
struct Part {
    process: String,
    /// The config without `flow`, and what it says of this flow.
    config: Map<String, Value>,
    role: Map<String, Value>,
    step: String,
}

impl Part {
    fn flow(&self) -> Option<&str> {
        self.role.get("id").and_then(Value::as_str)
    }

    /// What the config says of the step, at the top level or of the flow.
    fn said(&self, key: &str) -> Option<&Value> {
        let said = self.role.get(key).or_else(|| self.config.get(key));
        said.filter(|value| !value.is_null())
    }

    fn is_entry(&self) -> bool {
        self.said("role").and_then(Value::as_str) == Some("entry")
    }

    fn is_entered(&self) -> bool {
        let any = |value: &Value| value.as_array().is_none_or(|list| !list.is_empty());
        ["subscriptions", "triggers"]
            .iter()
            .any(|key| self.said(key).is_some_and(any))
    }
}

pub fn plan(processes: &[LoadedProcess], wanted: &Wanted) -> Result<Planned, WorkError> {
    let all: Vec<Part> = processes.iter().flat_map(parts).collect();
    let (flow, parts, entry) = chosen(all, wanted)?;
    let mut seen = BTreeSet::new();
    let mut planned = Vec::new();
    for part in parts {
        if !seen.insert(part.step.clone()) {
            return Err(unclear(format!("two steps are called {}", part.step)));
        }
        let role = match part.step == entry {
            true => "entry",
            false => "step",
        };
        let mut of_flow = part.role;
        of_flow.insert("id".to_owned(), json!(flow));
        of_flow.insert("step".to_owned(), json!(part.step));
        of_flow.insert("role".to_owned(), json!(role));
        let mut config = part.config;
        config.insert("flow".to_owned(), Value::Object(of_flow));
        planned.push((part.process, Json::of(&config)));
    }
    Ok(Planned {
        flow,
        steps: planned,
    })
}

/// The flow that is asked for; else the one of the entry, the first that is named, or the one with
/// the only beginning.
fn chosen(all: Vec<Part>, wanted: &Wanted) -> Result<(String, Vec<Part>, String), WorkError> {
    let ids: Vec<&str> = all.iter().filter_map(Part::flow).collect();
    let begins = wanted.flow.as_ref().and_then(|flow| {
        let is_it = |part: &&Part| part.flow().is_none() && part.step == *flow;
        all.iter().find(is_it).map(|part| part.step.clone())
    });
    if let Some(flow) = &wanted.flow
        && !ids.is_empty()
        && !ids.contains(&flow.as_str())
        && begins.is_none()
    {
        let named = ids.join(", ");
        return Err(unclear(format!(
            "no step is part of the flow {flow}; they name {named}"
        )));
    }
    let of_entry = wanted.entry.as_ref().and_then(|entry| {
        let part = all.iter().find(|part| part.step == *entry)?;
        Some(part.flow().unwrap_or(entry).to_owned())
    });
    let first = ids.first().map(|id| (*id).to_owned());
    let id = wanted.flow.clone().or(of_entry).or(first);
    let is_part = |part: &Part| match (part.flow(), &id) {
        (Some(flow), Some(id)) => flow == id,
        _ => true,
    };
    let parts: Vec<Part> = all.into_iter().filter(is_part).collect();
    let entry = entry_of(&parts, wanted.entry.clone().or(begins))?;
    Ok((id.unwrap_or_else(|| entry.clone()), parts, entry))
}

/// Where runs begin: the step that says so, or the only one that no event enters and no step names.
fn entry_of(parts: &[Part], wanted: Option<String>) -> Result<String, WorkError> {
    let names = |parts: &[&Part]| {
        let names: Vec<&str> = parts.iter().map(|part| part.step.as_str()).collect();
        names.join(", ")
    };
    if let Some(wanted) = wanted {
        if !parts.iter().any(|part| part.step == wanted) {
            let all = names(&parts.iter().collect::<Vec<_>>());
            return Err(unclear(format!(
                "there is no step {wanted}; there are {all}"
            )));
        }
        return Ok(wanted);
    }
    let entries: Vec<&Part> = parts.iter().filter(|part| part.is_entry()).collect();
    let named = |key: &'static str, member: &'static str| {
        parts
            .iter()
            .filter_map(move |part| part.said(key)?.get(member)?.as_str())
    };
    let led: BTreeSet<&str> = named("compensation", "step")
        .chain(named("await", "onTimeout"))
        .collect();
    let begins = |part: &&Part| !part.is_entered() && !led.contains(part.step.as_str());
    let candidates = match entries.is_empty() {
        true => parts.iter().filter(begins).collect(),
        false => entries,
    };
    match candidates.as_slice() {
        [only] => Ok(only.step.clone()),
        several => {
            let names = names(several);
            let names = if names.is_empty() { "no step" } else { &names };
            Err(unclear(format!(
                "it is not clear where the flow begins ({names}): give entry"
            )))
        }
    }
}

fn parts(process: &LoadedProcess) -> Vec<Part> {
    let id = process.id.clone().unwrap_or_default();
    let mut config = match process.config.value() {
        Value::Object(config) => config,
        _ => Map::new(),
    };
    let flows = match config.remove("flow") {
        None | Some(Value::Null) => vec![json!({})],
        Some(Value::Array(flows)) => flows,
        Some(flow) => vec![flow],
    };
    let parts = flows.into_iter().map(|flow| {
        let role = match flow {
            Value::Object(role) => role,
            Value::String(id) => Map::from_iter([("id".to_owned(), json!(id))]),
            _ => Map::new(),
        };
        let named = role.get("step").or_else(|| config.get("step"));
        let step = named.and_then(Value::as_str).unwrap_or(&id).to_owned();
        Part {
            process: id.clone(),
            config: config.clone(),
            role,
            step,
        }
    });
    parts.collect()
}

fn unclear(message: String) -> WorkError {
    WorkError::new(ErrorCode::FlowIncomplete, message).permanent()
}
