//! Everything that is wrong with a definition, at once.

mod heard;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::OnceLock,
};

use riverrun_types::{EventType, Path, Selector, time};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{PROCESS, Schema, SchemaIssue, Select};

/// One thing to say about a definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Issue {
    /// A dot path into the definition.
    pub path: String,
    pub rule: String,
    pub message: String,
    pub severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// The handlers whose result comes from branches or from another run.
const LATER: [&str; 3] = ["parallel", "map", "sub-flow"];

/// What validation has to know about handlers.
pub trait Catalog {
    fn is_known(&self, handler: &str) -> bool;
    /// Every handler's type, for messages.
    fn known(&self) -> Vec<String>;
    /// What is wrong with a config; paths are relative to it.
    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue>;
    /// The steps that a config leads to, with the path that names each.
    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)>;
    /// What is wrong with an expression.
    fn expression_issue(&self, source: &str) -> Option<String> {
        let _ = source;
        None
    }
}

/// The schema of definitions, for editors and for validation.
pub fn flow_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA
        .get_or_init(|| serde_json::from_str(include_str!("flow.schema.json")).unwrap_or_default())
}

fn compiled_schema() -> &'static Result<Schema, String> {
    static SCHEMA: OnceLock<Result<Schema, String>> = OnceLock::new();
    SCHEMA.get_or_init(|| Schema::compile(flow_schema()))
}

/// Whether a definition must be refused.
pub fn errors(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| issue.severity == Severity::Error)
}

pub fn validate(definition: &Value, catalog: &dyn Catalog) -> Vec<Issue> {
    let mut check = Check {
        issues: Vec::new(),
        catalog,
    };
    check.structure(definition);
    if let Some(steps) = definition.get("steps").and_then(Value::as_object) {
        check.initial(definition, steps);
        for (name, step) in steps {
            check.step(name, step, steps);
        }
        check.reachable(definition, steps);
        check.issues.extend(heard::issues(steps));
    }
    check.flow(definition);
    check.issues
}

struct Check<'a> {
    issues: Vec<Issue>,
    catalog: &'a dyn Catalog,
}

