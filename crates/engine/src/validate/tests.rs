//! Invalid definitions and their issues, and proof that no definition makes validation panic.

use proptest::prelude::*;
use serde_json::json;

use super::*;

pub(super) struct Handlers;

impl Catalog for Handlers {
    fn is_known(&self, handler: &str) -> bool {
        handler == "set" || handler == "branch"
    }

    fn known(&self) -> Vec<String> {
        vec!["set".into(), "branch".into()]
    }

    fn is_process(&self, name: &str) -> bool {
        name == "send-email"
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

    fn kept_ms(&self) -> Option<Millis> {
        Some(30 * 86_400_000)
    }

    fn chooses(&self, handler: &str) -> bool {
        matches!(handler, "branch" | "switch")
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

/// Each step emits what every other one takes: a search of all steps for each of them would take
/// minutes here.
#[test]
fn the_work_grows_with_the_number_of_steps_and_not_with_its_square() {
    const STEPS: usize = 20_000;
    let step = |n: usize| {
        let next = format!("s{}", (n + 1) % STEPS);
        let step = json!({"type": "set", "config": {"value": 1}, "emits": ["x"],
            "subscriptions": [{"eventKind": "x"}], "transitions": {"onFailure": next}});
        (format!("s{n}"), step)
    };
    let steps: Map<String, Value> = (0..STEPS).map(step).collect();
    let definition = json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let bounds = Bounds {
        max_steps: STEPS,
        ..Bounds::default()
    };
    assert_eq!(validate_within(&definition, &Handlers, &bounds), []);
    check(definition, &[("steps", "maxProperties")]);
}

#[test]
fn issues_are_bounded_and_no_error_is_lost_behind_warnings() {
    let warned = |n: usize| {
        (
            format!("s{n}"),
            json!({"type": "set", "config": {"value": 1}}),
        )
    };
    let mut steps: Map<String, Value> = (0..500).map(warned).collect();
    steps.insert("t".to_owned(), json!({"type": "x".repeat(100_000)}));
    let definition = json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let issues = validate(&definition, &Handlers);
    assert!(errors(&issues));
    assert_eq!(issues.len(), MAX_ISSUES + 1);
    assert_eq!(issues.last().unwrap().rule, "maxIssues");
    let bytes: usize = issues.iter().map(|issue| issue.message.len()).sum();
    assert!(bytes < 100_000, "{bytes}");

    let wrong = |n: usize| (format!("s{n}"), json!({"type": "nope"}));
    let steps: Map<String, Value> = (0..500).map(wrong).collect();
    let definition = json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let issues = validate(&definition, &Handlers);
    assert_eq!(issues.len(), MAX_ISSUES + 1);
}

#[test]
fn validation_stops_when_it_takes_too_long() {
    let step = |n: usize| (format!("s{n}"), json!({"type": "set"}));
    let steps: Map<String, Value> = (0..10).map(step).collect();
    let definition = json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let asked = std::cell::Cell::new(0);
    let is_over = || asked.replace(asked.get() + 1) == 2;
    let bounds = Bounds {
        is_over: &is_over,
        ..Bounds::default()
    };
    let issues = validate_within(&definition, &Handlers, &bounds);
    let rules: Vec<&str> = issues.iter().map(|issue| issue.rule.as_str()).collect();
    assert_eq!(rules, ["required", "required", "time"]);
}

#[test]
fn one_attempt_with_a_backoff_is_reported() {
    let flow = |retry: Value| {
        json!({"id": "f", "version": "1", "initialStepId": "a", "steps": {
            "a": {"type": "set", "config": {"value": 1}, "retry": retry},
        }})
    };
    check(
        flow(json!({"maxAttempts": 1, "backoffMs": 100})),
        &[("steps.a.retry.maxAttempts", "retry-never")],
    );
    check(flow(json!({"maxAttempts": 2, "backoffMs": 100})), &[]);
    check(flow(json!({"maxAttempts": 1})), &[]);
}

/// A type that is no handler is the name of a process.
#[test]
fn a_type_may_name_a_process() {
    let step = |kind: &str| {
        json!({"id": "f", "version": "1", "initialStepId": "a", "steps": {
            "a": {"type": kind, "config": {"to": "x"}, "emits": ["flow.started"]},
        }})
    };
    check(step("send-email"), &[("steps.a.emits.0", "emit-unheard")]);
    check(
        step("send-emial"),
        &[
            ("steps.a.type", "handler"),
            ("steps.a.emits.0", "emit-unheard"),
        ],
    );
}

#[test]
fn a_step_may_have_the_retry_policy_of_a_process() {
    let flow = |retry: Value| {
        let mut step = json!({"type": "set", "config": {"value": 1}, "outputKey": "x"});
        step.as_object_mut()
            .unwrap()
            .extend(retry.as_object().cloned().unwrap());
        json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {"a": step}})
    };
    let policy = json!({"attempts": 3, "backoff": {"delayMs": 5}, "retriableErrors": ["E"]});
    check(flow(json!({ "retryPolicy": policy })), &[]);
    check(
        flow(json!({"retryPolicy": {"attempts": 0}})),
        &[("steps.a.retry.maxAttempts", "minimum")],
    );
    check(
        flow(json!({"retryPolicy": {"attempts": "many"}})),
        &[("steps.a.retryPolicy.attempts", "type")],
    );
    check(
        flow(json!({"retry": {"maxAttempts": 2}, "retryPolicy": {"attempts": 2}})),
        &[("steps.a.retryPolicy", "retry")],
    );
}

#[test]
fn a_flow_is_not_called_latest() {
    check(
        json!({"id": "latest", "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": {"type": "set", "config": {"value": 1}, "outputKey": "x"}}}),
        &[("id", "reserved")],
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

/// Steps that only feed each other are unreachable; an event without an emitter comes from outside.
#[test]
fn steps_that_only_feed_each_other_are_reported() {
    let step = |takes: &str, emits: &str| {
        json!({"type": "set", "config": {"value": 1},
            "subscriptions": [{"eventKind": takes}], "emits": [emits]})
    };
    let definition = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "set", "config": {"value": 1}, "emits": ["begun"]},
        "b": step("begun", "done"),
        "outer": step("from.outside", "more"),
        "after": step("more", "begun"),
        "x": step("y.done", "x.done"),
        "y": step("x.done", "y.done"),
        "own": step("own.done", "own.done"),
    }});
    let issues = validate(&definition, &Handlers);
    let reported = issues.iter().filter(|issue| issue.rule == "unreachable");
    let paths: Vec<&str> = reported.map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["steps.x", "steps.y", "steps.own"]);
}

