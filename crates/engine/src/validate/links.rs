//! Whether emitted events have subscribers, and subscriptions have emitters.
//!
//! Both are warnings: an event without a subscriber in the flow may be awaited by another run, and
//! one without an emitter in the flow may come from outside. But a misspelt kind looks the same.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Check;

impl Check<'_> {
    pub(super) fn check_links(&mut self, steps: &Map<String, Value>) {
        let emitted = steps.values().flat_map(emits);
        let emitted: HashSet<&str> = emitted.map(|(_, kind)| kind).collect();
        let taken: HashSet<&str> = steps.values().flat_map(takes).collect();
        for (name, step) in steps {
            for (number, kind) in emits(step).filter(|(_, kind)| !taken.contains(kind)) {
                self.warn(
                    format!("steps.{name}.emits.{number}"),
                    "emit-unheard",
                    format!("no step of the flow takes {kind:?}"),
                );
            }
            for (place, kind) in undone(step).filter(|(_, kind)| !emitted.contains(kind)) {
                self.warn(
                    format!("steps.{name}.{place}"),
                    "compensation-unemitted",
                    format!(
                        "no step of the flow says that it emits {kind:?}: it must come from outside, or nothing is undone by it"
                    ),
                );
            }
            for (number, kind) in subscribed(step).filter(|(_, kind)| !emitted.contains(kind)) {
                self.warn(
                    format!("steps.{name}.subscriptions.{number}"),
                    "subscription-unemitted",
                    format!(
                        "no step of the flow says that it emits {kind:?}: it must come from outside"
                    ),
                );
            }
        }
    }
}

fn list<'a>(step: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    let list = step.get(key).and_then(Value::as_array);
    list.into_iter().flatten().enumerate()
}

pub(super) fn emits(step: &Value) -> impl Iterator<Item = (usize, &str)> {
    list(step, "emits").filter_map(|(number, kind)| Some((number, kind.as_str()?)))
}

pub(super) fn subscribed(step: &Value) -> impl Iterator<Item = (usize, &str)> {
    list(step, "subscriptions")
        .filter_map(|(number, entry)| Some((number, entry.get("eventKind")?.as_str()?)))
}

/// The kinds of events by which a step is entered, resumed or undone.
fn takes(step: &Value) -> Vec<&str> {
    let mut kinds: Vec<&str> = subscribed(step).map(|(_, kind)| kind).collect();
    let awaited = step.get("await").and_then(|awaits| awaits.get("eventKind"));
    kinds.extend(awaited.and_then(Value::as_str));
    kinds.extend(undone(step).map(|(_, kind)| kind));
    kinds
}

/// The kinds of events by which a finished visit of a step is undone, with their paths.
fn undone(step: &Value) -> impl Iterator<Item = (String, &str)> {
    let on = step.get("compensation").and_then(|undo| undo.get("on"));
    let one = on.and_then(Value::as_str);
    let one = one.map(|kind| ("compensation.on".to_owned(), kind));
    let many = on.and_then(Value::as_array).into_iter().flatten();
    let many = many
        .enumerate()
        .filter_map(|(number, kind)| Some((format!("compensation.on.{number}"), kind.as_str()?)));
    one.into_iter().chain(many)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Issue, Severity, validate::tests::Handlers};

    fn check(steps: Value, expected: &[(&str, &str)]) {
        let mut check = Check {
            issues: Default::default(),
            catalog: &Handlers,
            flow: "f",
        };
        check.check_links(steps.as_object().unwrap());
        let issues = check.issues.all();
        let found: Vec<(&str, &str)> = issues
            .iter()
            .map(|issue| (issue.path.as_str(), issue.rule.as_str()))
            .collect();
        assert_eq!(found, expected, "{issues:#?}");
        let is_warning = |issue: &Issue| issue.severity == Severity::Warning;
        assert!(issues.iter().all(is_warning));
    }

    #[test]
    fn emits_without_subscription_and_subscriptions_without_emit_are_reported() {
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
                "c": {"await": {"type": "event", "eventKind": "from.outside"},
                    "compensation": {"step": "a", "on": ["order.created", "order.cancelled"]}},
                "d": {"compensation": {"step": "a", "on": "order.lost"}},
            }),
            &[
                ("steps.a.emits.1", "emit-unheard"),
                ("steps.b.subscriptions.1", "subscription-unemitted"),
                ("steps.c.compensation.on.1", "compensation-unemitted"),
                ("steps.d.compensation.on", "compensation-unemitted"),
            ],
        );
    }
}
