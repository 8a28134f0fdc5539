//! Choices that a member of the value makes: branches of `anyOf` or `oneOf` that each require the same
//! member and fix it to a text of their own.
//!
//! The validator evaluates only the branch that is meant then, if there are three or more. This
//! mirrors when it does so, and never says so where it does not.
//!
//! A plain upper bound would count every branch. Where branches lead to one another, as in the schema
//! of a syntax tree, that is the number of branches to the power of the value's depth, and the bound
//! would refuse small values that the validator evaluates in a moment. If a later validator looks at
//! more than this says, evaluations take longer than they are counted; they still run beside the
//! threads that serve requests, four at once at most.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::graph::Id;

/// The fewest branches for which the validator looks at the member.
const MIN_BRANCHES: usize = 3;
/// References and `allOf` inside one another that are followed.
const MAX_DEPTH: usize = 8;

#[derive(Debug)]
pub(super) struct Choice {
    member: String,
    /// By the text that the member has.
    branches: HashMap<String, Id>,
    all: Vec<Id>,
}

impl Choice {
    pub fn of(
        document: &Value,
        branches: &Value,
        ids: &HashMap<*const Value, Id>,
    ) -> Option<Choice> {
        let branches = branches.as_array()?;
        if branches.len() < MIN_BRANCHES || is_of_other_drafts(document, 0) {
            return None;
        }
        let id = |branch: &Value| ids.get(&std::ptr::from_ref(branch)).copied();
        let all: Vec<Id> = branches.iter().map(id).collect::<Option<_>>()?;
        let pins = branches.iter().map(|branch| {
            let mut pins = Pins::default();
            pins.collect(document, branch, 0);
            pins.required_texts(document)
        });
        let pins: Vec<HashMap<&str, &str>> = pins.collect();
        let mut members: Vec<&str> = pins.first()?.keys().copied().collect();
        members.sort_unstable();
        members.into_iter().find_map(|member| {
            let texts: Option<Vec<&str>> =
                pins.iter().map(|pin| pin.get(member).copied()).collect();
            let texts = texts?.into_iter().map(str::to_owned);
            let branches: HashMap<String, Id> = texts.zip(all.iter().copied()).collect();
            (branches.len() == all.len()).then(|| Choice {
                member: member.to_owned(),
                branches,
                all: all.clone(),
            })
        })
    }

    pub fn has(&self, id: Id) -> bool {
        self.all.contains(&id)
    }

    /// The branches that the validator evaluates for a value.
    pub fn candidates(&self, value: &Value) -> &[Id] {
        let Value::Object(members) = value else {
            return &self.all;
        };
        let text = members.get(&self.member).and_then(Value::as_str);
        let branch = text.and_then(|text| self.branches.get(text));
        branch.map_or(&[], std::slice::from_ref)
    }
}

/// Whether a subschema names a draft of its own, or the document an old one: rules have other meanings
/// there.
fn is_of_other_drafts(document: &Value, depth: usize) -> bool {
    let others = |value: &Value| is_of_other_drafts(value, depth + 1);
    match document {
        Value::Object(members) => {
            let draft = members.get("$schema").and_then(Value::as_str);
            draft.is_some_and(|draft| depth > 0 || draft.contains("draft-04"))
                || members.values().any(others)
        }
        Value::Array(items) => items.iter().any(others),
        _ => false,
    }
}

#[derive(Default)]
struct Pins<'a> {
    required: HashSet<&'a str>,
    properties: Vec<&'a Map<String, Value>>,
}

impl<'a> Pins<'a> {
    fn collect(&mut self, document: &'a Value, schema: &'a Value, depth: usize) {
        let Value::Object(rules) = schema else { return };
        if depth > MAX_DEPTH {
            return;
        }
        if rules.contains_key("$ref") {
            // By older drafts nothing beside a reference has a meaning.
            if let Some(target) = target(document, rules) {
                self.collect(document, target, depth + 1);
            }
            return;
        }
        let required = rules.get("required").and_then(Value::as_array);
        self.required
            .extend(required.into_iter().flatten().filter_map(Value::as_str));
        self.properties
            .extend(rules.get("properties").and_then(Value::as_object));
        for part in rules
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.collect(document, part, depth + 1);
        }
    }

    /// The members that must be there and can have one text only.
    fn required_texts(&self, document: &'a Value) -> HashMap<&'a str, &'a str> {
        let text = |member: &&'a str| {
            let mut schemas = self.properties.iter().filter_map(|all| all.get(*member));
            schemas.find_map(|schema| only_text(document, schema, 0))
        };
        let required = self.required.iter();
        required
            .filter_map(|member| Some((*member, text(member)?)))
            .collect()
    }
}

fn only_text<'a>(document: &'a Value, schema: &'a Value, depth: usize) -> Option<&'a str> {
    let rules = schema.as_object().filter(|_| depth <= MAX_DEPTH)?;
    if rules.contains_key("$ref") {
        return only_text(document, target(document, rules)?, depth + 1);
    }
    match (rules.get("const"), rules.get("enum")) {
        (Some(Value::String(text)), _) => Some(text),
        (_, Some(Value::Array(values))) => match values.as_slice() {
            [Value::String(text)] => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Where a reference inside the document leads; other ones are not followed.
fn target<'a>(document: &'a Value, rules: &Map<String, Value>) -> Option<&'a Value> {
    let pointer = rules.get("$ref")?.as_str()?.strip_prefix('#')?;
    let is_plain = pointer.starts_with('/') && !pointer.contains(['%', '~']);
    document.pointer(pointer).filter(|_| is_plain)
}
