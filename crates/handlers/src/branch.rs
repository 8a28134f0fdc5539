//! `branch`: the next step by conditions.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use regex::{Regex, RegexBuilder};
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Failure, Finder, Outcome, SchemaIssue};
use riverrun_types::{ErrorCode, Json, Name, Path};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json, value::RawValue};

use crate::{
    config::{self, Issues, target},
    operator::{Operator, holds},
    scope,
    script::{self, Script},
};

/// Bytes that one compiled pattern may take; repetitions of repetitions grow fast.
const MAX_REGEX_BYTES: usize = 1 << 20;

pub(crate) struct Branch;

#[derive(Deserialize)]
struct Config {
    conditions: Vec<ConditionConfig>,
}

#[derive(Deserialize)]
struct ConditionConfig {
    path: Option<String>,
    op: Option<Operator>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    when: Option<String>,
    goto: Option<Name>,
    /// `{path, eq: 7}` says the same as `{path, op: eq, value: 7}`.
    #[serde(flatten)]
    by_operator: IndexMap<Operator, Value>,
}

/// A value of null is a value; only an absent one is `None`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Handler for Branch {
    fn kind(&self) -> &str {
        "branch"
    }

    fn about(&self) -> &str {
        "Goes to the step of the first condition that holds."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "branch",
            "description": "Has no output. If no condition holds and there is no default, the step fails with NO_MATCH.",
            "type": "object",
            "additionalProperties": false,
            "required": ["conditions"],
            "properties": {
                "conditions": {
                    "description": "Tried from first to last. A condition has either path and op (and value), or path and the operator as the name of its value, as in `{\"path\": \"total\", \"gte\": 100}`, or when.",
                    "type": "array",
                    "maxItems": 1000,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["goto"],
                        "properties": {
                            "path": {
                                "description": "A dot path to the value in the state. `input` is the step's input unless the state has a member `input`.",
                                "type": "string",
                                "minLength": 1
                            },
                            "op": {
                                "description": "eq: deep equality, numbers by value (1 is 1.0), in any order of members; a missing value equals nothing. neq: not eq. gt, gte, lt, lte: two numbers, or two strings by code points; otherwise no match. exists: there and not null. notExists: missing or null. in: eq to one item of the list value. nin: not in. contains: a list with an item that is eq, or a string with that text in it. startsWith, endsWith: strings. matches: a string in which the regular expression finds a match (write ^ and $ for the whole); linear time, so no look-around and no back-references.",
                                "enum": Operator::NAMES
                            },
                            "value": {
                                "description": "The value to compare with, as it is written. Not needed by exists and notExists."
                            },
                            "when": {
                                "description": "A JavaScript expression over `input` (the step's input) and `state`, or a function of (input, {state, input}). The condition holds if its value is truthy.",
                                "type": "string",
                                "minLength": 1
                            },
                            "goto": {
                                "description": "The step to go to; null ends the path here.",
                                "type": ["string", "null"],
                                "minLength": 1
                            }
                        }
                    }
                },
                "default": {
                    "description": "The step to go to when no condition holds; null ends the path here.",
                    "type": ["string", "null"],
                    "minLength": 1
                }
            },
            "examples": [
                {
                    "conditions": [
                        {"path": "order.total", "op": "gte", "value": 100, "goto": "approve"},
                        {"path": "order.coupon", "op": "exists", "goto": "discount"},
                        {"path": "order.country", "op": "in", "value": ["DE", "AT"], "goto": "local"},
                        {"path": "order.mail", "op": "matches", "value": "@example\\.com$", "goto": "test"},
                        {"when": "state.order.items.length > input.limit", "goto": "split"}
                    ],
                    "default": "ship"
                },
                {"conditions": [{"path": "done", "op": "eq", "value": true, "goto": null}], "default": "again"},
                {"conditions": [{"path": "order.total", "gte": 100, "goto": "approve"}], "default": "ship"}
            ]
        });
        let condition = &mut schema["properties"]["conditions"]["items"]["properties"];
        for operator in Operator::NAMES {
            let description = format!(
                "The value that {operator} compares with: short for op {operator} and value."
            );
            condition[operator] = json!({ "description": description });
        }
        schema
    }

    fn chooses(&self) -> bool {
        true
    }

    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        let conditions = config.get("conditions").and_then(Value::as_array);
        let conditions = conditions.into_iter().flatten().enumerate();
        conditions
            .filter_map(|(i, condition)| {
                target(format!("conditions.{i}.goto"), condition.get("goto"))
            })
            .chain(target("default".to_owned(), config.get("default")))
            .collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let default = config
            .get("default")
            .map(|step| step.as_str().map(Name::from));
        let config: Config = config::read(config)?;
        let mut issues = Issues::default();
        let mut conditions = Vec::with_capacity(config.conditions.len());
        for (index, condition) in config.conditions.into_iter().enumerate() {
            let at = format!("conditions.{index}");
            let goto = condition.goto.clone();
            let test = prepare_test(&at, condition, &mut issues);
            conditions.extend(test.map(|test| Condition { test, goto }));
        }
        issues.finish(Some(BranchAction {
            conditions,
            default,
        }))
    }
}

