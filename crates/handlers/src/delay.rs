//! `delay`: waits for a while or until a time. Nothing is held in memory meanwhile.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Failure, Outcome, SchemaIssue, Template, View};
use riverrun_types::{
    ErrorCode, Json, Millis,
    time::{self, MAX_WAIT_MS},
};
use serde_json::{Value, json};

use crate::{config::Issues, scope};

/// A longer text is no duration and no time.
const MAX_TIME_BYTES: usize = 1 << 10;

pub(crate) struct Delay;

impl Handler for Delay {
    fn kind(&self) -> &str {
        "delay"
    }

    fn about(&self) -> &str {
        "Waits for a while or until a time."
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "delay",
            "description": "Has either ms or until, and no output. A wait is at most ten years.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "ms": {
                    "description": "How long to wait: milliseconds, a text such as \"90s\", \"1h 30m\", \"2 days\" or \"PT5M\", or a `${path}` of the state with either. `${input}` is the step's input unless the state has a member `input`.",
                    "type": ["number", "string"],
                    "minimum": 0,
                    "maximum": MAX_WAIT_MS,
                    "minLength": 1
                },
                "until": {
                    "description": "When to continue: ISO 8601 with an offset or Z, milliseconds since 1970, or a `${path}` with either. A past time ends the wait at once.",
                    "type": ["number", "string"],
                    "minLength": 1
                }
            },
            "examples": [
                {"ms": 3000},
                {"ms": "1h 30m"},
                {"ms": "${settings.pause}"},
                {"until": "2030-01-01T00:00:00Z"},
                {"until": "${order.dueAt}"}
            ]
        })
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let mut issues = Issues::default();
        let action = match (config.get("ms"), config.get("until")) {
            (Some(ms), None) => prepared("ms", ms, &mut issues, duration_ms).map(DelayAction::For),
            (None, Some(until)) => {
                prepared("until", until, &mut issues, time_ms).map(DelayAction::Until)
            }
            _ => {
                issues.add("", "required", "a delay has either ms or until");
                None
            }
        };
        issues.finish(action)
    }
}

/// A value that is fixed is read now, to be refused now.
fn prepared(
    at: &str,
    value: &Value,
    issues: &mut Issues,
    read: fn(&Json) -> Result<Millis, String>,
) -> Option<Template> {
    let template = issues.template(at, value)?;
    if let Template::Literal(json) = &template
        && let Err(message) = read(json)
    {
        issues.add(at, "time", message);
    }
    Some(template)
}

enum DelayAction {
    For(Template),
    Until(Template),
}

impl DelayAction {
    fn until_ms(&self, now: Millis, view: &View<'_>) -> Result<Millis, String> {
        let value = |template: &Template| {
            let value = template.resolve(view, MAX_TIME_BYTES).ok();
            let value = value.map(|value| value.unwrap_or_else(Json::null));
            let value = value.filter(|value| value.bytes() <= MAX_TIME_BYTES);
            value.ok_or_else(|| format!("a time has at most {MAX_TIME_BYTES} bytes"))
        };
        let until = match self {
            Self::For(template) => now.saturating_add(duration_ms(&value(template)?)?),
            Self::Until(template) => time_ms(&value(template)?)?,
        };
        if until > now.saturating_add(MAX_WAIT_MS) {
            return Err(format!("{} is more than ten years away", time::iso(until)));
        }
        Ok(until)
    }
}

#[async_trait]
impl Action for DelayAction {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        match self.until_ms(call.now_ms, &scope::with_input(call)) {
            Ok(until_ms) => Outcome::Wait {
                next: None,
                until_ms,
                reason: Some(format!("waiting until {}", time::iso(until_ms))),
                output: None,
            },
            Err(message) => {
                Outcome::Failure(Failure::new(ErrorCode::InputError, message).permanent())
            }
        }
    }
}

