//! Flows made of processes: which of them belong together, by what their configs say.
//!
//! A process says that it is a step by `flow` (the unified form) or by `step`, `subscriptions` and
//! `await` at the top level (the older form). One that nothing in its own config enters is the
//! entry of a flow. One that names its flow belongs to that flow; one that names none belongs to
//! every flow in which an event that it subscribes to is emitted.

use std::collections::{BTreeMap, BTreeSet};

use riverrun_types::{Await, Json, Subscription};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::work::{ConfigIssue, meant, meant_within};

/// A process as this sees it.
#[derive(Clone, Copy)]
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
    /// What may be meant otherwise.
    pub warnings: Vec<ConfigIssue>,
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
    /// Why it may be meant otherwise: two entries, two processes for one step. They are among the
    /// issues too.
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

/// The words of `flow`: those of [`Written`].
const MEMBERS: &[&str] = &[
    "await",
    "compensation",
    "emits",
    "id",
    "join",
    "onFailure",
    "role",
    "step",
    "subscriptions",
    "triggers",
    "version",
];

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
    #[serde(untagged, expecting = "must be a text or a list of texts")]
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
        match read(process, &mut composed.issues) {
            Ok(found) => parts.extend(found),
            Err(message) => composed.issues.push(issue(process.id, message)),
        }
    }
    let named: BTreeSet<String> = parts.iter().flat_map(|part| part.names.clone()).collect();
    let mut flows: BTreeMap<String, &Part> = BTreeMap::new();
    // Those of which there are two.
    let mut entries: Vec<(String, ConfigIssue)> = Vec::new();
    for part in parts.iter().filter(|part| part.is_entry) {
        // A step that another one leads to by its name is no beginning, unless it says so.
        let id = match &part.flow {
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

fn issue(process: &str, message: String) -> ConfigIssue {
    ConfigIssue {
        path: format!("{process}.flow"),
        message,
    }
}

impl Composed {
    /// Tells of the parts that belong to no flow although no fault of theirs was told: nobody would
    /// ever see why they do not run.
    fn tell_left_out(&mut self, parts: &[Part], flows: &BTreeMap<String, &Part>) {
        let is_in = |part: &Part, flow: &ComposedFlow| {
            let step = &flow.definition["steps"][part.step.as_str()];
            let is_its = part
                .flow
                .as_ref()
                .is_none_or(|id| flow.definition["id"] == **id);
            is_its && step["config"]["process"] == *part.process
        };
        let told = |part: &Part| {
            let own = format!("{}.flow", part.process);
            self.issues.iter().any(|issue| issue.path == own)
        };
        let emitted: BTreeSet<&str> = parts
            .iter()
            .flat_map(|part| &part.emits)
            .map(String::as_str)
            .collect();
        let emitted: Vec<&str> = emitted.into_iter().collect();
        let is_left_out = |part: &&Part| {
            let is_missing = part.flow.as_ref().is_some_and(|id| !flows.contains_key(id));
            !is_missing && !told(part) && !self.flows.iter().any(|flow| is_in(part, flow))
        };
        let (mut issues, mut warnings) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(is_left_out) {
            // No flow validates what it says of events.
            match unread(&part.definition) {
                Some(message) => issues.push(issue(&part.process, message)),
                None => warnings.push(issue(&part.process, part.why_left_out(&emitted))),
            }
        }
        self.issues.extend(issues);
        self.warnings.extend(warnings);
    }
}

impl Part {
    fn why_left_out(&self, emitted: &[&str]) -> String {
        let step = &self.step;
        if self.hears.is_empty() {
            return format!("step {step:?} is in no flow: no step of one leads to it");
        }
        let kinds = self.hears.iter().map(|kind| {
            let meant = match emitted.contains(&kind.as_str()) {
                true => String::new(),
                false => meant(kind, emitted),
            };
            format!("{kind:?}{meant}")
        });
        let kinds: Vec<String> = kinds.collect();
        format!(
            "step {step:?} is in no flow: no step of one emits {}",
            kinds.join(", ")
        )
    }
}

/// What cannot be read of what a step says of events.
fn unread(definition: &Value) -> Option<String> {
    fn check<T: serde::de::DeserializeOwned>(key: &str, value: Option<&Value>) -> Option<String> {
        let error = serde_path_to_error::deserialize::<_, T>(value?).err()?;
        let below = match error.path().to_string() {
            below if below == "." => String::new(),
            below if below.starts_with('[') => below,
            below => format!(".{below}"),
        };
        let message = meant_within(&error.inner().to_string());
        Some(format!("{key}{below}: {message}"))
    }
    let own = |key: &str| definition.get(key);
    check::<Vec<Subscription>>("subscriptions", own("subscriptions"))
        .or_else(|| check::<Await>("await", own("await")))
}

fn read(process: &Composable<'_>, issues: &mut Vec<ConfigIssue>) -> Result<Vec<Part>, String> {
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

/// Whether a config says by name which flow its process belongs to.
pub(crate) fn names_flow(config: &Json) -> bool {
    let names = |flow: &Value| flow.is_string() || flow["id"].is_string();
    match config.get("flow").map(|flow| flow.value()) {
        Some(Value::Array(flows)) => flows.iter().any(names),
        Some(flow) => names(&flow),
        None => false,
    }
}

/// The words in what a config says of a flow that mean nothing.
fn strangers(process: &str, flow: &Value) -> Vec<ConfigIssue> {
    let keys = flow.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !MEMBERS.contains(&key.as_str()))
        .map(|key| ConfigIssue {
            path: format!("{process}.flow.{key}"),
            message: format!("is no setting{}", meant(key, MEMBERS)),
        })
        .collect()
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
    let written: Written = serde_json::from_value(Value::Object(merged.clone()))
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

/// The parts of a flow.
struct Members<'a> {
    steps: Vec<&'a Part>,
    /// Those that belong to it too, but whose step is another's already.
    doubles: Vec<&'a Part>,
}

fn doubles(id: &str, members: &Members<'_>) -> Vec<ConfigIssue> {
    let double = |part: &&Part| {
        let first = members.steps.iter().find(|first| first.step == part.step)?;
        let (step, other) = (&part.step, &first.process);
        let message = format!("step {step:?} of flow {id:?} is process {other} already");
        Some(issue(&part.process, message))
    };
    members.doubles.iter().filter_map(double).collect()
}

/// The parts that belong to the flow that begins with an entry: all that its events lead to.
fn members<'a>(id: &str, entry: &'a Part, parts: &'a [Part]) -> Members<'a> {
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
            let is_heard = || part.hears.iter().any(|kind| emitted.contains(kind));
            named.contains(&part.step) || !part.is_entry && (part.flow.is_some() || is_heard())
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

fn flow(id: &str, entry: &Part, members: &[&Part]) -> ComposedFlow {
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
        disputed: Vec::new(),
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
            &[("f", &["a"])],
        );
        assert_eq!(composed.issues.len(), 3, "{:?}", composed.issues);
    }

    fn told(issues: &[ConfigIssue]) -> Vec<String> {
        let line = |issue: &ConfigIssue| format!("{}: {}", issue.path, issue.message);
        issues.iter().map(line).collect()
    }

    #[test]
    fn a_step_that_no_flow_leads_to_is_told() {
        let composed = check(
            &[
                (
                    "order",
                    json!({"step": "order", "emits": ["order.created"]}),
                ),
                (
                    "typo",
                    json!({"step": "typo", "subscriptions": [{"eventKind": "ordr.created"}]}),
                ),
                (
                    "worse",
                    json!({"step": "worse", "subscriptions": [{"evntKind": "order.created"}]}),
                ),
                (
                    "late",
                    json!({"step": "late", "subscriptions": [{"eventKind": "no"}], "await": {"type": "event", "eventkind": "x"}}),
                ),
            ],
            &[("order", &["order"])],
        );
        assert_eq!(
            told(&composed.warnings),
            [
                "typo.flow: step \"typo\" is in no flow: no step of one emits \"ordr.created\"; did you mean order.created?"
            ]
        );
        let issues = told(&composed.issues);
        assert_eq!(issues.len(), 2, "{issues:?}");
        assert!(
            issues[0].starts_with("worse.flow: subscriptions[0]"),
            "{issues:?}"
        );
        assert!(issues[0].ends_with("did you mean eventKind?"), "{issues:?}");
        assert!(issues[1].starts_with("late.flow: await"), "{issues:?}");
        assert!(issues[1].ends_with("did you mean eventKind?"), "{issues:?}");
    }

    #[test]
    fn two_processes_for_one_step_are_told_and_the_first_is_taken() {
        let step = |emits: &str| json!({"flow": {"id": "f", "role": "step", "step": "same", "emits": [emits]}});
        let hears = json!({"step": "heard", "subscriptions": [{"eventKind": "x"}]});
        let composed = check(
            &[
                (
                    "a",
                    json!({"flow": {"id": "f", "role": "entry", "step": "a"}}),
                ),
                ("file1", step("x")),
                ("file2", step("y")),
                ("file3", step("z")),
                ("one", hears.clone()),
                ("two", hears),
            ],
            &[("f", &["a", "same", "heard"])],
        );
        assert_eq!(
            told(&composed.issues),
            [
                "file2.flow: step \"same\" of flow \"f\" is process file1 already",
                "file3.flow: step \"same\" of flow \"f\" is process file1 already",
                "two.flow: step \"heard\" of flow \"f\" is process one already",
            ]
        );
        assert!(composed.warnings.is_empty(), "{:?}", composed.warnings);
        let same = &composed.flows[0].definition["steps"]["same"];
        assert_eq!(same["config"]["process"], "file1");
    }

    #[test]
    fn words_that_mean_nothing_are_told_with_what_was_meant() {
        let composed = check(
            &[(
                "a",
                json!({"flow": {"id": "f", "role": "entry", "emit": ["x"], "subscription": [], "onfailure": "finish"}}),
            )],
            &[("f", &["a"])],
        );
        assert_eq!(
            told(&composed.issues),
            [
                "a.flow.emit: is no setting; did you mean emits?",
                "a.flow.subscription: is no setting; did you mean subscriptions?",
                "a.flow.onfailure: is no setting; did you mean onFailure?",
            ]
        );
    }
}
