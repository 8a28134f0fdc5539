//! JSON Schemas of inputs, state and handler configs, compiled once.

use std::sync::Arc;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use riverrun_types::{Json, Path, State};
use serde::Serialize;
use serde_json::Value;

use crate::meant;

/// A schema ready for use.
#[derive(Clone, Debug)]
pub struct Schema {
    validator: Arc<jsonschema::Validator>,
    document: Arc<Value>,
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
            document: Arc::new(schema.clone()),
        })
    }

    /// Everything that is wrong with a value.
    pub fn issues(&self, value: &Value) -> Vec<SchemaIssue> {
        self.validator
            .iter_errors(value)
            .map(|error| SchemaIssue {
                path: dotted(&error.instance_path().to_string()),
                rule: rule(&error.schema_path().to_string()),
                message: shorten(&self.message(&error)),
            })
            .collect()
    }

    /// What is wrong, with the member that was probably meant where one means nothing.
    fn message(&self, error: &ValidationError<'_>) -> String {
        let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else {
            return error.to_string();
        };
        let path = error.schema_path().to_string();
        let known: Vec<&String> = members(&self.document, &path);
        let unknown = unexpected.iter();
        let unknown =
            unknown.map(|name| format!("there is no {name:?} here{}", meant(name, &known)));
        unknown.collect::<Vec<_>>().join(", ")
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

/// The members that the schema around a rule names. The way to the rule leads through references.
fn members<'a>(document: &'a Value, path: &str) -> Vec<&'a String> {
    let mut at = document;
    let mut around = document;
    for part in path.trim_start_matches('/').split('/') {
        around = at;
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match (part.as_str(), at) {
            ("$ref", Value::Object(schema)) => {
                let target = schema.get("$ref").and_then(Value::as_str);
                let inside = target.and_then(|target| target.strip_prefix('#'));
                inside.and_then(|inside| document.pointer(inside))
            }
            (part, Value::Array(items)) => part.parse().ok().and_then(|n: usize| items.get(n)),
            (part, schema) => schema.get(part),
        };
        let Some(next) = next else {
            return Vec::new();
        };
        at = next;
    }
    let named = around.get("properties").and_then(Value::as_object);
    named.into_iter().flat_map(|named| named.keys()).collect()
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

    #[test]
    fn a_member_that_means_nothing_is_told_with_the_one_that_was_meant() {
        let schema = Schema::compile(&json!({
            "properties": {"await": {"$ref": "#/$defs/await"}},
            "$defs": {"await": {
                "properties": {"timeout": {}, "type": {}}, "additionalProperties": false,
            }},
        }))
        .unwrap();
        let told = |value: Value| schema.issues(&value)[0].told();
        assert_eq!(
            told(json!({"await": {"tiemout": 1, "x": 1}})),
            " at \"await\": there is no \"tiemout\" here; did you mean timeout?, there is no \"x\" here"
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
