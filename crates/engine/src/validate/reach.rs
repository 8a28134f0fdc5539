//! Whether anything leads to a step.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    Check, Severity,
    heard::{emits, subscribed},
};

impl Check<'_> {
    pub(super) fn reachable(&mut self, definition: &Value, steps: &Map<String, Value>) {
        let Some(initial) = definition.get("initialStepId").and_then(Value::as_str) else {
            return;
        };
        let mut reached: BTreeSet<String> = BTreeSet::new();
        let mut ahead = VecDeque::from([initial.to_owned()]);
        // What no step emits has to come from outside.
        let emitted: BTreeSet<&str> = steps
            .values()
            .flat_map(emits)
            .map(|(_, kind)| kind)
            .collect();
        let is_outer = |step: &Value| subscribed(step).any(|(_, kind)| !emitted.contains(kind));
        let outer = steps.iter().filter(|(_, step)| is_outer(step));
        ahead.extend(outer.map(|(name, _)| name.clone()));
        while let Some(name) = ahead.pop_front() {
            let Some(step) = steps.get(&name) else {
                continue;
            };
            if reached.insert(name) {
                ahead.extend(self.successors(step));
                let kinds: BTreeSet<&str> = emits(step).map(|(_, kind)| kind).collect();
                let takes = |step: &Value| subscribed(step).any(|(_, kind)| kinds.contains(kind));
                let entered = steps.iter().filter(|(_, step)| takes(step));
                ahead.extend(entered.map(|(name, _)| name.clone()));
            }
        }
        for name in steps.keys().filter(|name| !reached.contains(*name)) {
            let message = match subscribed(&steps[name]).next() {
                None => format!("nothing leads to step {name:?}"),
                Some(_) => format!(
                    "nothing leads to step {name:?}: who emits what it subscribes to is not reached either"
                ),
            };
            self.say(
                format!("steps.{name}"),
                "unreachable",
                message,
                Severity::Warning,
            );
        }
    }

    fn successors(&self, step: &Value) -> Vec<String> {
        let handler = step.get("type").and_then(Value::as_str);
        let chooses = handler.is_some_and(|handler| self.catalog.chooses(handler));
        let transitions = step.get("transitions").and_then(Value::as_object);
        let transitions = transitions.into_iter().flatten();
        let mut targets: Vec<String> = transitions
            .filter(|(transition, _)| !chooses || *transition != "onSuccess")
            .filter_map(|(_, target)| target.as_str().map(str::to_owned))
            .collect();
        let others = [("await", "onTimeout"), ("compensation", "step")];
        let other = |(part, field): (&str, &str)| step.get(part)?.get(field)?.as_str();
        targets.extend(others.into_iter().filter_map(other).map(str::to_owned));
        if let Some(handler) = handler {
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