fn prepare_test(at: &str, condition: ConditionConfig, issues: &mut Issues) -> Option<Test> {
    let ConditionConfig {
        path,
        mut op,
        mut value,
        when,
        by_operator,
        ..
    } = condition;
    let is_plain = op.is_none() && value.is_none() && when.is_none();
    match by_operator.len() {
        0 => {}
        1 if is_plain => {
            for (operator, expected) in by_operator {
                (op, value) = named(at, operator, expected, issues)?;
            }
        }
        _ => {
            let message = "a condition has one operator, and a value beside it only with op";
            issues.add(at, "condition", message);
            return None;
        }
    }
    match (when, path, op) {
        (Some(when), None, None) if value.is_none() => {
            let script = issues.script(&format!("{at}.when"), &when);
            script.map(Test::When)
        }
        (None, Some(path), Some(op)) => {
            let path = issues.path(&format!("{at}.path"), &path);
            let test = prepare_comparison(at, op, value, issues);
            let (path, (value, regex)) = (path?, test?);
            Some(match regex {
                Some(regex) => Test::Matches(path, regex),
                None => Test::Compare(path, op, value),
            })
        }
        _ => {
            let message = "a condition has either path and an operator (and its value), or when";
            issues.add(at, "condition", message);
            None
        }
    }
}

/// An operator that stands as the name of its value. `exists: false` means the same as
/// `notExists: true`.
fn named(
    at: &str,
    operator: Operator,
    expected: Value,
    issues: &mut Issues,
) -> Option<(Option<Operator>, Option<Value>)> {
    let inverse = match operator {
        Operator::Exists => Operator::NotExists,
        Operator::NotExists => Operator::Exists,
        operator => return Some((Some(operator), Some(expected))),
    };
    match expected {
        Value::Bool(true) => Some((Some(operator), None)),
        Value::Bool(false) => Some((Some(inverse), None)),
        _ => {
            let message = "exists and notExists are true or false where they have a value";
            issues.add(at, "type", message);
            None
        }
    }
}

fn prepare_comparison(
    at: &str,
    op: Operator,
    value: Option<Value>,
    issues: &mut Issues,
) -> Option<(Value, Option<Regex>)> {
    let at = format!("{at}.value");
    let Some(value) = value.or_else(|| op.is_unary().then_some(Value::Null)) else {
        issues.add(
            &at,
            "required",
            "the operator needs a value to compare with",
        );
        return None;
    };
    if !op.takes(&value) {
        let needs = op.needs().unwrap_or_default();
        issues.add(&at, "type", format!("the operator compares with a {needs}"));
        return None;
    }
    if op != Operator::Matches {
        return Some((value, None));
    }
    let pattern = value.as_str().unwrap_or_default();
    let mut builder = RegexBuilder::new(pattern);
    builder
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES);
    match builder.build() {
        Ok(regex) => Some((value, Some(regex))),
        Err(error) => {
            issues.add(&at, "regex", error.to_string());
            None
        }
    }
}

struct BranchAction {
    conditions: Vec<Condition>,
    /// `Some(None)` is a default of null.
    default: Option<Option<Name>>,
}

struct Condition {
    test: Test,
    goto: Option<Name>,
}

enum Test {
    Compare(Path, Operator, Value),
    Matches(Path, Regex),
    When(Script),
}

impl Test {
    async fn holds(
        &self,
        call: &Call<'_>,
        finder: &mut Finder<'_, '_>,
    ) -> Result<bool, riverrun_expr::Error> {
        Ok(match self {
            Self::Compare(path, operator, expected) => {
                let actual = finder.find(path).map(RawValue::get);
                let actual = if operator.is_unary() {
                    // That it is there is all that matters, and it may be long.
                    let there = actual.filter(|text| *text != "null");
                    there.map(|_| Value::Bool(true))
                } else {
                    share_thread(actual).await;
                    // A number that no machine type holds equals nothing, so it counts as missing.
                    actual.and_then(|text| serde_json::from_str(text).ok())
                };
                holds(*operator, actual.as_ref(), expected)
            }
            Self::Matches(path, regex) => {
                let text = finder.find(path).map(RawValue::get);
                share_thread(text).await;
                let text = text.and_then(|text| serde_json::from_str::<String>(text).ok());
                text.is_some_and(|text| regex.is_match(&text))
            }
            Self::When(script) => is_truthy(&script.run(call).await?),
        })
    }
}

