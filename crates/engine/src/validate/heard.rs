//! Whether whoever emits is heard, and whoever listens can hear something.
//!
//! Both are warnings: an event that nobody in the flow takes may be awaited by another run, and one
//! that nobody in the flow emits may come from outside. But a misspelt kind looks the same.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Issue, Severity};

pub(super) fn issues(steps: &Map<String, Value>) -> Vec<Issue> {
    let emitted: HashSet<&str> = steps
        .values()
        .flat_map(emits)
        .map(|(_, kind)| kind)
        .collect();
    let taken: HashSet<&str> = steps.values().flat_map(takes).collect();
    let mut issues = Vec::new();
    let mut warn = |path: String, rule: &str, message: String| {
        issues.push(Issue {
            path,
            rule: rule.to_owned(),
            message,
            severity: Severity::Warning,
        });
    };
    for (name, step) in steps {
        for (number, kind) in emits(step).filter(|(_, kind)| !taken.contains(kind)) {
            warn(
                format!("steps.{name}.emits.{number}"),
                "emit-unheard",
                format!("no step of the flow takes {kind:?}"),
            );
        }
        for (number, kind) in subscribed(step).filter(|(_, kind)| !emitted.contains(kind)) {
            warn(
                format!("steps.{name}.subscriptions.{number}"),
                "subscription-unemitted",
                format!(
                    "no step of the flow says that it emits {kind:?}: it must come from outside"
                ),
            );
        }
    }
    issues
}

fn list<'a>(step: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    let list = step.get(key).and_then(Value::as_array);
    list.into_iter().flatten().enumerate()
}

fn emits(step: &Value) -> impl Iterator<Item = (usize, &str)> {
    list(step, "emits").filter_map(|(number, kind)| Some((number, kind.as_str()?)))
}

fn subscribed(step: &Value) -> impl Iterator<Item = (usize, &str)> {
    list(step, "subscriptions")
        .filter_map(|(number, entry)| Some((number, entry.get("eventKind")?.as_str()?)))
}

/// By which kinds of events a step is entered, resumed or undone.
fn takes(step: &Value) -> Vec<&str> {
    let mut kinds: Vec<&str> = subscribed(step).map(|(_, kind)| kind).collect();
    let awaited = step.get("await").and_then(|awaits| awaits.get("eventKind"));
    kinds.extend(awaited.and_then(Value::as_str));
    match step.get("compensation").and_then(|undo| undo.get("on")) {
        Some(Value::String(one)) => kinds.push(one),
        Some(Value::Array(many)) => kinds.extend(many.iter().filter_map(Value::as_str)),
        _ => {}
    }
    kinds
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(steps: Value, expected: &[(&str, &str)]) {
        let issues = issues(steps.as_object().unwrap());
        let found: Vec<(&str, &str)> = issues
            .iter()
            .map(|issue| (issue.path.as_str(), issue.rule.as_str()))
            .collect();
        assert_eq!(found, expected, "{issues:#?}");
        let is_warning = |issue: &Issue| issue.severity == Severity::Warning;
        assert!(issues.iter().all(is_warning));
    }

    #[test]
    fn emits_that_nobody_takes_and_subscriptions_that_nobody_emits_are_told() {
        check(
            json!({"a": {}, "b": {"emits": 1, "subscriptions": [1]}}),
            &[],
        );
        check(
            json!({
                "a": {"emits": ["x", "y", "z", "w"], "compensation": {"step": "c", "on": ["z"]}},
                "b": {"subscriptions": [{"eventKind": "x"}, {"eventKind": "q"}], "await": {"type": "event", "eventKind": "y"}},
                "c": {"compensation": {"step": "a", "on": "w"}},
            }),
            &[("steps.b.subscriptions.1", "subscription-unemitted")],
        );
        check(
            json!({
                "a": {"emits": ["order.created", "order.creatd"]},
                "b": {"subscriptions": [{"eventKind": "order.created"}, {"eventKind": "order.made"}]},
                "c": {"await": {"type": "event", "eventKind": "from.outside"}},
            }),
            &[
                ("steps.a.emits.1", "emit-unheard"),
                ("steps.b.subscriptions.1", "subscription-unemitted"),
            ],
        );
    }
}
