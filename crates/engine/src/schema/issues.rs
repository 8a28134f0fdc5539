//! The issues of an invalid value, within bounds.
//!
//! The validator collects all issues before it returns the first, and keeps those of every branch
//! of a choice: a megabyte of numbers against `items: {anyOf: […]}` would take gigabytes. So all
//! issues are collected only for values with few of them; for a large value the first issue is
//! found, and then those close to it.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::{Schema, SchemaIssue, Steps, dotted, rule, shorten};

/// Issues that are listed.
const MAX_ISSUES: usize = 100;

/// The limit of all messages together.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// Steps within which everything is collected; each may keep half a kilobyte.
const MAX_STEPS: usize = 20_000;

/// Elements of a large array that are looked at together, beginning with the first wrong one.
const WINDOW: usize = 1_000;

impl Schema {
    /// The issues of a value that is invalid: at least one.
    pub(super) fn what_is_wrong(&self, value: &Value) -> Vec<SchemaIssue> {
        if !self.graph.is_beyond(value, Steps::Issues, MAX_STEPS) {
            return self.collected(value);
        }
        if self.graph.has_large_choice(value, MAX_STEPS) {
            return vec![SchemaIssue {
                path: String::new(),
                rule: "schema".to_owned(),
                message: "the value breaks the schema, and is too large to say where".to_owned(),
            }];
        }
        let Err(first) = self.validator.validate(value) else {
            return Vec::new();
        };
        let place = first.instance_path().to_string();
        let near = self.near(value, &place);
        match near.is_empty() {
            true => vec![self.issue(&first)],
            false => near,
        }
    }

    fn collected(&self, value: &Value) -> Vec<SchemaIssue> {
        let mut bytes = 0;
        let issues = self
            .validator
            .iter_errors(value)
            .map(|error| self.issue(&error));
        let within = |issue: &SchemaIssue| {
            bytes += issue.message.len() + issue.path.len() + issue.rule.len();
            bytes <= MAX_MESSAGE_BYTES
        };
        issues.take(MAX_ISSUES).take_while(within).collect()
    }

    fn issue(&self, error: &jsonschema::ValidationError<'_>) -> SchemaIssue {
        SchemaIssue {
            path: shorten(&place(error)),
            rule: rule(&error.schema_path().to_string()),
            message: shorten(&self.message(error)),
        }
    }

    /// The issues of the elements of a large array, from the one that a pointer leads to. Nothing
    /// if the place of an element may matter.
    fn near(&self, value: &Value, pointer: &str) -> Vec<SchemaIssue> {
        if has_places(&self.document) {
            return Vec::new();
        }
        let Some((array, at)) = large_array(value, pointer) else {
            return Vec::new();
        };
        let elements = value.pointer(array).and_then(Value::as_array);
        let Some(elements) = elements.and_then(|elements| elements.get(at..)) else {
            return Vec::new();
        };
        let window = elements.iter().take(WINDOW).cloned().collect();
        let part = with(value, array, Value::Array(window));
        if self.graph.is_beyond(&part, Steps::Issues, 4 * MAX_STEPS) {
            return Vec::new();
        }
        let prefix = dotted(array);
        let inside = |issue: SchemaIssue| {
            // Other issues of the part may be due to what it lacks.
            let rest = match prefix.is_empty() {
                true => issue.path.as_str(),
                false => issue.path.strip_prefix(&*prefix)?.strip_prefix('.')?,
            };
            let (index, rest) = match rest.split_once('.') {
                Some((index, rest)) => (index, format!(".{rest}")),
                None => (rest, String::new()),
            };
            let index: usize = index.parse().ok()?;
            let dot = if prefix.is_empty() { "" } else { "." };
            Some(SchemaIssue {
                path: format!("{prefix}{dot}{}{rest}", index + at),
                ..issue
            })
        };
        self.collected(&part)
            .into_iter()
            .filter_map(inside)
            .collect()
    }
}

/// Whether a rule of a schema depends on where in an array an element is, or on how many there are.
fn has_places(schema: &Value) -> bool {
    match schema {
        Value::Object(rules) => rules.iter().any(|(rule, value)| {
            matches!(
                rule.as_str(),
                "prefixItems" | "additionalItems" | "if" | "contains"
            ) || (rule == "items" && value.is_array())
                || has_places(value)
        }),
        Value::Array(items) => items.iter().any(has_places),
        _ => false,
    }
}

/// The first array on the way of a pointer that is larger than the window, and the element that the
/// pointer leads through.
fn large_array<'p>(value: &Value, pointer: &'p str) -> Option<(&'p str, usize)> {
    let ends = pointer.match_indices('/').map(|(at, _)| at);
    for at in ends {
        let array = &pointer[..at];
        if let Some(Value::Array(elements)) = value.pointer(array)
            && elements.len() > WINDOW
        {
            let index = pointer[at + 1..].split('/').next()?;
            return Some((array, index.parse().ok()?));
        }
    }
    None
}

/// A value with another one at a place. Copies only what is on the way there and beside it.
fn with(value: &Value, pointer: &str, part: Value) -> Value {
    let Some(rest) = pointer.strip_prefix('/') else {
        return part;
    };
    let (token, below) = match rest.find('/') {
        Some(end) => rest.split_at(end),
        None => (rest, ""),
    };
    let token = token.replace("~1", "/").replace("~0", "~");
    match value {
        Value::Object(members) => {
            let mut part = Some(part);
            let members = members.iter().map(|(name, member)| {
                let member = match (*name == token).then(|| part.take()).flatten() {
                    Some(part) => with(member, below, part),
                    None => member.clone(),
                };
                (name.clone(), member)
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => {
            let at: Option<usize> = token.parse().ok();
            let mut part = Some(part);
            let items = items.iter().enumerate().map(|(n, item)| {
                match (Some(n) == at).then(|| part.take()).flatten() {
                    Some(part) => with(item, below, part),
                    None => item.clone(),
                }
            });
            Value::Array(items.collect())
        }
        other => other.clone(),
    }
}

/// Whether a message may quote a value.
pub(super) fn is_short(value: &Value) -> bool {
    fn spend(value: &Value, left: &mut usize) -> bool {
        let bytes = match value {
            Value::String(text) => text.len() + 2,
            _ => 4,
        };
        match left.checked_sub(bytes) {
            None => false,
            Some(rest) => {
                *left = rest;
                match value {
                    Value::Array(items) => items.iter().all(|item| spend(item, left)),
                    Value::Object(members) => members.iter().all(|(name, member)| {
                        *left = left.saturating_sub(name.len());
                        spend(member, left)
                    }),
                    _ => true,
                }
            }
        }
    }
    spend(value, &mut 2_000)
}

/// Where an issue is: a field that is missing has its own path, not its parent's.
fn place(error: &jsonschema::ValidationError<'_>) -> String {
    let path = dotted(&error.instance_path().to_string());
    let ValidationErrorKind::Required { property } = error.kind() else {
        return path;
    };
    // `dependentRequired` is about the object: the field is missed because another one is there.
    if rule(&error.schema_path().to_string()) != "required" {
        return path;
    }
    let field = property.as_str().unwrap_or_default();
    match path.as_str() {
        "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}