/// Reading a large value takes a while, and a branch may read it once for each condition: other
/// runs have their turn in between.
async fn share_thread(value: Option<&str>) {
    const LARGE_BYTES: usize = 64 << 10;
    if value.is_some_and(|value| value.len() > LARGE_BYTES) {
        tokio::task::yield_now().await;
    }
}

/// As in JavaScript; what is not a number (NaN) has arrived as null.
fn is_truthy(json: &Json) -> bool {
    match json.as_str() {
        "null" | "false" | "\"\"" => false,
        text => text.parse::<f64>() != Ok(0.0),
    }
}

#[async_trait]
impl Action for BranchAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let view = scope::with_input(call);
        let mut finder = Finder::new(&view);
        for (index, condition) in self.conditions.iter().enumerate() {
            match condition.test.holds(call, &mut finder).await {
                Ok(true) => return goto(&condition.goto),
                Ok(false) => {}
                Err(error) => {
                    let mut failure = script::failure(ErrorCode::BranchError, &error);
                    failure.message = format!("conditions.{index}.when: {}", failure.message);
                    return Outcome::Failure(failure);
                }
            }
        }
        match &self.default {
            Some(step) => goto(step),
            None => {
                let message = "no condition holds and there is no default";
                Outcome::Failure(Failure::new(ErrorCode::NoMatch, message).permanent())
            }
        }
    }
}