impl Check<'_> {
    fn error(&mut self, path: impl Into<String>, rule: &str, message: impl Into<String>) {
        self.say(path, rule, message, Severity::Error);
    }

    fn say(
        &mut self,
        path: impl Into<String>,
        rule: &str,
        message: impl Into<String>,
        severity: Severity,
    ) {
        let (path, message) = (path.into(), message.into());
        self.issues.push(Issue {
            path,
            rule: rule.to_owned(),
            message,
            severity,
        });
    }

    fn structure(&mut self, definition: &Value) {
        match compiled_schema() {
            Ok(schema) => {
                for issue in schema.issues(definition) {
                    self.error(issue.path, &issue.rule, issue.message);
                }
            }
            Err(message) => self.error("", "schema", message.clone()),
        }
    }

    fn flow(&mut self, definition: &Value) {
        for field in ["inputSchema", "stateSchema"] {
            if let Some(Err(message)) = definition.get(field).map(Schema::compile) {
                self.error(field, "schema", message);
            }
        }
        if let Some(result) = definition.get("result").and_then(Value::as_str) {
            self.path("result", result);
        }
    }

    fn path(&mut self, at: &str, path: &str) {
        if !Path::new(path).is_valid() {
            self.error(
                at,
                "path",
                format!("{path:?} is not a dot path: a part is empty"),
            );
        }
    }

    fn initial(&mut self, definition: &Value, steps: &Map<String, Value>) {
        if let Some(initial) = definition.get("initialStepId").and_then(Value::as_str) {
            self.target("initialStepId", initial, steps);
        }
    }

    fn target(&mut self, at: &str, target: &str, steps: &Map<String, Value>) {
        if !steps.contains_key(target) {
            self.error(at, "target", format!("there is no step {target:?}"));
        }
    }

    fn step(&mut self, name: &str, step: &Value, steps: &Map<String, Value>) {
        let at = format!("steps.{name}");
        if let Some(id) = step
            .get("id")
            .and_then(Value::as_str)
            .filter(|id| *id != name)
        {
            self.error(
                format!("{at}.id"),
                "id",
                format!("the id {id:?} differs from its key {name:?}"),
            );
        }
        if let Some(input) = step.get("input") {
            self.selector(&format!("{at}.input"), input);
        }
        if let Some(key) = step.get("outputKey").and_then(Value::as_str) {
            self.path(&format!("{at}.outputKey"), key);
        }
        if let Some(transitions) = step.get("transitions").and_then(Value::as_object) {
            for (transition, target) in transitions {
                if let Some(target) = target.as_str() {
                    self.target(&format!("{at}.transitions.{transition}"), target, steps);
                }
            }
        }
        self.events(&at, step, steps);
        if let Some(handler) = step.get("type").and_then(Value::as_str) {
            self.handler(&at, handler, step.get("config"), steps);
        }
    }

    /// What a step has to do with events.
    fn events(&mut self, at: &str, step: &Value, steps: &Map<String, Value>) {
        let subscriptions = step.get("subscriptions").and_then(Value::as_array);
        for (number, subscription) in subscriptions.into_iter().flatten().enumerate() {
            for field in ["when", "map"] {
                let path = format!("{at}.subscriptions.{number}.{field}");
                self.expression(path, subscription.get(field));
            }
            let path = format!("{at}.subscriptions.{number}.eventKind");
            self.emitted(path, subscription.get("eventKind"));
        }
        self.emits(at, step);
        self.pause(at, step);
        if let Some(awaits) = step.get("await") {
            self.emitted(format!("{at}.await.eventKind"), awaits.get("eventKind"));
            self.expression(format!("{at}.await.where"), awaits.get("where"));
            if let Some(target) = awaits.get("onTimeout").and_then(Value::as_str) {
                self.target(&format!("{at}.await.onTimeout"), target, steps);
            }
            for field in ["timeout", "lookback", "delay"] {
                let text = awaits.get(field).and_then(Value::as_str);
                if let Some(text) = text.filter(|text| (field, *text) != ("lookback", "run")) {
                    self.duration(format!("{at}.await.{field}"), text, field == "delay");
                }
            }
        }
        let undo = step.get("compensation").and_then(|undo| undo.get("step"));
        if let Some(target) = undo.and_then(Value::as_str) {
            self.target(&format!("{at}.compensation.step"), target, steps);
        }
        match step.get("compensation").and_then(|undo| undo.get("on")) {
            Some(Value::Array(kinds)) => {
                for (number, kind) in kinds.iter().enumerate() {
                    self.emitted(format!("{at}.compensation.on.{number}"), Some(kind));
                }
            }
            one => self.emitted(format!("{at}.compensation.on"), one),
        }
    }

    /// A handler that leaves its result to others has none from which a delay could be told.
    fn pause(&mut self, at: &str, step: &Value) {
        let handler = step.get("type").and_then(Value::as_str);
        let delay = step.get("await").and_then(|awaits| awaits.get("delay"));
        let delay = delay.and_then(Value::as_str);
        if let (Some(handler), Some(delay)) = (handler.filter(|h| LATER.contains(h)), delay)
            && time::duration_ms(delay).is_none()
        {
            let message = format!(
                "a step of the type {handler} takes a duration, not a function: its result comes from other steps"
            );
            self.error(format!("{at}.await.delay"), "duration", message);
        }
    }

    /// What a built-in handler emits is written as it stands. What a process may emit is judged when
    /// it does.
    fn emits(&mut self, at: &str, step: &Value) {
        let kinds = step.get("emits").and_then(Value::as_array);
        let kinds = kinds.filter(|_| step.get("type").is_none_or(|handler| handler != PROCESS));
        for (number, kind) in kinds.into_iter().flatten().enumerate() {
            let kind = kind.as_str().and_then(EventType::checked);
            if let Some(kind) = kind.filter(|kind| !kind.is_free()) {
                let message = format!("only the server writes events of the type {kind}");
                self.error(format!("{at}.emits.{number}"), "reserved", message);
            }
        }
    }

    /// A kind of event that can come: what riverrun itself writes enters no step and ends no wait.
    fn emitted(&mut self, at: String, kind: Option<&Value>) {
        let kind = kind.and_then(Value::as_str).map(EventType::parse);
        if let Some(kind) = kind.filter(|kind| !kind.is_emitted()) {
            let message = format!(
                "{kind} is written by riverrun itself, and never comes to a step: emit an event of your own, or have a trigger on it start a flow"
            );
            self.error(at, "kind", message);
        }
    }

    /// A duration within what a run can wait, or where it may be one an expression.
    fn duration(&mut self, at: String, text: &str, or_expression: bool) {
        match time::duration_ms(text) {
            Some(ms) if (0.0..=time::MAX_WAIT_MS as f64).contains(&ms) => {}
            Some(_) => {
                let message = format!("{text:?} is not between 0 and ten years");
                self.error(at, "duration", message);
            }
            None if or_expression => {
                if let Some(message) = self.catalog.expression_issue(text) {
                    let message = format!(
                        "{text:?} is neither a duration such as \"90s\" nor an expression: {message}"
                    );
                    self.error(at, "duration", message);
                }
            }
            None => {
                let message = format!("{text:?} is not a duration such as \"90s\" or \"1h 30m\"");
                self.error(at, "duration", message);
            }
        }
    }

    fn expression(&mut self, at: String, source: Option<&Value>) {
        let source = source.and_then(Value::as_str);
        if let Some(message) = source.and_then(|source| self.catalog.expression_issue(source)) {
            self.error(at, "expression", message);
        }
    }

    fn selector(&mut self, at: &str, input: &Value) {
        let selector = match Selector::from_value(input) {
            Ok(selector) => selector,
            Err(message) => return self.error(at, "selector", message),
        };
        if let Selector::Path(path) = &selector {
            self.path(&format!("{at}.path"), path);
        }
        if let Err(error) = Select::compile(&selector) {
            self.error(format!("{at}.template"), "template", error.to_string());
        }
    }

    fn handler(
        &mut self,
        at: &str,
        handler: &str,
        config: Option<&Value>,
        steps: &Map<String, Value>,
    ) {
        if !self.catalog.is_known(handler) {
            let known = self.catalog.known().join(", ");
            let message = format!("there is no handler {handler:?}; there are {known}");
            return self.error(format!("{at}.type"), "handler", message);
        }
        let empty = Value::Object(Map::new());
        let config = config.unwrap_or(&empty);
        for issue in self.catalog.config_issues(handler, config) {
            let path = match issue.path.as_str() {
                "" => format!("{at}.config"),
                path => format!("{at}.config.{path}"),
            };
            self.error(path, &issue.rule, issue.message);
        }
        for (path, target) in self.catalog.targets(handler, config) {
            self.target(&format!("{at}.config.{path}"), &target, steps);
        }
    }

    fn reachable(&mut self, definition: &Value, steps: &Map<String, Value>) {
        let Some(initial) = definition.get("initialStepId").and_then(Value::as_str) else {
            return;
        };
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut ahead = VecDeque::from([initial.to_owned()]);
        // An event may come from outside, whoever emits it here.
        let is_entered = |step: &Value| {
            let subscriptions = step.get("subscriptions").and_then(Value::as_array);
            subscriptions.is_some_and(|subscriptions| !subscriptions.is_empty())
        };
        let entered = steps.iter().filter(|(_, step)| is_entered(step));
        ahead.extend(entered.map(|(name, _)| name.clone()));
        while let Some(name) = ahead.pop_front() {
            let Some(step) = steps.get(&name) else {
                continue;
            };
            if reached.insert(name) {
                ahead.extend(self.successors(step));
            }
        }
        for name in steps.keys().filter(|name| !reached.contains(*name)) {
            let message = format!("nothing leads to step {name:?}");
            self.say(
                format!("steps.{name}"),
                "unreachable",
                message,
                Severity::Warning,
            );
        }
    }

    fn successors(&self, step: &Value) -> Vec<String> {
        let transitions = step.get("transitions").and_then(Value::as_object);
        let transitions = transitions.into_iter().flat_map(Map::values);
        let mut targets: Vec<String> = transitions
            .filter_map(|target| target.as_str().map(str::to_owned))
            .collect();
        let others = [("await", "onTimeout"), ("compensation", "step")];
        let other = |(part, field): (&str, &str)| step.get(part)?.get(field)?.as_str();
        targets.extend(others.into_iter().filter_map(other).map(str::to_owned));
        if let Some(handler) = step.get("type").and_then(Value::as_str) {
            let config = step
                .get("config")
                .cloned()
                .unwrap_or_else(|| Value::Object(Map::new()));
            let more = self.catalog.targets(handler, &config);
            targets.extend(more.into_iter().map(|(_, target)| target));
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    struct Handlers;

    impl Catalog for Handlers {
        fn is_known(&self, handler: &str) -> bool {
            handler == "set" || handler == "branch"
        }

        fn known(&self) -> Vec<String> {
            vec!["set".into(), "branch".into()]
        }

        fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue> {
            let missing = handler == "set" && config.get("value").is_none();
            let issue = SchemaIssue {
                path: String::new(),
                rule: "required".into(),
                message: "value is missing".into(),
            };
            if missing { vec![issue] } else { vec![] }
        }

        fn expression_issue(&self, source: &str) -> Option<String> {
            source
                .contains("((")
                .then(|| "it ends too early".to_owned())
        }

        fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)> {
            let goto = config.get("goto").and_then(Value::as_str);
            let goto = goto.filter(|_| handler == "branch");
            goto.map(|goto| ("goto".to_owned(), goto.to_owned()))
                .into_iter()
                .collect()
        }
    }

    fn check(definition: Value, expected: &[(&str, &str)]) {
        let issues = validate(&definition, &Handlers);
        let found: Vec<(&str, &str)> = issues
            .iter()
            .map(|issue| (issue.path.as_str(), issue.rule.as_str()))
            .collect();
        assert_eq!(found, expected, "{issues:#?}");
    }

    #[test]
    fn a_good_flow_has_no_issues() {
        check(
            json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
                "a": {"type": "branch", "config": {"goto": "b"}},
                "b": {"id": "b", "type": "set", "config": {"value": 1}, "input": {"type": "full"}},
            }}),
            &[],
        );
    }

    #[test]
    fn every_issue_is_found_at_once() {
        check(
            json!({"id": "bad id", "version": "1", "initialStepId": "nowhere", "extra": 1, "result": "a..b", "steps": {
                "a": {"id": "b", "type": "set", "outputKey": "x..y", "transitions": {"onSuccess": "gone", "onFailure": null},
                      "input": {"type": "template", "template": "${never"}, "retry": {"maxAttempts": 0}},
                "c": {"type": "nope", "input": {"type": "what"}},
                "d": {"type": "branch", "config": {"goto": "gone"}},
            }}),
            &[
                ("id", "pattern"),
                ("steps.a.retry.maxAttempts", "minimum"),
                ("", "additionalProperties"),
                ("initialStepId", "target"),
                ("steps.a.id", "id"),
                ("steps.a.input.template", "template"),
                ("steps.a.outputKey", "path"),
                ("steps.a.transitions.onSuccess", "target"),
                ("steps.a.config", "required"),
                ("steps.c.input", "selector"),
                ("steps.c.type", "handler"),
                ("steps.d.config.goto", "target"),
                ("steps.a", "unreachable"),
                ("steps.c", "unreachable"),
                ("steps.d", "unreachable"),
                ("result", "path"),
            ],
        );
    }

    #[test]
    fn what_riverrun_writes_itself_never_comes_to_a_step() {
        let flow = |kind: &str| {
            json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
                "a": {"type": "set", "config": {"value": 1},
                    "subscriptions": [{"eventKind": kind}],
                    "await": {"type": "event", "eventKind": kind},
                    "compensation": {"step": "b", "on": ["order.lost", kind]}},
                "b": {"type": "set", "config": {"value": 1},
                    "compensation": {"step": "a", "on": kind}},
            }})
        };
        for (kind, comes) in [
            ("order.paid", true),
            ("flows.failed", true),
            ("flow.failed", false),
            ("step.whatever", false),
            ("log.error", false),
            ("job.completed", false),
            ("progress", false),
        ] {
            let issues = validate(&flow(kind), &Handlers);
            let told = issues.iter().filter(|issue| issue.rule == "kind");
            let paths: Vec<&str> = told.map(|issue| issue.path.as_str()).collect();
            let all = [
                "steps.a.subscriptions.0.eventKind",
                "steps.a.await.eventKind",
                "steps.a.compensation.on.1",
                "steps.b.compensation.on",
            ];
            assert_eq!(paths, all[..if comes { 0 } else { 4 }], "{kind}");
        }
    }

    #[test]
    fn times_of_awaits_are_durations_that_a_run_can_wait() {
        let flow = |awaits: Value| {
            json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
                "a": {"type": "set", "config": {"value": 1}, "await": awaits},
            }})
        };
        let event = |field: &str, value: Value| {
            let mut awaits = json!({"type": "event", "eventKind": "paid"});
            awaits[field] = value;
            flow(awaits)
        };
        for field in ["timeout", "lookback"] {
            for good in [json!(0), json!(5), json!("24h"), json!("3660 days")] {
                let issues = validate(&event(field, good.clone()), &Handlers);
                assert!(!errors(&issues), "{field} {good}: {issues:#?}");
            }
            for bad in [
                "4000 days",
                "-5s",
                "NaN",
                "1e300",
                "soon",
                "ten((",
                "result.ms",
            ] {
                let issues = validate(&event(field, json!(bad)), &Handlers);
                let path = format!("steps.a.await.{field}");
                let is_told = |issue: &Issue| issue.path == path && issue.rule == "duration";
                assert!(issues.iter().any(is_told), "{field} {bad}: {issues:#?}");
            }
        }
        assert!(!errors(&validate(
            &event("lookback", json!("run")),
            &Handlers
        )));
        assert!(errors(&validate(
            &event("timeout", json!("run")),
            &Handlers
        )));
        let delay = |delay: &str| flow(json!({"type": "time", "delay": delay}));
        for good in ["90s", "1h 30m", "result.ms", "250"] {
            let issues = validate(&delay(good), &Handlers);
            assert!(!errors(&issues), "{good}: {issues:#?}");
        }
        for bad in ["4000 days", "-1", "nonsense(("] {
            assert!(errors(&validate(&delay(bad), &Handlers)), "{bad}");
        }
    }

    #[test]
    fn a_built_in_step_emits_no_event_of_the_servers() {
        let flow = |handler: &str, emits: Value| {
            json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
                "a": {"type": handler, "config": {"value": 1}, "emits": emits},
                "b": {"type": "set", "config": {"value": 1}, "subscriptions": [{"eventKind": "order.made"}]},
            }})
        };
        check(flow("set", json!(["order.made"])), &[]);
        for kind in ["flow.completed", "step.mine", "log.info", "job.own", "emit"] {
            let issues = validate(&flow("set", json!(["order.made", kind])), &Handlers);
            let is_told =
                |issue: &Issue| issue.path == "steps.a.emits.1" && issue.rule == "reserved";
            assert!(issues.iter().any(is_told), "{kind}: {issues:#?}");
        }
        let issues = validate(&flow("process", json!(["log.info"])), &Handlers);
        assert!(issues.iter().all(|issue| issue.rule != "reserved"));
    }

    #[test]
    fn the_schema_lets_nothing_wait_longer_than_a_run_may() {
        let schema = flow_schema();
        let retry = &schema["$defs"]["step"]["properties"]["retry"]["properties"];
        for (field, rule) in [
            ("timeoutMs", &schema["properties"]["timeoutMs"]),
            ("backoffMs", &retry["backoffMs"]),
            ("maxBackoffMs", &retry["maxBackoffMs"]),
        ] {
            let most = riverrun_types::time::MAX_WAIT_MS;
            assert_eq!(rule["maximum"], most, "{field}");
        }
    }

    #[test]
    fn what_is_no_flow_at_all_is_refused() {
        for definition in [
            json!(null),
            json!([]),
            json!(1),
            json!({}),
            json!({"steps": 1}),
            json!({"steps": {}}),
        ] {
            assert!(errors(&validate(&definition, &Handlers)), "{definition}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "(set|branch|a|b|full|template|\\$\\{a|\\PC{0,6})".prop_map(Value::from),
        ];
        let key = "(id|version|initialStepId|steps|type|config|input|transitions|onSuccess|retry|maxAttempts|stateSchema|a|b|template)";
        leaf.prop_recursive(5, 64, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map(key, inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_definition_makes_it_panic_and_the_good_ones_compile(definition in any_json()) {
            let issues = validate(&definition, &Handlers);
            if !errors(&issues) {
                let flow: riverrun_types::Flow = serde_json::from_value(definition).unwrap();
                crate::Plan::compile(flow).unwrap();
            }
        }
    }
}
