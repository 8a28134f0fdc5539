//! JSON Schemas of inputs, state and handler configs, compiled once.

use std::sync::Arc;

use riverrun_types::{Json, Path, State};
use serde::Serialize;
use serde_json::Value;

/// A schema ready for use.
#[derive(Clone, Debug)]
pub struct Schema {
    validator: Arc<jsonschema::Validator>,
}

/// One thing that breaks a schema: where, which rule, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemaIssue {
    pub path: String,
    pub rule: String,
    pub message: String,
}

impl Schema {
    /// Compiles a schema. References to other documents are refused: nothing is fetched.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::options()
            .build(schema)
            .map_err(|error| shorten(&error.to_string()))?;
        Ok(Self {
            validator: Arc::new(validator),
        })
    }

    /// Everything that is wrong with a value.
    pub fn issues(&self, value: &Value) -> Vec<SchemaIssue> {
        self.validator
            .iter_errors(value)
            .map(|error| SchemaIssue {
                path: dotted(&error.instance_path().to_string()),
                rule: rule(&error.schema_path().to_string()),
                message: shorten(&error.to_string()),
            })
            .collect()
    }

    /// What a write would break. Keys that the state does not have yet may still come, so a
    /// missing top-level key is no issue.
    pub fn state_issues(&self, state: &State) -> Vec<SchemaIssue> {
        let mut issues = self.issues(&state.json().value());
        issues.retain(|issue| !(issue.path.is_empty() && issue.rule == "required"));
        issues
    }

    pub fn write_issues(&self, state: &State, key: &Path, value: &Json) -> Vec<SchemaIssue> {
        let mut after = state.clone();
        after.set(key, value.clone());
        self.state_issues(&after)
    }
}

/// `/a/b/0` as `a.b.0`, the form of every other path.
fn dotted(pointer: &str) -> String {
    pointer
        .trim_start_matches('/')
        .replace('/', ".")
        .replace("~1", "/")
        .replace("~0", "~")
}

fn rule(schema_path: &str) -> String {
    schema_path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Messages of the validator quote the whole value.
fn shorten(message: &str) -> String {
    const MAX: usize = 300;
    match message.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}
