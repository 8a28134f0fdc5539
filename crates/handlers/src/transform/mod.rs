//! `transform`: a new value from the step's input, by a preset or an expression.

mod preset;

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler, KnownNames};
use riverrun_engine::{Failure, Outcome, SchemaIssue, meant};
use riverrun_types::{ErrorCode, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    config::{self, Issues},
    script::{self, Script},
};
use preset::Preset;

/// What an expression that is a single word can mean: what it sees, and words of JavaScript.
const SEEN: [&str; 12] = [
    "input",
    "state",
    "awaited",
    "ctx",
    "true",
    "false",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "Math",
    "Number",
];

pub(crate) struct Transform;

#[derive(Deserialize)]
struct Config {
    transform: String,
}

impl Handler for Transform {
    fn kind(&self) -> &str {
        "transform"
    }

    fn about(&self) -> &str {
        "Makes a new value of its input, by a preset or a JavaScript expression."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        let presets = preset::PRESETS
            .iter()
            .map(|(name, _, about)| format!("{name}: {about}"));
        let description = format!(
            "A preset or else a JavaScript expression. {}. An expression sees `input`, `state` and `awaited`, which is what the step's await brought; it may also be a function of (input, {{state, input, awaited}}). It runs in a sandbox without I/O, clock or randomness, with bounded time and memory; undefined becomes null. Numbers that JavaScript computes with are doubles; presets and plain paths keep every digit.",
            presets.collect::<Vec<_>>().join("; ")
        );
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "transform",
            "description": "The output is the new value. What goes wrong fails the step with TRANSFORM_ERROR; the code of an expression's error is in details.code.",
            "type": "object",
            "additionalProperties": false,
            "required": ["transform"],
            "properties": {
                "transform": {"description": description, "type": "string", "minLength": 1}
            },
            "examples": [
                {"transform": "upper"},
                {"transform": "json.parse"},
                {"transform": "input.items.filter(item => item.price > state.limit)"},
                {"transform": "(input, { state }) => ({ ...input, total: input.net * (1 + state.vat) })"}
            ]
        })
    }

    /// A single word that is no preset and nothing that an expression sees.
    fn unknown_names(&self, config: &Value, _: &dyn KnownNames) -> Vec<SchemaIssue> {
        let word = config.get("transform").and_then(Value::as_str);
        let word = word.map(|word| word.trim().trim_end_matches(';'));
        let is_name = |word: &&str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
            let begins = word.starts_with(|c: char| c.is_ascii_alphabetic());
            let head = word.split('.').next().unwrap_or_default();
            begins && word.chars().all(is_part) && !SEEN.contains(&head)
        };
        let unknown = word
            .filter(is_name)
            .filter(|word| Preset::named(word).is_none());
        let issue = |word: &str| {
            let presets: Vec<&str> = preset::PRESETS.iter().map(|preset| preset.0).collect();
            SchemaIssue {
                path: "transform".to_owned(),
                rule: "preset-unknown".to_owned(),
                message: format!(
                    "there is no preset {word:?}{}; as an expression it fails, which sees input, state, awaited and ctx",
                    meant(word, &presets)
                ),
            }
        };
        unknown.map(issue).into_iter().collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let Config { transform } = config::read(config)?;
        let mut issues = Issues::default();
        let action = match Preset::named(&transform) {
            Some(preset) => Some(TransformAction::Preset(preset)),
            None => {
                let script = issues.script("transform", &transform);
                script.map(TransformAction::Script)
            }
        };
        issues.finish(action)
    }
}

enum TransformAction {
    Preset(Preset),
    Script(Script),
}

#[async_trait]
impl Action for TransformAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let result = match self {
            Self::Preset(preset) => apply(*preset, &call.input).await.map_err(|message| {
                let details = json!({"preset": preset.name()});
                Failure::new(ErrorCode::TransformError, message)
                    .details(details)
                    .permanent()
            }),
            Self::Script(script) => {
                let value = script.run(call).await;
                value.map_err(|error| script::failure(ErrorCode::TransformError, &error))
            }
        };
        match result {
            Ok(output) => Outcome::success(output),
            Err(failure) => Outcome::Failure(failure),
        }
    }
}

