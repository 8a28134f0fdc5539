//! Flows made of processes: which of them belong together, by what their configs say.
//!
//! A process says that it is a step by `flow` (the unified form) or by `step`, `subscriptions` and
//! `await` at the top level (the older form). One that nothing in its own config enters is the
//! entry of a flow. One that names its flow belongs to that flow; one that names none belongs to
//! every flow in which an event that it subscribes to is emitted.

use std::collections::{BTreeMap, BTreeSet};

use riverrun_types::Json;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::work::ConfigIssue;

/// A process as this sees it.
pub struct Composable<'a> {
    pub id: &'a str,
    pub config: &'a Json,
}

/// What the processes make together.
#[derive(Debug, Default)]
pub struct Composed {
    pub flows: Vec<ComposedFlow>,
    pub issues: Vec<ConfigIssue>,
    /// Steps of flows that nothing here begins, with the flow that they name.
    pub incomplete: Vec<(String, ConfigIssue)>,
}

impl Composed {
    /// The processes are no steps of any flow.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.issues.is_empty() && self.incomplete.is_empty()
    }
}

#[derive(Debug)]
pub struct ComposedFlow {
    pub definition: Value,
    /// Whether a config gives the version; else every change makes one.
    pub is_versioned: bool,
}

impl ComposedFlow {
    pub fn id(&self) -> String {
        self.definition["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// What a config says of one flow.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    id: Option<String>,
    role: Option<Role>,
    step: Option<String>,
    version: Option<Value>,
    emits: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    triggers: Vec<String>,
    subscriptions: Vec<Value>,
    join: Option<Value>,
    #[serde(rename = "await")]
    awaits: Option<Value>,
    compensation: Option<Value>,
    on_failure: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Entry,
    Step,
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(input)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// A process in one of its parts.
struct Part {
    process: String,
    flow: Option<String>,
    is_entry: bool,
    step: String,
    version: Option<String>,
    on_failure: Option<Value>,
    emits: BTreeSet<String>,
    hears: BTreeSet<String>,
    /// Steps that it names.
    names: Vec<String>,
    definition: Value,
    input_schema: Option<Value>,
    state_schema: Option<Value>,
}

/// Makes flows of processes.
pub fn compose(processes: &[Composable<'_>]) -> Composed {
    let mut composed = Composed::default();
    let mut parts: Vec<Part> = Vec::new();
    for process in processes {
        match read(process) {
            Ok(found) => parts.extend(found),
            Err(message) => composed.issues.push(ConfigIssue {
                path: format!("{}.flow", process.id),
                message,
            }),
        }
    }
    let named: BTreeSet<String> = parts.iter().flat_map(|part| part.names.clone()).collect();
    let mut flows: BTreeMap<String, &Part> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.is_entry) {
        // A step that another one leads to by its name is no beginning, unless it says so.
        let id = match &part.flow {
            Some(flow) => flow.clone(),
            None if named.contains(&part.step) => continue,
            None => part.step.clone(),
        };
        if let Some(other) = flows.insert(id.clone(), part) {
            composed.issues.push(ConfigIssue {
                path: format!("{}.flow", part.process),
                message: format!(
                    "flow {id:?} has two entries: {} and {}",
                    other.process, part.process
                ),
            });
        }
    }
    for part in parts.iter().filter(|part| !part.is_entry) {
        let missing = part.flow.as_ref().filter(|flow| !flows.contains_key(*flow));
        if let Some(flow) = missing {
            let issue = ConfigIssue {
                path: format!("{}.flow", part.process),
                message: format!(
                    "no process is the entry of flow {flow:?}: one must say role entry"
                ),
            };
            composed.incomplete.push((flow.clone(), issue));
        }
    }
    composed.flows = flows
        .into_iter()
        .map(|(id, entry)| flow(&id, entry, &parts))
        .collect();
    composed
}

fn read(process: &Composable<'_>) -> Result<Vec<Part>, String> {
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
        part(process.id, &config, flow)
    });
    parts.collect()
}

fn part(process: &str, config: &Map<String, Value>, flow: Value) -> Result<Part, String> {
    let Value::Object(flow) = flow else {
        return Err("a flow is a name, or an object with an id".to_owned());
    };
    // What stands at the top level holds for every flow that does not say otherwise.
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
    let written: Written =
        serde_json::from_value(Value::Object(merged.clone())).map_err(|error| error.to_string())?;
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
    let hears = subscriptions.iter().filter_map(kind).collect();
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
        step,
        version: written.version.map(|version| match version {
            Value::String(version) => version,
            other => other.to_string(),
        }),
        on_failure: written.on_failure,
        emits: written.emits.into_iter().collect(),
        hears,
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

/// The flow that begins with an entry, and all that its events lead to.
fn flow(id: &str, entry: &Part, parts: &[Part]) -> ComposedFlow {
    let is_ours = |part: &Part| match &part.flow {
        Some(flow) => flow == id,
        None => true,
    };
    let candidates: Vec<&Part> = parts.iter().filter(|part| is_ours(part)).collect();
    let mut members: Vec<&Part> = vec![entry];
    members.extend(
        candidates
            .iter()
            .filter(|part| !part.is_entry && part.flow.is_some()),
    );
    loop {
        let emitted: BTreeSet<&String> = members.iter().flat_map(|part| &part.emits).collect();
        let named: BTreeSet<&String> = members.iter().flat_map(|part| &part.names).collect();
        let joins = |part: &&&Part| {
            let is_member = members.iter().any(|member| member.step == part.step);
            let is_led_to = named.contains(&part.step)
                || !part.is_entry && part.hears.iter().any(|kind| emitted.contains(kind));
            !is_member && is_led_to
        };
        match candidates.iter().find(joins) {
            Some(part) => members.push(part),
            None => break,
        }
    }
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(processes: &[(&str, Value)], expected: &[(&str, &[&str])]) -> Composed {
        let configs: Vec<(&str, Json)> = processes
            .iter()
            .map(|(id, config)| (*id, Json::of(config)))
            .collect();
        let processes: Vec<Composable<'_>> = configs
            .iter()
            .map(|(id, config)| Composable { id, config })
            .collect();
        let composed = compose(&processes);
        let found: Vec<(String, Vec<String>)> = composed
            .flows
            .iter()
            .map(|flow| {
                let steps = flow.definition["steps"].as_object().unwrap();
                let id = flow.definition["id"].as_str().unwrap();
                (id.to_owned(), steps.keys().cloned().collect())
            })
            .collect();
        let expected: Vec<(String, Vec<String>)> = expected
            .iter()
            .map(|(id, steps)| {
                let steps = steps.iter().map(|step| (*step).to_owned());
                ((*id).to_owned(), steps.collect())
            })
            .collect();
        assert_eq!(found, expected, "{:?}", composed.issues);
        composed
    }

    /// The example of the specification: one step serves in two flows.
    #[test]
    fn steps_belong_to_every_flow_that_emits_what_they_hear() {
        let composed = check(
            &[
                (
                    "orders/create-order",
                    json!({"step": "create-order", "queue": "orders", "emits": ["order.created"]}),
                ),
                (
                    "orders/create-subscription",
                    json!({"step": "create-subscription", "emits": ["order.created"]}),
                ),
                (
                    "wait-for-payment",
                    json!({
                        "step": "wait-for-payment",
                        "subscriptions": [{"eventKind": "order.created", "when": {"$function": "(e) => e.data.total > 0"}}],
                        "await": {"type": "event", "eventKind": "payment.confirmed", "timeout": 1000, "onTimeout": "cancel-order"},
                        "emits": ["order.paid"],
                    }),
                ),
                ("cancel-order", json!({"step": "cancel-order"})),
                (
                    "fulfill",
                    json!({"step": "fulfill-order", "subscriptions": [{"eventKind": "order.paid"}]}),
                ),
                ("mail", json!({"queue": "mail"})),
            ],
            &[
                (
                    "create-order",
                    &[
                        "create-order",
                        "wait-for-payment",
                        "cancel-order",
                        "fulfill-order",
                    ],
                ),
                (
                    "create-subscription",
                    &[
                        "create-subscription",
                        "wait-for-payment",
                        "cancel-order",
                        "fulfill-order",
                    ],
                ),
            ],
        );
        assert!(composed.issues.is_empty(), "{:?}", composed.issues);
        let step = &composed.flows[0].definition["steps"]["wait-for-payment"];
        assert_eq!(step["subscriptions"][0]["when"], "(e) => e.data.total > 0");
        assert_eq!(step["config"]["process"], "wait-for-payment");
        assert!(!composed.flows[0].is_versioned);
    }

    #[test]
    fn the_unified_form_names_its_flow() {
        let composed = check(
            &[
                (
                    "a",
                    json!({"flow": {"id": "shop", "role": "entry", "step": "start", "emits": ["x"], "version": "2.1.0"}}),
                ),
                (
                    "b",
                    json!({"flow": [
                        {"id": "shop", "role": "step", "step": "next", "triggers": "x"},
                        {"id": "other", "role": "step", "step": "next", "triggers": ["y"]},
                    ]}),
                ),
                ("c", json!({"flow": "lone"})),
            ],
            &[("lone", &["c"]), ("shop", &["start", "next"])],
        );
        assert_eq!(composed.flows[1].definition["version"], "2.1.0");
        assert!(composed.flows[1].is_versioned);
        assert_eq!(composed.incomplete[0].0, "other");
    }

    #[test]
    fn two_entries_and_nonsense_are_told() {
        let composed = check(
            &[
                ("a", json!({"flow": {"id": "f", "role": "entry"}})),
                ("b", json!({"flow": {"id": "f", "role": "entry"}})),
                ("c", json!({"flow": 7})),
                ("d", json!({"flow": {"id": "f", "role": "chief"}})),
            ],
            &[("f", &["b"])],
        );
        assert_eq!(composed.issues.len(), 3, "{:?}", composed.issues);
    }
}
