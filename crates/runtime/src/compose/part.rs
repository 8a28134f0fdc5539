//! The flow settings in a process's config: its parts, one for each flow that it may be a step of.

use std::collections::BTreeSet;

use riverrun_contract::{ConfigIssue, meant_within};
use riverrun_engine::meant;
use riverrun_types::{Json, json::strict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Composable;

/// A process in one of its parts.
pub(super) struct Part {
    pub(super) process: String,
    pub(super) flow: Option<String>,
    pub(super) is_entry: bool,
    /// Whether the config sets that (`role`); otherwise a part without subscriptions is an entry
    /// unless another one names its step.
    pub(super) has_role: bool,
    pub(super) step: String,
    pub(super) version: Option<String>,
    pub(super) on_failure: Option<Value>,
    pub(super) limits: Option<Value>,
    pub(super) emits: BTreeSet<String>,
    pub(super) subscribes: BTreeSet<String>,
    /// Steps that it names.
    pub(super) names: Vec<String>,
    pub(super) definition: Value,
    pub(super) input_schema: Option<Value>,
    pub(super) state_schema: Option<Value>,
}

impl Part {
    /// Its settings for a flow that another process begins: only the entry's count.
    pub(super) fn in_vain(&self) -> Vec<ConfigIssue> {
        let of_flow = [("onFailure", &self.on_failure), ("limits", &self.limits)];
        let said = of_flow.into_iter().filter(|(_, value)| value.is_some());
        let said = said.filter(|_| !self.is_entry).map(|(key, _)| ConfigIssue {
            path: format!("{}.flow.{key}", self.process),
            message: format!(
                "is not heeded: step {:?} does not begin the flow, and {key} is what its entry says",
                self.step
            ),
        });
        said.collect()
    }
}

pub(super) fn read(
    process: &Composable<'_>,
    issues: &mut Vec<ConfigIssue>,
) -> Result<Vec<Part>, String> {
    let config = process.config.value();
    let Value::Object(config) = config else {
        return Ok(Vec::new());
    };
    let own = |key: &str| config.contains_key(key);
    let is_part = own("flow") || own("step") || own("subscriptions") || own("await");
    let runs_as_flow = config.get("runMode").and_then(Value::as_str) == Some("flow");
    if !is_part && !runs_as_flow {
        return Ok(Vec::new());
    }
    let flows = match config.get("flow") {
        None | Some(Value::Null) => vec![json!({})],
        Some(Value::String(id)) => vec![json!({ "id": id })],
        Some(Value::Array(flows)) => flows.clone(),
        Some(flow) => vec![flow.clone()],
    };
    let parts = flows.into_iter().map(|flow| {
        let flow = match flow {
            Value::String(id) => json!({ "id": id }),
            flow => flow,
        };
        issues.extend(strangers(process.id, &flow));
        part(process.id, &config, flow)
    });
    parts.collect()
}

/// Whether a config names the flow of its process.
pub(super) fn names_flow(config: &Json) -> bool {
    let names = |flow: &Value| flow.is_string() || flow["id"].is_string();
    match config.get("flow").map(|flow| flow.value()) {
        Some(Value::Array(flows)) => flows.iter().any(names),
        Some(flow) => names(&flow),
        None => false,
    }
}

/// The words of `flow`: those of [`Written`].
const MEMBERS: &[&str] = &[
    "await",
    "compensation",
    "emits",
    "id",
    "join",
    "limits",
    "onFailure",
    "role",
    "step",
    "subscriptions",
    "triggers",
    "version",
];

/// The settings for one flow.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    id: Option<String>,
    role: Option<Role>,
    step: Option<String>,
    version: Option<Value>,
    emits: Vec<String>,
    #[serde(deserialize_with = "riverrun_types::flow::one_or_many")]
    triggers: Vec<String>,
    subscriptions: Vec<Value>,
    join: Option<Value>,
    #[serde(rename = "await")]
    awaits: Option<Value>,
    compensation: Option<Value>,
    limits: Option<Value>,
    on_failure: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Entry,
    Step,
}

/// The unknown words in the settings for a flow.
fn strangers(process: &str, flow: &Value) -> Vec<ConfigIssue> {
    let keys = flow.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !MEMBERS.contains(&key.as_str()))
        .map(|key| ConfigIssue {
            path: format!("{process}.flow.{key}"),
            message: format!("is not a setting{}", meant(key, MEMBERS)),
        })
        .collect()
}

fn part(process: &str, config: &Map<String, Value>, flow: Value) -> Result<Part, String> {
    let Value::Object(flow) = flow else {
        return Err("a flow is a name, or an object with an id".to_owned());
    };
    // Settings at the top level hold for every flow that does not override them.
    let mut merged: Map<String, Value> = config
        .iter()
        .filter(|(key, _)| key.as_str() != "flow")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    merged.remove("id");
    merged.extend(flow);
    for value in merged.values_mut() {
        plain(value);
    }
    let written: Written = strict::from_value(Value::Object(merged.clone()))
        .map_err(|error| meant_within(&error.to_string()))?;
    let last = process.rsplit('/').next().unwrap_or(process);
    let step = written
        .step
        .clone()
        .unwrap_or_else(|| last.replace('.', "-"));
    let mut subscriptions = written.subscriptions.clone();
    let by_kind = |kind: &String| json!({ "eventKind": kind });
    subscriptions.extend(written.triggers.iter().map(by_kind));
    let is_entry = match written.role {
        Some(role) => role == Role::Entry,
        None => subscriptions.is_empty(),
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let kind = |subscription: &Value| text(subscription.get("eventKind"));
    let subscribes = subscriptions.iter().filter_map(kind).collect();
    let names = [
        written
            .awaits
            .as_ref()
            .and_then(|a| text(a.get("onTimeout"))),
        written
            .compensation
            .as_ref()
            .and_then(|c| text(c.get("step"))),
    ];
    let mut definition = json!({"type": "process", "config": {"process": process}});
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            definition[key] = value;
        }
    };
    let some = |list: Vec<Value>| (!list.is_empty()).then_some(Value::from(list));
    set("subscriptions", some(subscriptions));
    set(
        "emits",
        some(written.emits.iter().map(|kind| json!(kind)).collect()),
    );
    set("join", written.join.clone());
    set("await", written.awaits.clone());
    set("compensation", written.compensation.clone());
    set("timeoutMs", config.get("timeoutMs").cloned());
    Ok(Part {
        process: process.to_owned(),
        flow: written.id,
        is_entry,
        has_role: written.role.is_some(),
        step,
        version: written.version.map(|version| match version {
            Value::String(version) => version,
            other => other.to_string(),
        }),
        on_failure: written.on_failure,
        limits: written.limits,
        emits: written.emits.into_iter().collect(),
        subscribes,
        names: names.into_iter().flatten().collect(),
        definition,
        input_schema: config.get("inputSchema").cloned(),
        state_schema: config.get("state").cloned(),
    })
}

/// Functions are their source.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => match object.get("$function").and_then(Value::as_str) {
            Some(source) => *value = Value::from(source),
            None => object.values_mut().for_each(plain),
        },
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}
