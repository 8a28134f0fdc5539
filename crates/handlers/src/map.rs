//! `map`: one branch per item of a list.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{BranchSpec, Failure, Fork, Outcome, SchemaIssue};
use riverrun_types::{ErrorCode, Name};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::{self, Issues, target};

pub(crate) struct Map;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    step: Name,
    concurrency: Option<u32>,
    fail_fast: Option<bool>,
    max_items: Option<usize>,
}

impl Handler for Map {
    fn kind(&self) -> &str {
        "map"
    }

    fn about(&self) -> &str {
        "Runs a branch for each item of its input and gathers the results in order."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "map",
            "description": "The input must be a list. Each branch sees its item as `item` and its place as `index`; what its built-in steps write to the state stays in the branch (`ctx.state` of a process is the run's). The output is the list of the branches' results.",
            "type": "object",
            "additionalProperties": false,
            "required": ["step"],
            "properties": {
                "step": {
                    "description": "The first step of each branch. A branch ends where no transition follows.",
                    "type": "string",
                    "minLength": 1
                },
                "concurrency": {
                    "description": "How many items are processed at a time.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000,
                    "default": 10
                },
                "failFast": {
                    "description": "Whether the first item that fails cancels the others. Otherwise all end before the step fails.",
                    "type": "boolean",
                    "default": true
                },
                "maxItems": {
                    "description": "A longer list fails the step with INPUT_ERROR. Each item takes at least one step, so a list with more items than the flow's limits.maxSteps fails too.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1_000_000,
                    "default": 10_000
                }
            },
            "examples": [
                {"step": "send-mail"},
                {"step": "translate", "concurrency": 2, "failFast": false, "maxItems": 100}
            ]
        })
    }

    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        target("step".to_owned(), config.get("step"))
            .into_iter()
            .collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let config: Config = config::read(config)?;
        Issues::default().finish(Some(MapAction {
            step: config.step,
            concurrency: config.concurrency.unwrap_or(10),
            fail_fast: config.fail_fast.unwrap_or(true),
            max_items: config.max_items.unwrap_or(10_000),
        }))
    }
}

struct MapAction {
    step: Name,
    concurrency: u32,
    fail_fast: bool,
    max_items: usize,
}

#[async_trait]
impl Action for MapAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        // Counted first: a list of small items takes many times its bytes once it is read.
        let Some(count) = call.input.count_items() else {
            return refused("the input of a map must be a list".to_owned());
        };
        if count > self.max_items {
            let most = self.max_items;
            return refused(format!(
                "the list has {count} items, maxItems allows {most}"
            ));
        }
        let items = call.input.items().unwrap_or_default();
        let branch = |item| BranchSpec {
            step: self.step.clone(),
            item: Some(item),
        };
        Outcome::Fork(Fork {
            branches: items.into_iter().map(branch).collect(),
            concurrency: self.concurrency,
            fail_fast: self.fail_fast,
            as_list: true,
            scoped: true,
        })
    }
}

fn refused(message: String) -> Outcome {
    Outcome::Failure(Failure::new(ErrorCode::InputError, message).permanent())
}

#[cfg(test)]
mod tests {
    use riverrun_types::Json;

    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    async fn check(config: Value, input: &str, expected: Value) {
        let bench = Bench::new(json!({}));
        let call = bench.call(Json::parse_text(input.to_owned()).unwrap());
        let outcome = bench.run_call(&Map, config, &call).await;
        assert_eq!(brief(&outcome), expected);
    }

    #[tokio::test]
    async fn one_branch_per_item() {
        let fork = |branches: Value, concurrency: u32| {
            json!({
                "branches": branches, "concurrency": concurrency, "failFast": true,
                "asList": true, "scoped": true,
            })
        };
        check(
            json!({"step": "s"}),
            "[1, {\"a\": 2}]",
            fork(json!([["s", 1], ["s", {"a": 2}]]), 10),
        )
        .await;
        check(
            json!({"step": "s", "concurrency": 3}),
            "[]",
            fork(json!([]), 3),
        )
        .await;
        let refused = json!({"failed": "INPUT_ERROR", "retriable": false});
        check(json!({"step": "s"}), "{}", refused.clone()).await;
        check(json!({"step": "s"}), "null", refused.clone()).await;
        check(json!({"step": "s", "maxItems": 1}), "[1,2]", refused).await;
    }

    #[test]
    fn issues_and_targets() {
        check_issues(
            &Map,
            json!({"step": "s", "concurrency": 0, "maxItems": 1.5}),
            &[("concurrency", "minimum"), ("maxItems", "type")],
        );
        let targets = Map.targets(&json!({"step": "s"}));
        assert_eq!(targets, [("step".to_owned(), "s".to_owned())]);
    }
}
