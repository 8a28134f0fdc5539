//! Validation of a definition: its form by the schema, then the rules beyond a schema, of each step
//! (`step`, `events`) and of all of them together (`reach`, `links`).

mod awaits;
mod events;
mod issues;
mod links;
mod reach;
mod step;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use riverrun_types::{
    Millis, Path, RunId,
    flow::{canonical_definition, has_retry_policy},
};
use serde::Serialize;
use serde_json::{Map, Value};

pub use events::is_function;
use issues::Issues;

use crate::{Schema, SchemaError, SchemaIssue};

/// An issue of a definition.
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

/// The facts about handlers that validation needs.
pub trait Catalog {
    fn is_known(&self, handler: &str) -> bool;
    /// Every handler's type, for messages.
    fn known(&self) -> Vec<String>;
    /// The issues of a config; paths are relative to it.
    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue>;
    /// The steps that a config leads to, with the path that names each.
    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)>;
    /// Whether a process of a name exists: a step may have it as its type.
    fn is_process(&self, name: &str) -> bool {
        let _ = name;
        false
    }
    /// Unknown names in a config that may still appear, such as a process; paths are relative to
    /// it. A flow may name itself.
    fn unknown_names(&self, handler: &str, config: &Value, flow: &str) -> Vec<SchemaIssue> {
        let _ = (handler, config, flow);
        Vec::new()
    }
    /// Whether a handler always sets the next step itself, so that `onSuccess` is never used.
    fn chooses(&self, handler: &str) -> bool {
        let _ = handler;
        false
    }
    /// How long emitted events are kept for awaits that look back, if that is known.
    fn kept_ms(&self) -> Option<Millis> {
        None
    }
    /// The issue of an expression.
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

/// Whether a definition must be rejected.
pub fn errors(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| issue.severity == Severity::Error)
}

/// The bounds of a validation.
pub struct Bounds<'a> {
    /// The most steps that a definition may have. A larger one is not validated any further.
    pub max_steps: usize,
    /// Called before each step, to check whether validation has taken too long.
    pub is_over: &'a dyn Fn() -> bool,
}

/// The most steps of a definition, unless the server's configuration says otherwise.
pub const MAX_FLOW_STEPS: usize = 5_000;

/// The most issues that validation lists. Errors take the place of warnings.
pub const MAX_ISSUES: usize = 100;

impl Default for Bounds<'_> {
    fn default() -> Self {
        Self {
            max_steps: MAX_FLOW_STEPS,
            is_over: &|| false,
        }
    }
}

/// The only issue of a definition with too many steps.
pub fn too_many_steps(max_steps: usize) -> Issue {
    Issue {
        path: "steps".to_owned(),
        rule: "maxProperties".to_owned(),
        message: format!(
            "the flow has more than {max_steps} steps, the most that limits.flow_steps allows: move some of them into sub-flows"
        ),
        severity: Severity::Error,
    }
}

/// The issues of a definition, within the default bounds.
pub fn validate(definition: &Value, catalog: &dyn Catalog) -> Vec<Issue> {
    validate_within(definition, catalog, &Bounds::default())
}

/// The issues of a definition: at most [`MAX_ISSUES`], and one more that reports the omitted ones.
/// The work grows with the size of the definition, not with its square.
pub fn validate_within(
    definition: &Value,
    catalog: &dyn Catalog,
    bounds: &Bounds<'_>,
) -> Vec<Issue> {
    let steps = definition.get("steps").and_then(Value::as_object);
    if steps.is_some_and(|steps| steps.len() > bounds.max_steps) {
        return vec![too_many_steps(bounds.max_steps)];
    }
    let canonical = has_retry_policy(definition).then(|| canonical_definition(definition.clone()));
    let definition = canonical.as_ref().unwrap_or(definition);
    let steps = definition.get("steps").and_then(Value::as_object);
    let mut check = Check {
        issues: Issues::default(),
        catalog,
        flow: definition["id"].as_str().unwrap_or_default(),
    };
    check.structure(definition);
    if let Some(steps) = steps {
        check.initial(definition, steps);
        for (name, step) in steps {
            if check.issues.is_full() {
                break;
            }
            if (bounds.is_over)() {
                let message =
                    "validation took too long: make the flow smaller, or move steps into sub-flows";
                check.error(format!("steps.{name}"), "time", message);
                return check.issues.all();
            }
            check.step(name, step, steps);
        }
        check.reachable(definition, steps);
        check.check_links(steps);
    }
    check.flow(definition);
    check.issues.all()
}

struct Check<'a> {
    issues: Issues,
    catalog: &'a dyn Catalog,
    /// The id of the flow.
    flow: &'a str,
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
        self.issues.add(Issue {
            path: path.into(),
            rule: rule.to_owned(),
            message: message.into(),
            severity,
        });
    }

    fn warn(&mut self, path: impl Into<String>, rule: &str, message: impl Into<String>) {
        self.say(path, rule, message, Severity::Warning);
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
        if self.flow == RunId::LATEST {
            let message = "\"latest\" is reserved for the newest run or job: choose another id";
            self.error("id", "reserved", message);
        }
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
