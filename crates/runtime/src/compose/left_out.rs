//! Parts that belong to no flow, and the likely reason.

use std::collections::{BTreeMap, BTreeSet};

use riverrun_contract::meant_within;
use riverrun_engine::meant;
use riverrun_types::{Await, Subscription};
use serde_json::Value;

use super::{Composed, ComposedFlow, issue, part::Part};

impl Composed {
    /// Reports the parts that belong to no flow although they have no issue yet: otherwise nothing
    /// would show why they do not run.
    pub(super) fn tell_left_out(&mut self, parts: &[Part], flows: &BTreeMap<String, &Part>) {
        let is_in = |part: &Part, flow: &ComposedFlow| {
            let step = &flow.definition["steps"][part.step.as_str()];
            let is_its = part
                .flow
                .as_ref()
                .is_none_or(|id| flow.definition["id"] == **id);
            is_its && step["config"]["process"] == *part.process
        };
        let is_reported = |part: &Part| {
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
            !is_missing && !is_reported(part) && !self.flows.iter().any(|flow| is_in(part, flow))
        };
        let (mut issues, mut warnings) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(is_left_out) {
            // No flow validates their event declarations.
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
        if self.subscribes.is_empty() {
            return format!("step {step:?} is in no flow: no step of one leads to it");
        }
        let kinds = self.subscribes.iter().map(|kind| {
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

/// The errors in a step's event declarations.
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