fn goto(step: &Option<Name>) -> Outcome {
    Outcome::Success {
        output: None,
        next: Some(step.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    async fn check(conditions: Value, expected: Value) {
        let bench = Bench::new(json!({"order": {"total": 50, "mail": "a@example.com"}, "z": null}));
        let config = json!({"conditions": conditions});
        let outcome = bench.run(&Branch, config, json!({"limit": 40})).await;
        assert_eq!(brief(&outcome), expected);
    }

    #[tokio::test]
    async fn an_operator_may_be_the_name_of_its_value() {
        for (condition, holds) in [
            (json!({"path": "order.total", "gte": 50}), true),
            (json!({"path": "order.total", "eq": 51}), false),
            (json!({"path": "order.total", "in": [1, 50]}), true),
            (json!({"path": "order.mail", "matches": "^a@"}), true),
            (json!({"path": "order.mail", "exists": true}), true),
            (json!({"path": "gone", "exists": false}), true),
            (json!({"path": "gone", "notExists": false}), false),
            (json!({"path": "z", "eq": null}), true),
        ] {
            let mut condition = condition;
            condition["goto"] = json!("a");
            let expected = match holds {
                true => json!({"goto": "a"}),
                false => json!({"failed": "NO_MATCH", "retriable": false}),
            };
            check(json!([condition]), expected).await;
        }
        for wrong in [
            json!({"path": "a", "eq": 1, "gt": 2, "goto": "x"}),
            json!({"path": "a", "eq": 1, "op": "eq", "goto": "x"}),
            json!({"path": "a", "eq": 1, "value": 2, "goto": "x"}),
        ] {
            let config = json!({"conditions": [wrong]});
            check_issues(&Branch, config, &[("conditions.0", "condition")]);
        }
        check_issues(
            &Branch,
            json!({"conditions": [{"path": "a", "exists": 1, "goto": "x"}]}),
            &[("conditions.0", "type")],
        );
    }

    #[tokio::test]
    async fn the_first_condition_that_holds() {
        check(
            json!([
                {"path": "order.total", "op": "gt", "value": 100, "goto": "a"},
                {"path": "order.total", "op": "eq", "value": 50.0, "goto": "b"},
                {"path": "order", "op": "exists", "goto": "c"},
            ]),
            json!({"goto": "b"}),
        )
        .await;
        check(
            json!([{"path": "input.limit", "op": "eq", "value": 40, "goto": "a"}]),
            json!({"goto": "a"}),
        )
        .await;
        check(
            json!([{"path": "z", "op": "notExists", "goto": null}]),
            json!({"goto": null}),
        )
        .await;
        check(
            json!([{"path": "order.total", "op": "matches", "value": "5", "goto": "a"},
                   {"path": "order.mail", "op": "matches", "value": "^[a-z]@", "goto": "b"}]),
            json!({"goto": "b"}),
        )
        .await;
        check(
            json!([{"when": "''", "goto": "a"}, {"when": "0 / 0", "goto": "a"},
                   {"when": "input.gone", "goto": "a"}, {"when": "-0", "goto": "a"},
                   {"when": "state.order.total > input.limit", "goto": "b"}]),
            json!({"goto": "b"}),
        )
        .await;
    }

    #[tokio::test]
    async fn values_as_deep_and_large_as_can_be_exist() {
        let mut bench = Bench::new(json!({}));
        let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
        for (text, op) in [
            (deep.as_str(), "neq"),
            (deep.as_str(), "exists"),
            ("1e308", "exists"),
            ("null", "notExists"),
        ] {
            let value = Json::parse_text(text.to_owned()).unwrap();
            bench.state = [("v".to_owned(), value)].into_iter().collect();
            let config =
                json!({"conditions": [{"path": "v", "op": op, "value": null, "goto": "a"}]});
            let outcome = bench.run(&Branch, config, json!(null)).await;
            assert_eq!(brief(&outcome), json!({"goto": "a"}), "{op}");
        }
    }

    #[tokio::test]
    async fn no_match() {
        let none = json!({"failed": "NO_MATCH", "retriable": false});
        check(json!([]), none).await;
        let bench = Bench::new(json!({}));
        for (default, expected) in [(json!("d"), json!("d")), (json!(null), json!(null))] {
            let config = json!({"conditions": [], "default": default});
            let outcome = bench.run(&Branch, config, json!(null)).await;
            assert_eq!(brief(&outcome), json!({"goto": expected}));
        }
    }

    #[tokio::test]
    async fn an_expression_that_throws_says_which() {
        let bench = Bench::new(json!({}));
        let config = json!({"conditions": [{"when": "state.a.b", "goto": "x"}]});
        let Outcome::Failure(failure) = bench.run(&Branch, config, json!(null)).await else {
            panic!("it failed not");
        };
        assert_eq!(
            (failure.code.as_str(), failure.retriable),
            ("BRANCH_ERROR", Some(false))
        );
        assert!(
            failure.message.starts_with("conditions.0.when: "),
            "{}",
            failure.message
        );
        assert_eq!(failure.details.unwrap().value()["code"], "EXPR_THROWN");
    }

    #[test]
    fn every_issue_at_once() {
        check_issues(
            &Branch,
            json!({"conditions": [
                {"path": "a..b", "op": "eq", "goto": "x"},
                {"path": "a", "goto": "x"},
                {"when": "a b", "goto": "x"},
                {"when": "1", "path": "a", "op": "exists", "goto": "x"},
                {"path": "a", "op": "in", "value": 1, "goto": "x"},
                {"path": "a", "op": "matches", "value": "(", "goto": "x"},
                {"path": "a", "op": "matches", "value": "(a{1000}){1000}", "goto": "x"},
                {"path": "a", "op": "lt", "value": null, "goto": "x"},
                {"path": "a", "op": "notExists", "goto": "x"},
                {"path": "a", "op": "eq", "value": null, "goto": "x"},
            ]}),
            &[
                ("conditions.0.path", "path"),
                ("conditions.0.value", "required"),
                ("conditions.1", "condition"),
                ("conditions.2.when", "expression"),
                ("conditions.3", "condition"),
                ("conditions.4.value", "type"),
                ("conditions.5.value", "regex"),
                ("conditions.6.value", "regex"),
                ("conditions.7.value", "type"),
            ],
        );
        check_issues(
            &Branch,
            json!({"conditions": [{"path": "a", "op": "like", "goto": "x", "els": 1}]}),
            &[
                ("conditions.0", "additionalProperties"),
                ("conditions.0.op", "enum"),
            ],
        );
    }

    #[test]
    fn targets_are_found() {
        let config =
            json!({"conditions": [{"goto": "a"}, {"goto": null}, {"goto": "b"}], "default": "c"});
        let expected = [
            ("conditions.0.goto", "a"),
            ("conditions.2.goto", "b"),
            ("default", "c"),
        ];
        let expected = expected.map(|(p, t)| (p.to_owned(), t.to_owned()));
        assert_eq!(Branch.targets(&config), expected);
        assert!(Branch.targets(&json!([])).is_empty());
    }
}