/// A step that chooses its own way never takes the usual one.
#[test]
fn steps_that_only_an_unused_transition_reaches_are_reported() {
    let definition = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "branch", "config": {"goto": "b"}, "transitions": {"onSuccess": "c", "onFailure": "d"}},
        "b": {"type": "set", "config": {"value": 1}},
        "c": {"type": "set", "config": {"value": 1}},
        "d": {"type": "set", "config": {"value": 1}},
    }});
    check(definition, &[("steps.c", "unreachable")]);
}

#[test]
fn settings_of_an_await_without_effect_are_reported() {
    let flow = |awaits: Value| {
        json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": {"type": "set", "config": {"value": 1}, "await": awaits},
            "b": {"type": "set", "config": {"value": 1}},
        }})
    };
    for (awaits, expected) in [
        (
            json!({"type": "trigger", "onTimeout": "b"}),
            ("steps.a.await.onTimeout", "timeout"),
        ),
        (
            json!({"type": "time", "delay": 1, "timeout": 2}),
            ("steps.a.await.timeout", "timeout"),
        ),
        (
            json!({"type": "trigger", "payload": {"a": "${"}}),
            ("steps.a.await.payload", "template"),
        ),
        (
            json!({"type": "event", "eventKind": "x", "delay": 5}),
            ("steps.a.await.delay", "await"),
        ),
        (
            json!({"type": "event", "eventKind": "x", "triggerType": "user"}),
            ("steps.a.await.triggerType", "await"),
        ),
        (
            json!({"type": "time", "delay": 5, "match": {"data.a": 1}}),
            ("steps.a.await.match", "await"),
        ),
        (
            json!({"type": "trigger", "eventKind": "x"}),
            ("steps.a.await.eventKind", "await"),
        ),
    ] {
        let issues = validate(&flow(awaits), &Handlers);
        let (path, rule) = expected;
        let is_it = |issue: &Issue| (issue.path.as_str(), issue.rule.as_str()) == (path, rule);
        assert!(issues.iter().any(is_it), "{issues:#?}");
    }
}

