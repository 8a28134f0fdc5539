//! What happens after a failed attempt: retries, backoff, dead letters.

use std::time::Duration;

use riverrun_protocol::WorkError;
use riverrun_types::{ErrorCode, Json, Name, Retry};
use serde::{Deserialize, Serialize};

use super::{
    ConfigIssue,
    fields::{Fields, meant_within},
};

/// Attempts if the config does not say how many.
const ATTEMPTS: u32 = 3;
/// The longest delay between two attempts if the config has no other.
const MAX_BACKOFF_MS: u64 = 60_000;

/// What happens to an attempt that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub retry: Retry,
    pub on_fail: OnFail,
    /// Where failed jobs are copied to.
    pub dead_queue: Option<Name>,
    pub timeout: Option<Duration>,
}

/// What becomes of a job that has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFail {
    /// It is a dead letter of its queue.
    #[default]
    Dlq,
    /// It is never failed for good: it is tried for ever, at the longest delay.
    Retry,
    /// It is forgotten.
    Drop,
}

/// A retry policy in both forms: `retry` of flows, and `retryPolicy`.
#[derive(Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    default,
    deny_unknown_fields,
    expecting = "{maxAttempts, backoffMs, backoffMultiplier, maxBackoffMs, retryOn, jitter}"
)]
pub struct WrittenRetry {
    #[serde(rename = "maxAttempts", alias = "attempts")]
    pub attempts: Option<u32>,
    pub backoff_ms: Option<u64>,
    pub backoff_multiplier: Option<f64>,
    pub max_backoff_ms: Option<u64>,
    pub jitter: Option<f64>,
    #[serde(rename = "retryOn", alias = "retriableErrors")]
    pub retriable_errors: Option<Vec<String>>,
    pub backoff: Option<WrittenBackoff>,
    pub on_fail: Option<OnFail>,
}

impl WrittenRetry {
    /// The policy of a process, from `retry` or `retryPolicy`.
    pub(super) fn of_process(fields: &mut Fields) -> Option<Self> {
        let retry = fields.within("retry", Self::read_retry);
        let policy = fields.within("retryPolicy", Self::read_policy);
        if retry.is_some() && policy.is_some() {
            let message = "is another form of retry: give one of them".to_owned();
            fields.issues.push(ConfigIssue::new("retryPolicy", message));
        }
        retry.or(policy)
    }

    fn read_retry(fields: &mut Fields) -> Self {
        let read = Self {
            attempts: fields.take("maxAttempts"),
            backoff_ms: fields.take("backoffMs"),
            backoff_multiplier: fields.take("backoffMultiplier"),
            max_backoff_ms: fields.take("maxBackoffMs"),
            jitter: fields.take("jitter"),
            retriable_errors: fields.take("retryOn"),
            on_fail: fields.take("onFail"),
            backoff: None,
        };
        read.check_attempts("maxAttempts", fields);
        if read
            .backoff_multiplier
            .is_some_and(|factor| !(1.0..=1_000.0).contains(&factor))
        {
            let message = "must be 1 to 1000".to_owned();
            fields
                .issues
                .push(ConfigIssue::new("backoffMultiplier", message));
        }
        read
    }

    fn read_policy(fields: &mut Fields) -> Self {
        let read = Self {
            attempts: fields.take("attempts"),
            backoff: fields.within("backoff", WrittenBackoff::read),
            on_fail: fields.take("onFail"),
            retriable_errors: fields.take("retriableErrors"),
            ..Self::default()
        };
        read.check_attempts("attempts", fields);
        read
    }

    fn check_attempts(&self, key: &str, fields: &mut Fields) {
        if self.attempts == Some(0) {
            let message = "must be 1 or more".to_owned();
            fields.issues.push(ConfigIssue::new(key, message));
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{type, delayMs, maxDelayMs, jitter}"
)]
pub struct WrittenBackoff {
    #[serde(rename = "type", default)]
    kind: BackoffKind,
    #[serde(alias = "delay")]
    delay_ms: u64,
    #[serde(alias = "capMs")]
    max_delay_ms: Option<u64>,
    jitter: Option<f64>,
}

impl WrittenBackoff {
    fn read(fields: &mut Fields) -> Self {
        let is_given = fields.has("delayMs") || fields.has("delay");
        let delay_ms = fields.take("delayMs").or_else(|| fields.take("delay"));
        if !is_given {
            let message = "is missing".to_owned();
            fields.issues.push(ConfigIssue::new("delayMs", message));
        }
        Self {
            kind: fields.take("type").unwrap_or_default(),
            delay_ms: delay_ms.unwrap_or_default(),
            max_delay_ms: fields.take("maxDelayMs").or_else(|| fields.take("capMs")),
            jitter: fields.take("jitter"),
        }
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BackoffKind {
    Fixed,
    #[default]
    Exponential,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "{enabled, queue}")]
pub(super) struct WrittenDlq {
    pub enabled: Option<bool>,
    pub queue: Option<String>,
}

impl Default for Policy {
    /// The policy of a job whose process is unknown.
    fn default() -> Self {
        Self::read(None, None, None)
    }
}

impl Policy {
    /// The settings of a process over the defaults.
    pub(super) fn read(
        retry: Option<&WrittenRetry>,
        dlq: Option<&WrittenDlq>,
        timeout_ms: Option<u64>,
    ) -> Self {
        let mut policy = Self {
            retry: default_retry(),
            on_fail: OnFail::Dlq,
            dead_queue: dlq.and_then(|dlq| dlq.queue.as_deref().map(Name::from)),
            timeout: timeout_ms.map(Duration::from_millis),
        };
        if let Some(retry) = retry {
            policy.amend(retry);
        }
        let says = retry.is_some_and(|retry| retry.on_fail.is_some());
        if dlq.is_some_and(|dlq| dlq.enabled == Some(false)) && !says {
            policy.on_fail = OnFail::Drop;
        }
        policy
    }

