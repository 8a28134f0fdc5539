//! `set`: a value with parts of the state.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Outcome, SchemaIssue, Template};
use riverrun_types::Json;
use serde_json::{Value, json};

use crate::{config::Issues, scope};

pub(crate) struct Set;

impl Handler for Set {
    fn kind(&self) -> &str {
        "set"
    }

    fn about(&self) -> &str {
        "Gives a value, with parts of the state and of its input in it."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "set",
            "description": "The output is the value. outputKey names the member of the state that stores it.",
            "type": "object",
            "additionalProperties": false,
            "required": ["value"],
            "properties": {
                "value": {
                    "description": "Any JSON. A string that is exactly `${path}` becomes the value at that path of the state, with its type (a missing value is null in a list and left out of an object); inside other text it is stringified. `${awaited}` is the result of the step's await, `${input}` the step's input unless the state has a member `input`. `$${` is a literal `${`."
                }
            },
            "examples": [
                {"value": "Hello, World!"},
                {"value": {"id": "${order.id}", "label": "Order ${order.id}", "tries": 0}},
                {"value": {"answered": "${input.by}"}}
            ]
        })
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let mut issues = Issues::default();
        let value = config.get("value").unwrap_or(&Value::Null);
        let value = issues.template("value", value);
        issues.finish(value.map(|value| SetAction { value }))
    }
}

struct SetAction {
    value: Template,
}

#[async_trait]
impl Action for SetAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        match call.resolve(&self.value, &scope::with_input(call)) {
            Ok(value) => Outcome::success(value.unwrap_or_else(Json::null)),
            Err(failure) => Outcome::Failure(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    #[tokio::test]
    async fn values_and_templates() {
        let bench = Bench::new(json!({"order": {"id": 7}}));
        for (value, expected) in [
            (json!("x"), json!("x")),
            (json!(null), json!(null)),
            (json!("${order}"), json!({"id": 7})),
            (json!("${gone}"), json!(null)),
            (json!(["#${order.id}", "$${x}"]), json!(["#7", "${x}"])),
            (json!({"a": "${gone}", "b": 1}), json!({"b": 1})),
            (json!("${input}"), json!({"order": 1})),
            (json!({"a": "${input.order}"}), json!({"a": 1})),
        ] {
            let outcome = bench
                .run(&Set, json!({"value": value}), json!({"order": 1}))
                .await;
            assert_eq!(brief(&outcome), json!({"output": expected}));
        }
    }

    #[tokio::test]
    async fn a_small_template_on_a_large_value_fails_before_it_is_built() {
        let bench = Bench::new(json!({"x": "y".repeat(1 << 20)}));
        let config = json!({"value": "${x}".repeat(3_000)});
        let outcome = bench.run(&Set, config, json!(null)).await;
        let failed = json!({"failed": "VALUE_TOO_LARGE", "retriable": false});
        assert_eq!(brief(&outcome), failed);
    }

    #[test]
    fn every_issue_at_once() {
        check_issues(&Set, json!({}), &[("value", "required")]);
        check_issues(
            &Set,
            json!({"value": 1, "values": {}}),
            &[("", "additionalProperties")],
        );
        check_issues(
            &Set,
            json!({"value": {"a": ["${", "ok"], "b": "${x..y}"}}),
            &[("value.a.0", "template"), ("value.b", "template")],
        );
    }
}
