//! The rule of retry, of a step or a process.

use serde::{Deserialize, Serialize};

/// How often and when a failed attempt is tried again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// How often a visit is tried in all, the first try included: 1 means never again. FlowMonkey
    /// counts retries only.
    pub max_attempts: u32,
    #[serde(default)]
    pub backoff_ms: u64,
    #[serde(default = "Retry::default_multiplier")]
    pub backoff_multiplier: f64,
    #[serde(default = "Retry::default_max_backoff_ms")]
    pub max_backoff_ms: u64,
    /// Only failures with these codes are tried again; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_on: Option<Vec<String>>,
    /// The share of the delay, 0 to 1, that chance may take off, so that a crowd spreads out.
    #[serde(default)]
    pub jitter: f64,
}

impl Retry {
    fn default_multiplier() -> f64 {
        2.0
    }

    pub(super) fn default_max_backoff_ms() -> u64 {
        60_000
    }
}