    /// How attempts are tried again: without end where nothing fails for good.
    pub fn retry_for_ever_if_said(&self) -> Retry {
        let mut retry = self.retry.clone();
        if self.on_fail == OnFail::Retry {
            retry.max_attempts = u32::MAX;
        }
        retry
    }

    /// Takes over what somebody says in particular.
    pub fn amend(&mut self, said: &WrittenRetry) {
        if let Some(attempts) = said.attempts {
            self.retry.max_attempts = attempts.max(1);
        }
        if let Some(backoff) = &said.backoff {
            self.retry.backoff_ms = backoff.delay_ms;
            let (multiplier, cap) = match backoff.kind {
                BackoffKind::Fixed => (1.0, backoff.delay_ms),
                BackoffKind::Exponential => (2.0, self.retry.max_backoff_ms.max(backoff.delay_ms)),
            };
            self.retry.backoff_multiplier = multiplier;
            self.retry.max_backoff_ms = backoff.max_delay_ms.unwrap_or(cap);
            self.retry.jitter = backoff.jitter.unwrap_or(0.0).clamp(0.0, 1.0);
        }
        if let Some(ms) = said.backoff_ms {
            self.retry.backoff_ms = ms;
            self.retry.backoff_multiplier = 2.0;
            self.retry.max_backoff_ms = MAX_BACKOFF_MS;
            self.retry.jitter = 0.0;
        }
        if let Some(factor) = said.backoff_multiplier {
            self.retry.backoff_multiplier = factor.max(1.0);
        }
        if let Some(ms) = said.max_backoff_ms {
            self.retry.max_backoff_ms = ms;
        }
        if let Some(jitter) = said.jitter {
            self.retry.jitter = jitter.clamp(0.0, 1.0);
        }
        if let Some(errors) = &said.retriable_errors {
            self.retry.retry_on = Some(errors.clone());
        }
        if let Some(on_fail) = said.on_fail {
            self.on_fail = on_fail;
        }
    }
}

/// How an operation of a handler's code is tried again: as a process is, amended by what the code
/// says itself: `{maxAttempts, backoffMs, …}` or `{attempts, backoff, …}`, a number of attempts, or
/// false.
pub fn operation_retry(process: &Retry, said: Option<&Json>) -> Result<Retry, WorkError> {
    let Some(said) = said.filter(|said| !said.is_null()) else {
        return Ok(process.clone());
    };
    let written = match said.as_str() {
        "false" => WrittenRetry {
            attempts: Some(1),
            ..WrittenRetry::default()
        },
        text => match text.parse() {
            Ok(attempts) => WrittenRetry {
                attempts: Some(attempts),
                ..WrittenRetry::default()
            },
            Err(_) => said.read().map_err(|error| {
                let message = format!("retry: {}", meant_within(&error.to_string()));
                WorkError::new(ErrorCode::InputError, message).permanent()
            })?,
        },
    };
    let invalid = match &written {
        WrittenRetry {
            attempts: Some(0), ..
        } => Some("retry.maxAttempts must be 1 or more"),
        WrittenRetry {
            on_fail: Some(_), ..
        } => Some("retry.onFail is a setting of a process, not of an operation of its code"),
        _ => None,
    };
    if let Some(message) = invalid {
        return Err(WorkError::new(ErrorCode::InputError, message).permanent());
    }
    let mut policy = Policy {
        retry: process.clone(),
        on_fail: OnFail::Dlq,
        dead_queue: None,
        timeout: None,
    };
    policy.amend(&written);
    Ok(policy.retry)
}

fn default_retry() -> Retry {
    Retry {
        max_attempts: ATTEMPTS,
        backoff_ms: 1_000,
        backoff_multiplier: 2.0,
        max_backoff_ms: MAX_BACKOFF_MS,
        retry_on: None,
        jitter: 0.2,
    }
}
