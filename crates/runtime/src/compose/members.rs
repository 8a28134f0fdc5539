//! The parts of one flow, and the definition that they form.

use std::collections::BTreeSet;

use riverrun_contract::ConfigIssue;
use serde_json::{Map, Value, json};

use super::{ComposedFlow, issue, part::Part};

/// The parts of a flow.
pub(super) struct Members<'a> {
    pub(super) steps: Vec<&'a Part>,
    /// Those that belong to it too, but whose step name is already taken.
    pub(super) doubles: Vec<&'a Part>,
}

/// The parts of the flow that begins with an entry: all that its events lead to.
pub(super) fn members<'a>(id: &str, entry: &'a Part, parts: &'a [Part]) -> Members<'a> {
    let is_ours = |part: &Part| match &part.flow {
        Some(flow) => flow == id,
        None => true,
    };
    let mut candidates: Vec<&Part> = parts.iter().filter(|part| is_ours(part)).collect();
    candidates.retain(|part| !std::ptr::eq(*part, entry));
    let (mut steps, mut doubles) = (vec![entry], Vec::new());
    loop {
        let emitted: BTreeSet<&String> = steps.iter().flat_map(|part| &part.emits).collect();
        let named: BTreeSet<&String> = steps.iter().flat_map(|part| &part.names).collect();
        let joins = |part: &&Part| {
            let is_subscribed = || part.subscribes.iter().any(|kind| emitted.contains(kind));
            named.contains(&part.step) || !part.is_entry && (part.flow.is_some() || is_subscribed())
        };
        let Some(at) = candidates.iter().position(joins) else {
            return Members { steps, doubles };
        };
        let part = candidates.remove(at);
        match steps.iter().any(|member| member.step == part.step) {
            true => doubles.push(part),
            false => steps.push(part),
        }
    }
}

pub(super) fn doubles(id: &str, members: &Members<'_>) -> Vec<ConfigIssue> {
    let double = |part: &&Part| {
        let first = members.steps.iter().find(|first| first.step == part.step)?;
        let (step, other) = (&part.step, &first.process);
        let message = format!("step {step:?} of flow {id:?} is process {other} already");
        Some(issue(&part.process, message))
    };
    members.doubles.iter().filter_map(double).collect()
}

pub(super) fn flow(id: &str, entry: &Part, members: &[&Part]) -> ComposedFlow {
    let steps: Map<String, Value> = members
        .iter()
        .map(|part| (part.step.clone(), part.definition.clone()))
        .collect();
    let mut definition = json!({
        "id": id,
        "version": entry.version.as_deref().unwrap_or("1.0.0"),
        "initialStepId": entry.step,
        "steps": steps,
    });
    for (key, value) in [
        ("onFailure", &entry.on_failure),
        ("limits", &entry.limits),
        ("inputSchema", &entry.input_schema),
        ("stateSchema", &entry.state_schema),
    ] {
        if let Some(value) = value {
            definition[key] = value.clone();
        }
    }
    ComposedFlow {
        definition,
        is_versioned: entry.version.is_some(),
        disputed: Vec::new(),
    }
}
