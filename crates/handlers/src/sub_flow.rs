//! `sub-flow`: another flow as a step of this one.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler, KnownNames};
use riverrun_engine::{Failure, Outcome, SchemaIssue, Template};
use riverrun_types::{ErrorCode, Json, Name, RunId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    config::{self, Issues},
    scope,
};

pub(crate) struct SubFlow;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    flow_id: Name,
    version: Option<String>,
    wait_for_completion: Option<bool>,
}

impl Handler for SubFlow {
    fn kind(&self) -> &str {
        "sub-flow"
    }

    fn about(&self) -> &str {
        "Starts another flow and, unless configured otherwise, waits for its end."
    }

    fn effects(&self) -> Effects {
        // The child is created by the commit that records this step, so it starts once.
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "sub-flow",
            "description": "The output is the child's result, or `{runId}` with `wait: false`. A child that fails fails the step with CHILD_FAILED.",
            "type": "object",
            "additionalProperties": false,
            "required": ["flowId"],
            "properties": {
                "flowId": {
                    "description": "The flow to start.",
                    "type": "string",
                    "minLength": 1
                },
                "version": {
                    "description": "Its version; without it the newest release at the time when the step runs.",
                    "type": "string",
                    "minLength": 1
                },
                "input": {
                    "description": "The child's input: any JSON with `${path}` of the state, and `${input}` for the step's input unless the state has a member `input`. Without it, the step's input."
                },
                "waitForCompletion": {
                    "description": "Whether the step waits until the child has ended. If not, the child runs on its own.",
                    "type": "boolean",
                    "default": true
                }
            },
            "examples": [
                {"flowId": "ship-order"},
                {"flowId": "audit", "version": "1.2.0", "input": {"order": "${order.id}"}, "waitForCompletion": false}
            ]
        })
    }

    fn unknown_names(&self, config: &Value, known: &dyn KnownNames) -> Vec<SchemaIssue> {
        let text = |key: &str| config.get(key).and_then(Value::as_str);
        let unknown = text("flowId").and_then(|flow| known.unknown_flow(flow, text("version")));
        let issue = |message| SchemaIssue {
            path: "flowId".to_owned(),
            rule: "flow-unknown".to_owned(),
            message,
        };
        unknown.map(issue).into_iter().collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        // A null input is an input, so its absence is looked up in the config itself.
        let input = config.get("input");
        let config: Config = config::read(config)?;
        let mut issues = Issues::default();
        let input = input.map(|input| issues.template("input", input));
        issues.finish(Some(SubFlowAction {
            flow: config.flow_id,
            version: config.version,
            input: input.flatten(),
            detached: !config.wait_for_completion.unwrap_or(true),
        }))
    }
}

struct SubFlowAction {
    flow: Name,
    version: Option<String>,
    input: Option<Template>,
    detached: bool,
}

#[async_trait]
impl Action for SubFlowAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let flows = &call.services.flows;
        let Some(version) = flows.resolve(&self.flow, self.version.as_deref()) else {
            return Outcome::Failure(self.unknown());
        };
        let input = match &self.input {
            None => call.input.clone(),
            Some(template) => match call.resolve(template, &scope::with_input(call)) {
                Ok(input) => input.unwrap_or_else(Json::null),
                Err(failure) => return Outcome::Failure(failure),
            },
        };
        Outcome::SubFlow(riverrun_engine::SubFlow {
            run: RunId::fresh(),
            flow: self.flow.clone(),
            version,
            input,
            detached: self.detached,
        })
    }
}

impl SubFlowAction {
    fn unknown(&self) -> Failure {
        let message = match &self.version {
            Some(version) => format!("flow {:?} has no version {version:?}", self.flow),
            None => format!("flow {:?} is not registered", self.flow),
        };
        let details = json!({"flowId": &*self.flow, "version": self.version});
        Failure::new(ErrorCode::FlowNotFound, message)
            .details(details)
            .permanent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    async fn check(config: Value, expected: Value) {
        let bench = Bench::new(json!({"order": {"id": 7}}));
        let outcome = bench.run(&SubFlow, config, json!({"n": 1})).await;
        assert_eq!(brief(&outcome), expected);
    }

    #[tokio::test]
    async fn starts_a_version_with_an_input() {
        let child = |version: &str, input: Value, detached: bool| json!({"flow": "child", "version": version, "input": input, "detached": detached});
        check(
            json!({"flowId": "child"}),
            child("2.0.0", json!({"n": 1}), false),
        )
        .await;
        check(
            json!({"flowId": "child", "version": "1.0.0", "waitForCompletion": false, "input": null}),
            child("1.0.0", json!(null), true),
        )
        .await;
        check(
            json!({"flowId": "child", "input": {"id": "${order.id}", "in": "${input.n}"}}),
            child("2.0.0", json!({"id": 7, "in": 1}), false),
        )
        .await;
        let unknown = json!({"failed": "FLOW_NOT_FOUND", "retriable": false});
        check(json!({"flowId": "stranger"}), unknown.clone()).await;
        check(json!({"flowId": "child", "version": "3.0.0"}), unknown).await;
    }

    #[test]
    fn issues() {
        check_issues(
            &SubFlow,
            json!({"flowId": "child", "input": ["${"]}),
            &[("input.0", "template")],
        );
    }
}
