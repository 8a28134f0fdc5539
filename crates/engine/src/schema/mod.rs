//! JSON Schemas of inputs, state and handler configs, compiled once.
//!
//! The cost of a schema is known before it is compiled (`graph`); the list of a value's issues is
//! bounded (`issues`).

mod choice;
mod graph;
mod issues;
mod pattern;

use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, ValidationError, ValidationOptions, error::ValidationErrorKind};
use riverrun_types::{ErrorCode, Json, Path, State};
use serde::Serialize;
use serde_json::Value;

use crate::meant;
use graph::{Graph, Steps};

/// A schema ready for use.
#[derive(Clone, Debug)]
pub struct Schema {
    validator: Arc<jsonschema::Validator>,
    document: Arc<Value>,
    graph: Arc<Graph>,
    /// The same without the members that the whole value must have.
    relaxed: Arc<OnceLock<Option<Schema>>>,
}

/// An issue of a value: where, which rule, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemaIssue {
    pub path: String,
    pub rule: String,
    pub message: String,
}

impl SchemaIssue {
    /// After "… breaks the schema": where, if it is not the whole value, and what.
    pub fn described(&self) -> String {
        match self.path.as_str() {
            "" => format!(": {}", self.message),
            path => format!(" at {path:?}: {}", self.message),
        }
    }
}

/// Why a schema is not used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemaError {
    #[error("{0}")]
    Invalid(String),
    /// Evaluation could take too long: rejected before anything is compiled.
    #[error("the schema is too complex: {0}")]
    TooComplex(String),
}

impl SchemaError {
    /// The rule that it breaks, as issues name it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "schema",
            Self::TooComplex(_) => ErrorCode::SchemaTooComplex.as_str(),
        }
    }
}

/// Steps back that a pattern may take which a linear engine cannot match.
const MAX_BACKTRACKS: usize = 10_000;

/// Steps that take a millisecond or so.
const LIGHT: usize = 64 << 10;

/// Steps that the evaluation of a value may take: a second or two.
const MAX_WORK: usize = 50_000_000;

/// Values and names of members in a value that is held against a schema. Each takes up to 200 bytes
/// of memory meanwhile.
const MAX_VALUES: usize = 500_000;

impl Schema {
    /// Compiles a schema. References to other documents are rejected: none is fetched.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let graph = Graph::of(schema).map_err(SchemaError::TooComplex)?;
        let [linear, stepping_back] = options();
        let validator = linear
            .build(schema)
            .or_else(|_| stepping_back.build(schema))
            .map_err(|error| SchemaError::Invalid(shorten(&refused(&error.to_string()))))?;
        Ok(Self {
            validator: Arc::new(validator),
            document: Arc::new(schema.clone()),
            graph: Arc::new(graph),
            relaxed: Arc::default(),
        })
    }

    /// Whether a value is evaluated within a millisecond or so. Others are evaluated off the
    /// request threads.
    pub fn is_light(&self, value: &Json) -> bool {
        let bytes = value.bytes();
        self.is_light_for(bytes) || (bytes <= LIGHT && !self.is_beyond(&value.value(), LIGHT))
    }

    /// Whether any value of so many bytes is evaluated within a millisecond or so.
    pub fn is_light_for(&self, bytes: usize) -> bool {
        self.graph.is_within(bytes, LIGHT as u64)
    }

    fn is_beyond(&self, value: &Value, steps: usize) -> bool {
        self.graph.is_beyond(value, Steps::Evaluation, steps)
    }

    /// The first hundred issues of a value. A value with too many parts is not parsed.
    pub fn issues_of(&self, value: &Json) -> Vec<SchemaIssue> {
        match value.has_more_values(MAX_VALUES) {
            true => vec![too_complex(format!(
                "the value holds more than {MAX_VALUES} values and names of members, which is more than a schema is applied to"
            ))],
            false => self.issues(&value.value()),
        }
    }

    /// The first hundred issues of a value.
    pub fn issues(&self, value: &Value) -> Vec<SchemaIssue> {
        if self.is_beyond(value, MAX_WORK) {
            let message = "the value is too large for a schema of this complexity";
            return vec![too_complex(message.to_owned())];
        }
        match self.validator.is_valid(value) {
            true => Vec::new(),
            false => self.what_is_wrong(value),
        }
    }

    /// The issues, with a suggestion for a member without a meaning.
    fn message(&self, error: &ValidationError<'_>) -> String {
        let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() else {
            return match issues::is_short(error.instance()) {
                true => error.to_string(),
                false => error.masked_with("the value").to_string(),
            };
        };
        let path = error.schema_path().to_string();
        let known: Vec<&String> = members(&self.document, &path);
        let unknown = unexpected.iter().take(MAX_UNEXPECTED);
        let unknown =
            unknown.map(|name| format!("there is no {name:?} here{}", meant(name, &known)));
        unknown.collect::<Vec<_>>().join(", ")
    }

    /// The issues of a write. The state may still lack keys, so a missing top-level key is no
    /// issue.
    pub fn state_issues(&self, state: &State) -> Vec<SchemaIssue> {
        let mut issues = self.relaxed().issues_of(&state.json());
        issues.retain(|issue| issue.rule != "required" || issue.path.contains('.'));
        issues
    }

    fn relaxed(&self) -> &Schema {
        let relaxed = self.relaxed.get_or_init(|| {
            let mut document = (*self.document).clone();
            let rules = document.as_object_mut()?;
            let removed = rules.remove("required").is_some();
            let all = rules.get_mut("allOf").and_then(Value::as_array_mut);
            let all = all.into_iter().flatten();
            let parts = all.filter_map(|part| part.as_object_mut()?.remove("required"));
            let removed = parts.count() > 0 || removed;
            removed.then(|| Self::compile(&document).ok()).flatten()
        });
        relaxed.as_ref().unwrap_or(self)
    }

    pub fn write_issues(&self, state: &State, key: &Path, value: &Json) -> Vec<SchemaIssue> {
        let mut after = state.clone();
        after.set(key, value.clone());
        self.state_issues(&after)
    }
}

