//! `process`: the type of a step that a process runs. Its visits are jobs, so it runs nothing.

use riverrun_types::ErrorCode;
use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler, KnownNames};
use riverrun_engine::{Failure, Outcome, PROCESS, SchemaIssue};
use serde_json::{Value, json};

pub(crate) struct ProcessStep;

impl Handler for ProcessStep {
    fn kind(&self) -> &str {
        PROCESS
    }

    fn about(&self) -> &str {
        "Runs a process of yours as a job of its queue."
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "process",
            "description": "The output is what the process returns. Without retry the step is tried as the process's retryPolicy says.",
            "type": "object",
            "additionalProperties": false,
            "required": ["process"],
            "properties": {
                "process": {
                    "description": "The id of the process, which is its path below processes/ without the ending.",
                    "type": "string", "minLength": 1, "maxLength": 128
                }
            },
            "examples": [{"process": "charge-card"}]
        })
    }

    fn effects(&self) -> Effects {
        Effects::Some
    }

    fn unknown_names(&self, config: &Value, known: &dyn KnownNames) -> Vec<SchemaIssue> {
        let process = config.get("process").and_then(Value::as_str);
        let unknown = process.and_then(|process| known.unknown_process(process));
        let issue = |message| SchemaIssue {
            path: "process".to_owned(),
            rule: "process-unknown".to_owned(),
            message,
        };
        unknown.map(issue).into_iter().collect()
    }

    fn prepare(&self, _config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        Ok(Arc::new(Never))
    }
}

struct Never;

#[async_trait]
impl Action for Never {
    async fn run(&self, _call: &Call<'_>) -> Outcome {
        let message = "a step of a process is run by its job, never by the run itself";
        Outcome::Failure(Failure::new(ErrorCode::Internal, message).permanent())
    }
}
