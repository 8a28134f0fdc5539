//! A step by itself: its handler and config, its input, and its transitions.

use riverrun_types::Selector;
use serde_json::{Map, Value};

use super::Check;
use crate::Select;

impl Check<'_> {
    pub(super) fn step(&mut self, name: &str, step: &Value, steps: &Map<String, Value>) {
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
        self.retry(&at, step);
        self.events(&at, step, steps);
        if let Some(handler) = step.get("type").and_then(Value::as_str) {
            self.handler(&at, handler, step.get("config"), steps);
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
            if !self.catalog.is_process(handler) {
                let known = self.catalog.known().join(", ");
                let message = format!(
                    "there is no handler and no process {handler:?}; the handlers are {known}"
                );
                self.error(format!("{at}.type"), "handler", message);
            }
            return;
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
        for issue in self.catalog.unknown_names(handler, config, self.flow) {
            self.warn(
                format!("{at}.config.{}", issue.path),
                &issue.rule,
                issue.message,
            );
        }
        for (path, target) in self.catalog.targets(handler, config) {
            self.target(&format!("{at}.config.{path}"), &target, steps);
        }
    }

    /// Attempts count the first try here, and not in FlowMonkey: one attempt with a backoff is
    /// probably meant to be one retry.
    fn retry(&mut self, at: &str, step: &Value) {
        let Some(retry) = step.get("retry") else {
            return;
        };
        if step.get("retryPolicy").is_some() {
            let message = "is another form of retry: give one of them";
            self.error(format!("{at}.retryPolicy"), "retry", message);
        }
        let is_once = retry.get("maxAttempts").and_then(Value::as_u64) == Some(1);
        let waits = ["backoffMs", "backoffMultiplier", "maxBackoffMs", "retryOn"];
        if is_once && waits.iter().any(|field| retry.get(field).is_some()) {
            let message = "maxAttempts counts the first try, so 1 means that the step is never tried again: write 2 for one retry";
            self.warn(format!("{at}.retry.maxAttempts"), "retry-never", message);
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
}