#[test]
fn a_match_says_which_part_of_the_event_equals_what() {
    let check = |path: &str, from: Value, is_good: bool| {
        let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": {"type": "set", "config": {"value": 1},
                "await": {"type": "event", "eventKind": "x", "match": {path: from}}},
        }});
        let issues = validate(&flow, &Handlers);
        let reported: Vec<&str> = issues
            .iter()
            .filter(|issue| issue.severity == Severity::Error)
            .map(|issue| issue.path.as_str())
            .collect();
        let at = format!("steps.a.await.match.{path}");
        let expected: &[&str] = if is_good { &[] } else { &[&at] };
        assert_eq!(reported, expected, "{path}: {from}");
    };
    for from in [
        json!("input"),
        json!("input.order.id"),
        json!("state.order"),
        json!({"value": "order.id"}),
        json!(5),
        json!(null),
    ] {
        check("data.id", from, true);
    }
    for from in ["order.id", "inputs.id", "state", "", "5"] {
        check("data.id", json!(from), false);
    }
    for (path, is_good) in [
        ("data", true),
        ("correlationId", true),
        ("id", false),
        ("orderId", false),
        ("Data.id", false),
    ] {
        check(path, json!("input"), is_good);
    }
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
        let reported = issues.iter().filter(|issue| issue.rule == "kind");
        let paths: Vec<&str> = reported.map(|issue| issue.path.as_str()).collect();
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
fn a_callback_for_a_person_is_not_signed() {
    for (kind, is_fine) in [("webhook", true), ("api", true), ("user", false)] {
        let awaits = json!({"type": "trigger", "triggerType": kind, "secretEnv": "SECRET"});
        let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": {"type": "set", "config": {"value": 1}, "await": awaits},
        }});
        let issues = validate(&flow, &Handlers);
        let is_reported = |issue: &Issue| issue.path == "steps.a.await.secretEnv";
        assert_eq!(errors(&issues), !is_fine, "{kind}: {issues:#?}");
        assert_eq!(
            issues.iter().any(is_reported),
            !is_fine,
            "{kind}: {issues:#?}"
        );
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
        let longest = if field == "timeout" {
            "3660 days"
        } else {
            "30 days"
        };
        for good in [json!(0), json!(5), json!("24h"), json!(longest)] {
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
            let is_reported = |issue: &Issue| issue.path == path && issue.rule == "duration";
            assert!(issues.iter().any(is_reported), "{field} {bad}: {issues:#?}");
        }
    }
    let kept = validate(&event("lookback", json!("31 days")), &Handlers);
    assert!(kept.iter().any(|issue| issue.rule == "lookback"));
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
        let is_reported =
            |issue: &Issue| issue.path == "steps.a.emits.1" && issue.rule == "reserved";
        assert!(issues.iter().any(is_reported), "{kind}: {issues:#?}");
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

/// The properties below a schema that have no description, by their paths.
fn undescribed(at: &str, schema: &Value, found: &mut Vec<String>) {
    for (name, value) in schema.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        if name == "properties" {
            for (property, rule) in value.as_object().into_iter().flatten() {
                let about = rule.get("description").and_then(Value::as_str);
                if rule.is_object() && about.is_none_or(str::is_empty) {
                    found.push(format!("{at}/{property}"));
                }
                undescribed(&format!("{at}/{property}"), rule, found);
            }
        } else if !matches!(name.as_str(), "allOf" | "examples") {
            undescribed(&at, value, found);
        }
    }
}

#[test]
fn every_property_of_the_schema_has_a_description_for_editors() {
    let mut found = Vec::new();
    undescribed("", flow_schema(), &mut found);
    assert!(found.is_empty(), "without a description: {found:#?}");
    for (name, definition) in flow_schema()["$defs"].as_object().unwrap() {
        assert!(definition["description"].is_string(), "$defs/{name}");
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
