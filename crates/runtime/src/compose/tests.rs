//! Configs of processes, and the flows that they form.

use serde_json::json;

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
fn steps_belong_to_every_flow_that_emits_what_they_subscribe_to() {
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
                json!({"flow": {"id": "shop", "role": "entry", "step": "start", "emits": ["x"], "version": "2.1.0", "limits": {"maxAwaits": 7}}}),
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
    assert_eq!(composed.flows[1].definition["limits"]["maxAwaits"], 7);
    assert!(composed.flows[1].is_versioned);
    assert_eq!(composed.incomplete[0].0, "other");
}

#[test]
fn two_entries_and_invalid_settings_are_reported() {
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

fn shown(issues: &[ConfigIssue]) -> Vec<String> {
    let line = |issue: &ConfigIssue| format!("{}: {}", issue.path, issue.message);
    issues.iter().map(line).collect()
}

#[test]
fn a_step_that_no_flow_leads_to_is_reported() {
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
        shown(&composed.warnings),
        [
            "typo.flow: step \"typo\" is in no flow: no step of one emits \"ordr.created\"; did you mean order.created?"
        ]
    );
    let issues = shown(&composed.issues);
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
fn two_processes_for_one_step_are_reported_and_the_first_is_used() {
    let step = |emits: &str| json!({"flow": {"id": "f", "role": "step", "step": "same", "emits": [emits]}});
    let subscribes = json!({"step": "taken", "subscriptions": [{"eventKind": "x"}]});
    let composed = check(
        &[
            (
                "a",
                json!({"flow": {"id": "f", "role": "entry", "step": "a"}}),
            ),
            ("file1", step("x")),
            ("file2", step("y")),
            ("file3", step("z")),
            ("one", subscribes.clone()),
            ("two", subscribes),
        ],
        &[("f", &["a", "same", "taken"])],
    );
    assert_eq!(
        shown(&composed.issues),
        [
            "file2.flow: step \"same\" of flow \"f\" is process file1 already",
            "file3.flow: step \"same\" of flow \"f\" is process file1 already",
            "two.flow: step \"taken\" of flow \"f\" is process one already",
        ]
    );
    assert!(composed.warnings.is_empty(), "{:?}", composed.warnings);
    let same = &composed.flows[0].definition["steps"]["same"];
    assert_eq!(same["config"]["process"], "file1");
}

#[test]
fn unknown_words_are_reported_with_what_was_meant() {
    let composed = check(
        &[(
            "a",
            json!({"flow": {"id": "f", "role": "entry", "emit": ["x"], "subscription": [], "onfailure": "finish"}}),
        )],
        &[("f", &["a"])],
    );
    assert_eq!(
        shown(&composed.issues),
        [
            "a.flow.emit: is not a setting; did you mean emits?",
            "a.flow.subscription: is not a setting; did you mean subscriptions?",
            "a.flow.onfailure: is not a setting; did you mean onFailure?",
        ]
    );
}

#[test]
fn settings_that_only_an_entry_has_are_reported_at_other_steps() {
    let limits = json!({"maxSteps": 5});
    let of = |role: &str| {
        json!({"flow": {"id": "f", "role": role, "step": role,
            "onFailure": "finish", "limits": limits}})
    };
    let composed = check(
        &[("begins", of("entry")), ("follows", of("step"))],
        &[("f", &["entry", "step"])],
    );
    assert_eq!(
        shown(&composed.warnings),
        [
            "follows.flow.onFailure: is not heeded: step \"step\" does not begin the flow, and onFailure is what its entry says",
            "follows.flow.limits: is not heeded: step \"step\" does not begin the flow, and limits is what its entry says",
        ]
    );
    assert_eq!(composed.flows[0].definition["onFailure"], "finish");
}

#[test]
fn a_step_that_only_undoes_is_no_second_entry() {
    let composed = check(
        &[
            (
                "book",
                json!({"flow": "trip", "step": "book", "compensation": {"step": "unbook"}}),
            ),
            ("unbook", json!({"flow": "trip", "step": "unbook"})),
        ],
        &[("trip", &["book", "unbook"])],
    );
    assert!(composed.issues.is_empty(), "{:?}", composed.issues);
    // Two that no part names, or that declare it, are two entries.
    let composed = check(
        &[
            ("a", json!({"flow": "trip", "step": "a"})),
            ("b", json!({"flow": "trip", "step": "b"})),
        ],
        &[("trip", &["a"])],
    );
    assert!(composed.issues[0].message.contains("two entries"));
}
