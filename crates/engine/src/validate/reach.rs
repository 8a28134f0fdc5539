//! Reachability of steps.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
};

use serde_json::{Map, Value};

use super::{
    Check,
    links::{emits, subscribed},
};

impl Check<'_> {
    pub(super) fn reachable(&mut self, definition: &Value, steps: &Map<String, Value>) {
        let Some(initial) = definition.get("initialStepId").and_then(Value::as_str) else {
            return;
        };
        let mut reached: HashSet<&str> = HashSet::new();
        let mut ahead: VecDeque<Cow<'_, str>> = VecDeque::from([Cow::Borrowed(initial)]);
        // Events that no step emits have to come from outside.
        let emitted = steps.values().flat_map(emits);
        let emitted: HashSet<&str> = emitted.map(|(_, kind)| kind).collect();
        // The steps that a kind of event enters, until a step is reached that emits it.
        let mut subscribers: HashMap<&str, Vec<&str>> = HashMap::new();
        for (name, step) in steps {
            for (_, kind) in subscribed(step) {
                match emitted.contains(kind) {
                    true => subscribers.entry(kind).or_default().push(name),
                    false => ahead.push_back(Cow::Borrowed(name)),
                }
            }
        }
        while let Some(name) = ahead.pop_front() {
            let Some((name, step)) = steps.get_key_value(&*name) else {
                continue;
            };
            if reached.insert(name) {
                ahead.extend(self.successors(step).into_iter().map(Cow::Owned));
                for (_, kind) in emits(step) {
                    let entered = subscribers.remove(kind).unwrap_or_default();
                    ahead.extend(entered.into_iter().map(Cow::Borrowed));
                }
            }
        }
        for name in steps.keys().filter(|name| !reached.contains(name.as_str())) {
            let message = match subscribed(&steps[name]).next() {
                None => format!("nothing leads to step {name:?}"),
                Some(_) => format!(
                    "nothing leads to step {name:?}: who emits what it subscribes to is not reached either"
                ),
            };
            self.warn(format!("steps.{name}"), "unreachable", message);
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
            let empty = Value::Object(Map::new());
            let config = step.get("config").unwrap_or(&empty);
            let more = self.catalog.targets(handler, config);
            targets.extend(more.into_iter().map(|(_, target)| target));
        }
        targets
    }
}
