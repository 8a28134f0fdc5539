//! `log`: a line in the run's stream.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Outcome, SchemaIssue, Template};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    config::{self, Issues},
    scope,
};

/// A longer message is cut: a log is read by people.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

pub(crate) struct Log;

#[derive(Deserialize)]
struct Config {
    level: Option<String>,
    message: Value,
}

impl Handler for Log {
    fn kind(&self) -> &str {
        "log"
    }

    fn about(&self) -> &str {
        "Writes a line to the log of the run."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "log",
            "description": "Has no output.",
            "type": "object",
            "additionalProperties": false,
            "required": ["message"],
            "properties": {
                "level": {
                    "description": "The log level.",
                    "enum": ["debug", "info", "warn", "error"],
                    "default": "info"
                },
                "message": {
                    "description": "The line. `${path}` is replaced by that value of the state, `${awaited}` by the result of the step's await, `${input}` by the step's input unless the state has a member `input`. Cut at 16 KiB.",
                    "type": "string"
                }
            },
            "examples": [
                {"message": "order ${order.id} is paid"},
                {"level": "warn", "message": "gave up on ${input}"}
            ]
        })
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let config: Config = config::read(config)?;
        let mut issues = Issues::default();
        let message = issues.template("message", &config.message);
        let level = config.level.unwrap_or_else(|| "info".to_owned());
        issues.finish(message.map(|message| LogAction { level, message }))
    }
}

struct LogAction {
    level: String,
    message: Template,
}

#[async_trait]
impl Action for LogAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let view = scope::with_input(call);
        let (mut message, is_cut) = self.message.resolve_text(&view, MAX_MESSAGE_BYTES);
        if is_cut {
            message.push('…');
        }
        call.log(&self.level, &message);
        Outcome::Success {
            output: None,
            next: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::EventType;

    use super::*;
    use crate::testing::{Bench, check_issues};

    async fn check(state: Value, config: Value, kind: EventType, message: &str) {
        let bench = Bench::new(state);
        let call = bench.call(json!([1, 2]));
        let outcome = bench.run_call(&Log, config, &call).await;
        let nothing = Outcome::Success {
            output: None,
            next: None,
        };
        assert_eq!(outcome, nothing);
        let drafts = call.recorded();
        assert_eq!(drafts.len(), 1);
        assert_eq!(drafts[0].kind, kind);
        let data = drafts[0].data.as_ref().unwrap().value();
        assert_eq!(data, json!({"message": message}));
    }

    #[tokio::test]
    async fn levels_and_messages() {
        let state = json!({"name": "x", "id": 7});
        let config = json!({"message": "${name}: ${id} of ${input}, ${gone}"});
        check(state.clone(), config, EventType::LogInfo, "x: 7 of [1,2], ").await;
        let config = json!({"level": "error", "message": "${name}"});
        check(state, config, EventType::LogError, "x").await;
        let config = json!({"level": "debug", "message": "${input}"});
        check(json!(5), config, EventType::LogDebug, "5").await;
        let long = "ä".repeat(MAX_MESSAGE_BYTES);
        let cut = format!("{}…", "ä".repeat(MAX_MESSAGE_BYTES / 2));
        let config = json!({"level": "warn", "message": long});
        check(json!({}), config, EventType::LogWarn, &cut).await;
        let config = json!({"level": "warn", "message": "${long}".repeat(3_000)});
        check(json!({ "long": long }), config, EventType::LogWarn, &cut).await;
    }

    #[test]
    fn issues() {
        check_issues(&Log, json!({"message": "${"}), &[("message", "template")]);
        check_issues(
            &Log,
            json!({"message": 1, "level": "loud"}),
            &[("level", "enum"), ("message", "type")],
        );
    }
}