/// With a linear engine for patterns first. It has no lookaround and no references to groups.
fn options() -> [ValidationOptions<'static>; 2] {
    let stepping_back = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS);
    [
        jsonschema::options().with_pattern_options(PatternOptions::regex()),
        jsonschema::options().with_pattern_options(stepping_back),
    ]
}

fn too_complex(message: String) -> SchemaIssue {
    SchemaIssue {
        path: String::new(),
        rule: ErrorCode::SchemaTooComplex.into(),
        message,
    }
}

/// Members without a meaning that one issue names.
const MAX_UNEXPECTED: usize = 10;

/// The values in a value, itself included, up to a number.
fn count(value: &Value, most: u64) -> u64 {
    fn add(value: &Value, most: u64, counted: &mut u64) {
        *counted += 1;
        if *counted > most {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| add(item, most, counted)),
            Value::Object(members) => {
                let members = members.values();
                members.for_each(|member| add(member, most, counted));
            }
            _ => {}
        }
    }
    let mut counted = 0;
    add(value, most, &mut counted);
    counted
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

/// Why a schema is invalid. The library's own message mentions its build if a reference leads
/// elsewhere.
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
            assert!(error.to_string().contains("under $defs"), "{error}");
        }
    }

    #[test]
    fn an_issue_of_the_whole_value_names_no_place() {
        let schema = Schema::compile(&json!({
            "required": ["n"], "properties": {"n": {"type": "integer"}},
        }))
        .unwrap();
        let described = |value: Value| schema.issues(&value)[0].described();
        assert_eq!(
            described(json!({})),
            " at \"n\": \"n\" is a required property"
        );
        assert_eq!(
            described(json!({"n": "x"})),
            " at \"n\": \"x\" is not of type \"integer\""
        );
    }

    #[test]
    fn an_unknown_member_is_reported_with_the_one_that_was_meant() {
        let schema = Schema::compile(&json!({
            "properties": {"await": {"$ref": "#/$defs/await"}},
            "$defs": {"await": {
                "properties": {"timeout": {}, "type": {}}, "additionalProperties": false,
            }},
        }))
        .unwrap();
        let described = |value: Value| schema.issues(&value)[0].described();
        assert_eq!(
            described(json!({"await": {"tiemout": 1, "x": 1}})),
            " at \"await\": there is no \"tiemout\" here; did you mean timeout?, there is no \"x\" here"
        );
    }

    #[test]
    fn what_a_state_lacks_hides_nothing_else() {
        let names: Vec<String> = (0..300).map(|n| format!("k{n}")).collect();
        let schema = Schema::compile(&json!({
            "required": names, "allOf": [{"required": ["x"]}],
            "properties": {"n": {"type": "integer"}},
        }))
        .unwrap();
        let state = |value: Value| State::from_input(&Json::of(&value));
        assert_eq!(schema.state_issues(&state(json!({"n": 1}))), []);
        let issues = schema.state_issues(&state(json!({"n": "x"})));
        assert_eq!(issues.len(), 1);
        assert_eq!(issues[0].path, "n");
    }

    /// The test kits of the SDKs are held to the same table.
    #[test]
    fn schemas_mean_what_the_test_kits_make_of_them() {
        let table = include_str!("../../../../sdks/conformance/schemas.json");
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

    #[test]
    fn schemas_that_multiply_are_refused_beforehand() {
        let levels = |applicator: &str, count: usize| {
            let mut defs = serde_json::Map::new();
            for level in 0..count {
                let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
                let schema = match applicator {
                    "if" => json!({"if": next, "then": next, "else": next}),
                    "dependentSchemas" => json!({"dependentSchemas": {"a": next, "b": next}}),
                    "not" => json!({"not": {"anyOf": [next, next]}}),
                    "unevaluatedProperties" => {
                        json!({"allOf": [next], "unevaluatedProperties": false})
                    }
                    _ => json!({ applicator: [next, next] }),
                };
                defs.insert(format!("l{level}"), schema);
            }
            defs.insert(format!("l{count}"), json!({"type": "integer"}));
            json!({"$ref": "#/$defs/l0", "$defs": defs})
        };
        for applicator in [
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "dependentSchemas",
            "not",
            "unevaluatedProperties",
        ] {
            let error = Schema::compile(&levels(applicator, 40)).unwrap_err();
            assert_eq!(error.rule(), "SCHEMA_TOO_COMPLEX", "{applicator}: {error}");
            let schema = Schema::compile(&levels(applicator, 5)).unwrap();
            schema.issues(&json!("x"));
        }
        let named = json!({
            "$id": "https://x.org/root", "allOf": [{"$ref": "a0"}],
            "$defs": (0..40).map(|n| {
                let next = json!({"$ref": format!("a{}", n + 1)});
                (format!("d{n}"), json!({"$id": format!("a{n}"), "allOf": [next, next]}))
            }).collect::<serde_json::Map<_, _>>(),
        });
        let error = Schema::compile(&named).unwrap_err();
        assert_eq!(error.rule(), "SCHEMA_TOO_COMPLEX", "{error}");
        for itself in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}}),
            json!({"pattern": "(a{9999}){9999}"}),
            json!({"enum": (0..100_000).collect::<Vec<_>>()}),
        ] {
            let error = Schema::compile(&itself).unwrap_err();
            assert_eq!(error.rule(), "SCHEMA_TOO_COMPLEX", "{error}");
        }
    }

    /// The n-th element of the list is evaluated 2^n times: what a value costs is counted beforehand.
    #[test]
    fn a_small_value_that_multiplies_work_is_refused_beforehand() {
        let branch =
            |name: &str| json!({"properties": {"next": {"$ref": "#/$defs/node"}, name: {}}});
        let schema = Schema::compile(&json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "anyOf": [branch("a"), branch("b")]}},
        }))
        .unwrap();
        let list = |length| (0..length).fold(json!(1), |next, _| json!({ "next": next }));
        let issues = schema.issues(&list(99));
        assert_eq!(issues[0].rule, "SCHEMA_TOO_COMPLEX", "{issues:?}");
        assert!(!schema.is_light(&Json::of(&list(99))));
        assert!(schema.is_light(&Json::of(&list(5))));
        assert_ne!(schema.issues(&list(5))[0].rule, "SCHEMA_TOO_COMPLEX");
    }

    #[test]
    fn texts_and_names_cost_what_their_patterns_do() {
        let text = "ab".repeat(500_000);
        let names: serde_json::Map<_, _> = (0..20_000)
            .map(|n| (format!("{n}{}", "a".repeat(100)), json!(n)))
            .collect();
        let patterns: serde_json::Map<_, _> = (0..100)
            .map(|n| (format!("(a|b)*a(a|b){{{n}}}x"), json!(true)))
            .collect();
        let strings = vec!["a".repeat(64); 50_000];
        for (schema, value) in [
            (json!({"pattern": "^(a|b)*a(a|b){4000}c$"}), json!(text)),
            (
                json!({"propertyNames": {"pattern": "(a|b){4000}c$"}}),
                json!(names),
            ),
            (json!({ "patternProperties": patterns }), json!(names)),
            (
                json!({"items": {"pattern": "^(a|a)*\\1b$"}}),
                json!(strings),
            ),
        ] {
            let compiled = Schema::compile(&schema).unwrap();
            let issues = compiled.issues(&value);
            assert_eq!(issues[0].rule, "SCHEMA_TOO_COMPLEX", "{schema}: {issues:?}");
        }
        let slugs = Schema::compile(&json!({"items": {"pattern": "^[a-z0-9-]{1,64}$"}})).unwrap();
        assert_eq!(
            slugs.issues(&json!(vec!["a-slug-of-an-article"; 100_000])),
            []
        );
    }

    /// 10 MB of numbers would be 800 MB when they are parsed.
    #[test]
    fn a_value_of_too_many_values_is_not_parsed() {
        let numbers = |count: usize| {
            let text = format!("[{}1]", "1,".repeat(count - 1));
            Json::parse_text(text).unwrap()
        };
        let schema = Schema::compile(&json!({"items": {"type": "integer"}})).unwrap();
        let issues = schema.issues_of(&numbers(5_000_000));
        assert_eq!(issues[0].rule, "SCHEMA_TOO_COMPLEX");
        assert!(issues[0].message.contains("500000"), "{issues:?}");
        assert_eq!(schema.issues_of(&numbers(499_000)), []);
    }

    /// Ordinary schemas, also those that refer to themselves, have a cost that does not depend on the
    /// value.
    #[test]
    fn ordinary_schemas_are_light_for_small_values() {
        for schema in [
            json!({"type": "object", "required": ["a"], "additionalProperties": false,
                "properties": {"a": {"type": "string"}, "b": {"items": {"type": "number"}}}}),
            json!({"properties": {"name": {"type": "string"}, "children": {"items": {"$ref": "#"}}},
                "additionalProperties": false}),
            json!({"properties": {"mail": {"pattern": "^[^@]+@[^@]+$"}}}),
        ] {
            assert!(
                Schema::compile(&schema).unwrap().is_light_for(4_000),
                "{schema}"
            );
        }
    }

    /// Documents and syntax trees: each branch of a choice leads on, and the value says which one is
    /// meant.
    #[test]
    fn choices_that_the_value_makes_do_not_multiply() {
        let kinds = ["doc", "list", "item", "quote", "table", "row", "cell"];
        let branch = |kind: &&str| {
            json!({
                "type": "object", "required": ["type"],
                "properties": {"content": {"items": {"$ref": "#/$defs/node"}}, "type": {"const": kind}},
            })
        };
        let branches: Vec<Value> = kinds.iter().map(branch).collect();
        let schema = Schema::compile(&json!({
            "$ref": "#/$defs/node", "$defs": {"node": {"anyOf": branches}},
        }))
        .unwrap();
        let inner = json!({"type": "cell"});
        let document = (0..40).fold(
            inner,
            |inner, n| json!({"content": [inner], "type": kinds[n % kinds.len()]}),
        );
        assert_eq!(schema.issues(&document), []);
        assert!(schema.is_light(&Json::of(&document)));
    }

    /// A schema may refer to itself below a member or an element, however often.
    #[test]
    fn recursion_that_doubles_with_every_level_ends() {
        let schema = Schema::compile(&json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"anyOf": [
                {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["a"]},
                {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["b"]},
                {"type": "integer"},
            ]}},
        }))
        .unwrap();
        let chain = |end: Value| (0..100).fold(end, |next, _| json!({"b": 1, "next": next}));
        assert_eq!(schema.issues(&chain(json!(1))), []);
        assert_eq!(schema.issues(&chain(json!("x"))).len(), 1);
    }

    #[test]
    fn long_chains_of_references_do_no_harm() {
        let chain = |count: usize, link: &dyn Fn(Value) -> Value| {
            let defs = (0..count).map(|n| {
                let next = json!({"$ref": format!("#/$defs/l{}", n + 1)});
                (format!("l{n}"), link(next))
            });
            let mut defs: serde_json::Map<_, _> = defs.collect();
            defs.insert(format!("l{count}"), json!({"type": "integer"}));
            json!({"$ref": "#/$defs/l0", "$defs": defs})
        };
        let in_place = |next| json!({"allOf": [next]});
        let below = |next| json!({"properties": {"a": next}});
        let deep = (0..120).fold(json!(1), |inner, _| json!({"a": inner}));
        assert!(Schema::compile(&chain(5_000, &in_place)).is_err());
        assert!(Schema::compile(&chain(5_000, &below)).is_err());
        Schema::compile(&chain(15, &in_place))
            .unwrap()
            .issues(&deep);
        Schema::compile(&chain(1_900, &below))
            .unwrap()
            .issues(&deep);
        let long = json!({
            "$ref": "#/$defs/l0",
            "$defs": (0..15).map(|n| {
                let next = format!("#/$defs/l{}", n + 1);
                (format!("l{n}"), json!({"allOf": [{"$ref": next}]}))
            }).chain([("l15".to_owned(), json!({"properties": {"a": {"$ref": "#"}}}))])
            .collect::<serde_json::Map<_, _>>(),
        });
        Schema::compile(&long).unwrap().issues(&deep);
    }

    #[test]
    fn at_most_a_hundred_issues_are_listed() {
        let schema = Schema::compile(&json!({"items": {"anyOf": [
            {"type": "string"}, {"type": "object", "required": ["a"]}, {"enum": ["x", "y"]},
        ]}}))
        .unwrap();
        for count in [150, 1_000_000] {
            let issues = schema.issues(&json!(vec![1; count]));
            assert_eq!(issues.len(), 100, "{count}");
            assert_eq!((&*issues[0].path, &*issues[0].rule), ("0", "anyOf"));
            assert_eq!(&*issues[99].path, "99");
        }
        let mut late = vec![json!("x"); 500_000];
        late[400_000] = json!({"b": 1});
        late[400_007] = json!(7);
        let issues = schema.issues(&json!(late));
        let paths: Vec<&str> = issues.iter().map(|issue| &*issue.path).collect();
        assert_eq!(paths, ["400000", "400007"]);
    }

    /// The issues of every branch of a choice about a large value are not collected.
    #[test]
    fn a_choice_about_a_large_value_is_one_issue() {
        let schema = Schema::compile(&json!({"properties": {"rows": {"anyOf": [
            {"items": {"type": "string"}}, {"items": {"type": "boolean"}},
        ]}}}))
        .unwrap();
        let issues = schema.issues(&json!({"rows": vec![1; 1_000_000]}));
        assert_eq!(issues.len(), 1);
        assert!(issues[0].message.len() < 400, "{:?}", issues[0]);
    }

    #[test]
    fn messages_do_not_quote_what_is_long() {
        let schema = Schema::compile(&json!({
            "properties": {"a": {"type": "integer"}, "b": {"maxItems": 1}},
            "additionalProperties": false,
        }))
        .unwrap();
        let mut value = json!({"a": "x".repeat(1 << 20), "b": vec![0; 100_000]});
        for n in 0..1_000 {
            value[format!("more{n}")] = json!(n);
        }
        let issues = schema.issues(&value);
        assert_eq!(issues.len(), 3);
        let bytes: usize = issues.iter().map(|issue| issue.message.len()).sum();
        assert!(bytes < 1_500, "{issues:?}");
    }

    #[test]
    fn patterns_that_need_to_step_back_still_work() {
        let schema = Schema::compile(&json!({"pattern": "^(?!admin)\\w+$"})).unwrap();
        assert_eq!(schema.issues(&json!("ada")), []);
        assert_eq!(schema.issues(&json!("admin")).len(), 1);
        let schema = Schema::compile(&json!({"pattern": "^(a|a)*\\1b$"})).unwrap();
        assert_eq!(schema.issues(&json!("a".repeat(64))).len(), 1);
    }
}