/// Applies a preset; to a large value beside the threads that everything else runs on.
async fn apply(preset: Preset, input: &Json) -> Result<Json, String> {
    const LARGE_BYTES: usize = 256 << 10;
    if input.bytes() <= LARGE_BYTES {
        return preset.apply(input);
    }
    let input = input.clone();
    let applied = tokio::task::spawn_blocking(move || preset.apply(&input)).await;
    applied.unwrap_or_else(|error| Err(format!("to be applied ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, brief, check_issues};

    async fn check(transform: &str, input: Value, expected: Value) {
        let bench = Bench::new(json!({"vat": 0.5}));
        let config = json!({"transform": transform});
        let outcome = bench.run(&Transform, config, input).await;
        assert_eq!(brief(&outcome), expected, "{transform}");
    }

    #[tokio::test]
    async fn presets_and_expressions() {
        check("upper", json!("aß"), json!({"output": "ASS"})).await;
        check(
            "input.a.b",
            json!({"a": {"b": [1]}}),
            json!({"output": [1]}),
        )
        .await;
        check("input.length", json!("abc"), json!({"output": 3})).await;
        check("input * (1 + state.vat)", json!(10), json!({"output": 15})).await;
        check(
            "(n, { state }) => n * state.vat",
            json!(10),
            json!({"output": 5}),
        )
        .await;
        check("undefined", json!(1), json!({"output": null})).await;
        check("input.a;", json!({"a": 7}), json!({"output": 7})).await;
        check(
            "input => input.a + 1 ; ",
            json!({"a": 7}),
            json!({"output": 8}),
        )
        .await;
        let failed = json!({"failed": "TRANSFORM_ERROR", "retriable": false});
        check("input.a.b", json!({}), failed.clone()).await;
        check("json.parse", json!("{"), failed).await;
    }

    #[tokio::test]
    async fn the_expressions_code_is_in_the_details() {
        let bench = Bench::new(json!({}));
        let config = json!({"transform": "() => { throw new Error('no') }"});
        let Outcome::Failure(failure) = bench.run(&Transform, config, json!(1)).await else {
            panic!("it failed not");
        };
        assert!(failure.message.contains("Error: no"), "{}", failure.message);
        assert_eq!(
            failure.details.unwrap().value(),
            json!({"code": "EXPR_THROWN"})
        );
    }

    #[test]
    fn a_word_that_is_no_preset_is_rejected() {
        struct Nothing;
        impl KnownNames for Nothing {
            fn unknown_process(&self, _: &str) -> Option<String> {
                None
            }
            fn unknown_flow(&self, _: &str, _: Option<&str>) -> Option<String> {
                None
            }
        }
        for (transform, expected) in [
            ("uper", Some("did you mean upper?")),
            ("json.prase", Some("did you mean json.parse?")),
            ("upper", None),
            ("input.a", None),
            ("state", None),
            ("null", None),
            ("a => a", None),
        ] {
            let found = Transform.unknown_names(&json!({ "transform": transform }), &Nothing);
            let message = found.first().map(|issue| issue.message.as_str());
            match expected {
                Some(part) => assert!(message.unwrap().contains(part), "{message:?}"),
                None => assert_eq!(message, None, "{transform}"),
            }
        }
    }

    #[test]
    fn issues() {
        check_issues(
            &Transform,
            json!({"transform": "a b"}),
            &[("transform", "expression")],
        );
        check_issues(
            &Transform,
            json!({"transform": "async () => 1"}),
            &[("transform", "expression")],
        );
        check_issues(
            &Transform,
            json!({"transform": ""}),
            &[("transform", "minLength")],
        );
    }
}
