//! Everything that is wrong with a definition, at once: its form by the schema, then what no schema
//! can say, of each step (`step`, `events`) and of all of them together (`reach`, `heard`).

mod awaits;
mod events;
mod heard;
mod reach;
mod step;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use riverrun_types::{Millis, Path};
use serde::Serialize;
use serde_json::{Map, Value};

pub use events::is_function;

use crate::{Schema, SchemaError, SchemaIssue};

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

/// What validation has to know about handlers.
pub trait Catalog {
    fn is_known(&self, handler: &str) -> bool;
    /// Every handler's type, for messages.
    fn known(&self) -> Vec<String>;
    /// What is wrong with a config; paths are relative to it.
    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue>;
    /// The steps that a config leads to, with the path that names each.
    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)>;
    /// Whether a handler always says itself where the run goes, so that `onSuccess` is never taken.
    fn chooses(&self, handler: &str) -> bool {
        let _ = handler;
        false
    }
    /// For how long emitted events are kept for awaits that look back, where that is known.
    fn kept_ms(&self) -> Option<Millis> {
        None
    }
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

fn compiled_schema() -> &'static Result<Schema, SchemaError> {
    static SCHEMA: OnceLock<Result<Schema, SchemaError>> = OnceLock::new();
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
            Err(error) => self.error("", error.rule(), error.to_string()),
        }
    }

    fn flow(&mut self, definition: &Value) {
        for field in ["inputSchema", "stateSchema"] {
            if let Some(Err(error)) = definition.get(field).map(Schema::compile) {
                self.error(field, error.rule(), error.to_string());
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
}