fn duration_ms(json: &Json) -> Result<Millis, String> {
    let ms = match json.value() {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => time::duration_ms(&text),
        _ => None,
    };
    match ms {
        Some(ms) if (0.0..=MAX_WAIT_MS as f64).contains(&ms) => Ok(ms.round() as Millis),
        Some(ms) => Err(format!("{ms} ms is not between 0 and ten years")),
        None => Err(format!(
            "{} is not a duration: use milliseconds or a text such as \"90s\"",
            short(json)
        )),
    }
}

fn time_ms(json: &Json) -> Result<Millis, String> {
    let ms = match json.value() {
        Value::Number(number) => number.as_i64().or_else(|| {
            let ms = number.as_f64()?;
            (ms.abs() < 1e15).then_some(ms as Millis)
        }),
        Value::String(text) => time::parse(text.trim()),
        _ => None,
    };
    ms.ok_or_else(|| {
        format!(
            "{} is not a time: use ISO 8601 with an offset or Z",
            short(json)
        )
    })
}

fn short(json: &Json) -> String {
    json.as_str().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, NOW_MS, brief, check_issues};

    async fn check(config: Value, expected: Option<i64>) {
        let bench = Bench::new(json!({
            "n": 5, "f": 1.4, "text": "250", "span": "1m 30s", "neg": -1, "nan": "NaN",
            "long": "9".repeat(10_000), "huge": 1e300, "list": [1], "later": "2025-10-29T16:15:55.834Z", "ms": NOW_MS + 7,
        }));
        let outcome = bench.run(&Delay, config.clone(), json!(42)).await;
        let refused = json!({"failed": "INPUT_ERROR", "retriable": false});
        let expected = expected.map_or(refused, |ms| json!({"wait": ms}));
        assert_eq!(brief(&outcome), expected, "{config}");
    }

    #[tokio::test]
    async fn durations() {
        check(json!({"ms": 3000}), Some(3000)).await;
        check(json!({"ms": 0}), Some(0)).await;
        check(json!({"ms": "2 days"}), Some(172_800_000)).await;
        check(json!({"ms": "1w"}), Some(604_800_000)).await;
        check(json!({"ms": "PT5M"}), Some(300_000)).await;
        check(json!({"ms": "${n}"}), Some(5)).await;
        check(json!({"ms": "${n}00"}), Some(500)).await;
        check(json!({"ms": "${f}"}), Some(1)).await;
        check(json!({"ms": "${text}"}), Some(250)).await;
        check(json!({"ms": "${span}"}), Some(90_000)).await;
        check(json!({"ms": "${input}"}), Some(42)).await;
        for path in ["neg", "nan", "long", "huge", "list", "gone", "later"] {
            check(json!({"ms": format!("${{{path}}}")}), None).await;
        }
    }

    #[tokio::test]
    async fn times() {
        check(
            json!({"until": "2025-10-29T17:15:55.834+01:00"}),
            Some(1000),
        )
        .await;
        check(json!({"until": "${later}"}), Some(1000)).await;
        check(json!({"until": "${ms}"}), Some(7)).await;
        check(json!({"until": "2025-10-29T16:15:54Z"}), Some(-834)).await;
        check(json!({"until": "2055-01-01T00:00:00Z"}), None).await;
        check(json!({"until": "${gone}"}), None).await;
        check(json!({"until": "${huge}"}), None).await;
        check(json!({"until": "${span}"}), None).await;
    }

    #[test]
    fn issues() {
        check_issues(&Delay, json!({}), &[("", "required")]);
        check_issues(&Delay, json!({"ms": 1, "until": 1}), &[("", "required")]);
        check_issues(&Delay, json!({"ms": -1}), &[("ms", "minimum")]);
        check_issues(&Delay, json!({"ms": 1e15}), &[("ms", "maximum")]);
        check_issues(&Delay, json!({"ms": "soon"}), &[("ms", "time")]);
        check_issues(&Delay, json!({"ms": "-5m"}), &[("ms", "time")]);
        check_issues(&Delay, json!({"ms": "1 month"}), &[("ms", "time")]);
        check_issues(&Delay, json!({"ms": "${"}), &[("ms", "template")]);
        check_issues(&Delay, json!({"until": "tomorrow"}), &[("until", "time")]);
    }
}
