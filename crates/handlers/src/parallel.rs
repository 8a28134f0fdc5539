//! `parallel`: several paths through the flow at once.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{BranchSpec, Fork, Outcome, SchemaIssue};
use riverrun_types::Name;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::{self, Issues, target};

pub(crate) struct Parallel;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    branches: Vec<Name>,
    concurrency: Option<u32>,
    fail_fast: Option<bool>,
}

impl Handler for Parallel {
    fn kind(&self) -> &str {
        "parallel"
    }

    fn about(&self) -> &str {
        "Runs several branches at once and continues when all have ended."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "parallel",
            "description": "Each branch begins with a step and ends where no transition follows. The output is an object with the result of each branch under the name of its first step. Branches write to the state of the run.",
            "type": "object",
            "additionalProperties": false,
            "required": ["branches"],
            "properties": {
                "branches": {
                    "description": "The first step of each branch.",
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 1000,
                    "uniqueItems": true,
                    "items": {"type": "string", "minLength": 1}
                },
                "concurrency": {
                    "description": "How many branches may run at a time; 0 is all.",
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 1000,
                    "default": 0
                },
                "failFast": {
                    "description": "Whether the first branch that fails cancels the others. Otherwise all end before the step fails.",
                    "type": "boolean",
                    "default": true
                }
            },
            "examples": [
                {"branches": ["charge-card", "reserve-stock"]},
                {"branches": ["a", "b", "c"], "concurrency": 2, "failFast": false}
            ]
        })
    }

    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        let branches = config.get("branches").and_then(Value::as_array);
        let branches = branches.into_iter().flatten().enumerate();
        branches
            .filter_map(|(index, step)| target(format!("branches.{index}"), Some(step)))
            .collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let config: Config = config::read(config)?;
        let branches = config.branches.into_iter();
        let branches = branches.map(|step| BranchSpec { step, item: None });
        let fork = Fork {
            branches: branches.collect(),
            concurrency: config.concurrency.unwrap_or(0),
            fail_fast: config.fail_fast.unwrap_or(true),
            as_list: false,
            scoped: false,
        };
        Issues::default().finish(Some(ParallelAction { fork }))
    }
}

struct ParallelAction {
    fork: Fork,
}

#[async_trait]
impl Action for ParallelAction {
    async fn run(&self, _call: &Call<'_>) -> Outcome {
        Outcome::Fork(self.fork.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    #[tokio::test]
    async fn forks_into_its_branches() {
        let bench = Bench::new(json!({}));
        for (config, concurrency, fail_fast) in [
            (json!({"branches": ["a", "b"]}), 0, true),
            (
                json!({"branches": ["a", "b"], "concurrency": 1, "failFast": false}),
                1,
                false,
            ),
        ] {
            let outcome = bench.run(&Parallel, config, json!(null)).await;
            let expected = json!({
                "branches": [["a", null], ["b", null]], "concurrency": concurrency,
                "failFast": fail_fast, "asList": false, "scoped": false,
            });
            assert_eq!(brief(&outcome), expected);
        }
    }

    #[test]
    fn issues_and_targets() {
        check_issues(
            &Parallel,
            json!({"branches": []}),
            &[("branches", "minItems")],
        );
        check_issues(
            &Parallel,
            json!({"branches": ["a", "a"]}),
            &[("branches", "uniqueItems")],
        );
        let targets = Parallel.targets(&json!({"branches": ["a", 1, "b"]}));
        let expected = [("branches.0", "a"), ("branches.2", "b")];
        assert_eq!(targets, expected.map(|(p, t)| (p.to_owned(), t.to_owned())));
    }
}
