//! `switch`: the next step by a value.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Failure, Outcome, SchemaIssue};
use riverrun_types::{ErrorCode, Name, Path};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    config::{self, Issues, target},
    scope,
};

pub(crate) struct Switch;

#[derive(Deserialize)]
struct Config {
    path: String,
    cases: HashMap<String, Option<Name>>,
}

impl Handler for Switch {
    fn kind(&self) -> &str {
        "switch"
    }

    fn about(&self) -> &str {
        "Goes to the step that a value of the state or of its input chooses."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        let step = json!({"type": ["string", "null"], "minLength": 1});
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "switch",
            "description": "Has no output. Without a case that fits and without a default the step fails with NO_MATCH.",
            "type": "object",
            "additionalProperties": false,
            "required": ["path", "cases"],
            "properties": {
                "path": {
                    "description": "A dot path to the value: in the step's selected `input`, or in the state if nothing is selected or the selected input has no such value. `input` is the step's input unless the state has a member `input`.",
                    "type": "string",
                    "minLength": 1
                },
                "cases": {
                    "description": "Steps by the text of the value: `paid`, `7`, `true`, `null`; a number reads as it was written. A step of null ends the path here.",
                    "type": "object",
                    "additionalProperties": step
                },
                "default": {
                    "description": "The step for every other value and for a missing one. null ends the path here.",
                    "type": ["string", "null"],
                    "minLength": 1
                }
            },
            "examples": [
                {"path": "order.status", "cases": {"paid": "ship", "open": "remind"}, "default": "stop"},
                {"path": "count", "cases": {"0": null}, "default": "next"}
            ]
        })
    }

    fn chooses(&self) -> bool {
        true
    }

    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        let cases = config.get("cases").and_then(Value::as_object);
        let cases = cases.into_iter().flatten();
        cases
            .filter_map(|(value, step)| target(format!("cases.{value}"), Some(step)))
            .chain(target("default".to_owned(), config.get("default")))
            .collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let default = config
            .get("default")
            .map(|step| step.as_str().map(Name::from));
        let Config { path, cases } = config::read(config)?;
        let mut issues = Issues::default();
        let path = issues.path("path", &path);
        issues.finish(path.map(|path| SwitchAction {
            path,
            cases,
            default,
        }))
    }
}

struct SwitchAction {
    path: Path,
    cases: HashMap<String, Option<Name>>,
    /// `Some(None)` is a default of null.
    default: Option<Option<Name>>,
}

#[async_trait]
impl Action for SwitchAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let value = scope::selected(call, &self.path);
        let case = value
            .as_ref()
            .and_then(|value| self.cases.get(&*value.as_text()));
        match case.or(self.default.as_ref()) {
            Some(step) => Outcome::Success {
                output: None,
                next: Some(step.clone()),
            },
            None => {
                let what = match &value {
                    Some(value) => format!(
                        "{:?}",
                        value.as_text().chars().take(100).collect::<String>()
                    ),
                    None => "nothing".to_owned(),
                };
                let message = format!("no case for {what} at {} and no default", self.path);
                Outcome::Failure(Failure::new(ErrorCode::NoMatch, message).permanent())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    async fn check(path: &str, more: Value, expected: Value) {
        let bench = Bench::new(json!({"s": "paid", "n": 7, "b": true, "z": null, "o": {"k": 1}}));
        let mut config = json!({
            "path": path,
            "cases": {"paid": "ship", "7": "seven", "true": "yes", "null": null, "{\"k\":1}": "object"},
        });
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        let outcome = bench.run(&Switch, config, json!({"n": 7})).await;
        assert_eq!(brief(&outcome), expected, "{path}");
    }

    #[tokio::test]
    async fn cases_are_texts() {
        check("s", json!({}), json!({"goto": "ship"})).await;
        check("n", json!({}), json!({"goto": "seven"})).await;
        check("b", json!({}), json!({"goto": "yes"})).await;
        check("z", json!({}), json!({"goto": null})).await;
        check("o", json!({}), json!({"goto": "object"})).await;
        let none = json!({"failed": "NO_MATCH", "retriable": false});
        check("input.n", json!({}), json!({"goto": "seven"})).await;
        check("o.k", json!({}), none.clone()).await;
        check("gone", json!({}), none).await;
        check("gone", json!({"default": "else"}), json!({"goto": "else"})).await;
        check("gone", json!({"default": null}), json!({"goto": null})).await;
    }

    #[tokio::test]
    async fn the_input_comes_first_where_the_step_selects_one() {
        let bench = Bench::new(json!({"s": "state", "only": "state"}));
        let config = |path: &str| json!({"path": path, "cases": {"state": "a", "input": "b"}});
        for (selects_input, path, expected) in [
            (true, "s", "b"),
            (true, "only", "a"),
            (true, "input.s", "b"),
            (false, "s", "a"),
        ] {
            let mut call = bench.call(json!({"s": "input"}));
            call.selects_input = selects_input;
            let outcome = bench.run_call(&Switch, config(path), &call).await;
            assert_eq!(brief(&outcome), json!({"goto": expected}), "{path}");
        }
    }

    #[test]
    fn issues_and_targets() {
        check_issues(
            &Switch,
            json!({"path": "a..b", "cases": {}}),
            &[("path", "path")],
        );
        check_issues(
            &Switch,
            json!({"path": "a", "cases": {"x": 1}}),
            &[("cases.x", "type")],
        );
        let targets = Switch.targets(&json!({"cases": {"a": "x", "b": null}, "default": "y"}));
        let expected = [("cases.a", "x"), ("default", "y")];
        assert_eq!(targets, expected.map(|(p, t)| (p.to_owned(), t.to_owned())));
    }
}
