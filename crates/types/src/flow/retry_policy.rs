//! The two forms of a retry policy, and the one that the server stores and shows.
//!
//! Flows write `retry {maxAttempts, backoffMs, …}`, process configurations `retryPolicy {attempts,
//! backoff, …}`. Both are accepted in both places. `retry` is the form in which a policy leaves,
//! because it can say everything that the other form can.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Retry;

/// `retryPolicy` as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Policy {
    attempts: Option<u64>,
    backoff: Option<Backoff>,
    retriable_errors: Option<Vec<String>>,
    on_fail: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Backoff {
    #[serde(rename = "type", default)]
    kind: Kind,
    #[serde(alias = "delay")]
    delay_ms: u64,
    #[serde(alias = "capMs")]
    max_delay_ms: Option<u64>,
    jitter: Option<f64>,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Fixed,
    #[default]
    Exponential,
}

/// Replaces `retryPolicy` by `retry` in the settings of a step or a process. An unreadable policy
/// does not change, nor does one beside a `retry`: validation reports both.
pub fn canonical_retry(settings: &mut Map<String, Value>) {
    if settings.contains_key("retry") {
        return;
    }
    let Some(policy) = settings.get("retryPolicy") else {
        return;
    };
    let Ok(policy) = Policy::deserialize(policy) else {
        return;
    };
    settings.shift_remove("retryPolicy");
    settings.insert("retry".to_owned(), Value::Object(policy.retry()));
}

/// Whether [`canonical_retry`] would change a step of the definition.
pub fn has_retry_policy(definition: &Value) -> bool {
    let steps = definition["steps"].as_object();
    steps.is_some_and(|steps| steps.values().any(|step| !step["retryPolicy"].is_null()))
}

/// A definition whose steps have their policies in the canonical form.
pub fn canonical_definition(mut definition: Value) -> Value {
    let steps = definition.get_mut("steps").and_then(Value::as_object_mut);
    for (_, step) in steps.into_iter().flatten() {
        if let Some(step) = step.as_object_mut() {
            canonical_retry(step);
        }
    }
    definition
}

impl Policy {
    fn retry(self) -> Map<String, Value> {
        let mut retry = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                retry.insert(key.to_owned(), value);
            }
        };
        put("maxAttempts", self.attempts.map(|attempts| json!(attempts)));
        if let Some(backoff) = self.backoff {
            let Backoff { delay_ms, .. } = backoff;
            put("backoffMs", Some(json!(delay_ms)));
            let is_fixed = backoff.kind == Kind::Fixed;
            put("backoffMultiplier", is_fixed.then(|| json!(1)));
            // The longest delay of a policy is never shorter than its first one, unless it is given.
            let usual =
                (is_fixed || delay_ms > Retry::default_max_backoff_ms()).then_some(delay_ms);
            let longest = backoff.max_delay_ms.or(usual);
            put("maxBackoffMs", longest.map(|ms| json!(ms)));
            put("jitter", backoff.jitter.map(|share| json!(share)));
        }
        put("retryOn", self.retriable_errors.map(|errors| json!(errors)));
        put("onFail", self.on_fail.map(|what| json!(what)));
        retry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: Value, expected: Value) {
        let mut members = settings.as_object().cloned().unwrap_or_default();
        canonical_retry(&mut members);
        assert_eq!(Value::Object(members), expected, "{settings}");
    }

    #[test]
    fn a_policy_leaves_as_retry() {
        check(
            json!({"retryPolicy": {"attempts": 4, "backoff": {"type": "fixed", "delayMs": 250},
                "retriableErrors": ["E"], "onFail": "drop"}, "concurrency": 2}),
            json!({"retry": {"maxAttempts": 4, "backoffMs": 250, "backoffMultiplier": 1,
                "maxBackoffMs": 250, "retryOn": ["E"], "onFail": "drop"}, "concurrency": 2}),
        );
        check(
            json!({"retryPolicy": {"backoff": {"delay": 5, "capMs": 9, "jitter": 0.5}}}),
            json!({"retry": {"backoffMs": 5, "maxBackoffMs": 9, "jitter": 0.5}}),
        );
        check(
            json!({"retryPolicy": {"attempts": 2, "backoff": {"delayMs": 90_000}}}),
            json!({"retry": {"maxAttempts": 2, "backoffMs": 90_000, "maxBackoffMs": 90_000}}),
        );
    }

    #[test]
    fn a_policy_that_is_invalid_or_one_of_two_stays() {
        for settings in [
            json!({"retryPolicy": {"attempts": "many"}}),
            json!({"retryPolicy": {"tries": 3}}),
            json!({"retryPolicy": {"attempts": 2}, "retry": {"maxAttempts": 3}}),
            json!({"retry": {"maxAttempts": 3}}),
        ] {
            check(settings.clone(), settings);
        }
    }
}
