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

impl SchemaIssue {
    /// After "… breaks the schema": where, if it is not the whole value, and what.
    pub fn told(&self) -> String {
        match self.path.as_str() {
            "" => format!(": {}", self.message),
            path => format!(" at {path:?}: {}", self.message),
        }
    }
}

impl Schema {
    /// Compiles a schema. References to other documents are refused: nothing is fetched.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::options()
            .build(schema)
            .map_err(|error| shorten(&refused(&error.to_string())))?;
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

/// Why a schema is none. The library speaks of its own build where a reference leads elsewhere.
fn refused(message: &str) -> String {
    match message.contains("`resolve-") {
        true => "it refers to another document, and nothing is fetched: put that schema into \
                 this one, under $defs"
            .to_owned(),
        false => message.to_owned(),
    }
}

/// Messages of the validator quote the whole value.
fn shorten(message: &str) -> String {
    const MAX: usize = 300;
    match message.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_leads_elsewhere_is_refused_in_plain_words() {
        for elsewhere in ["https://example.org/order.json", "file:///etc/order.json"] {
            let error = Schema::compile(&json!({ "$ref": elsewhere })).unwrap_err();
            assert!(error.contains("under $defs"), "{error}");
        }
    }

    #[test]
    fn an_issue_of_the_whole_value_names_no_place() {
        let schema = Schema::compile(&json!({
            "required": ["n"], "properties": {"n": {"type": "integer"}},
        }))
        .unwrap();
        let told = |value: Value| schema.issues(&value)[0].told();
        assert_eq!(told(json!({})), ": \"n\" is a required property");
        assert_eq!(
            told(json!({"n": "x"})),
            " at \"n\": \"x\" is not of type \"integer\""
        );
    }

    /// The test kits of the SDKs are held to the same table.
    #[test]
    fn schemas_mean_what_the_test_kits_make_of_them() {
        let table = include_str!("../../../sdks/conformance/schemas.json");
        let table: Vec<Value> = serde_json::from_str(table).unwrap();
        for row in table {
            let schema = Schema::compile(&row["schema"]).unwrap();
            let pair = |issue: SchemaIssue| json!([issue.path, issue.rule]).to_string();
            let mut found: Vec<_> = schema.issues(&row["value"]).into_iter().map(pair).collect();
            let expected = row["issues"].as_array().unwrap().iter();
            let mut expected: Vec<_> = expected.map(Value::to_string).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{}", row["schema"]);
        }
    }
}
