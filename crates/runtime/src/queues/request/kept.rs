//! The job options that are stored with the job.

use std::time::Duration;

use riverrun_contract::{OnFail, Policy, Process, WrittenRetry};
use riverrun_types::Json;
use serde::{Deserialize, Serialize};

use super::JobOptions;
use crate::queues::place::StepPlace;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeptOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_fail: Option<OnFail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retriable_errors: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// How many events started a run on the way to it.
    #[serde(skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
    /// The visit of a run whose job it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepPlace>,
}

impl KeptOptions {
    pub fn read(options: Option<&Json>) -> Self {
        options
            .and_then(|options| options.read().ok())
            .unwrap_or_default()
    }

    /// Whether the job sets its own retry policy.
    pub fn has_retry(&self) -> bool {
        self.attempts.is_some()
            || self.backoff.is_some()
            || self.on_fail.is_some()
            || self.retriable_errors.is_some()
    }

    /// The retry policy of failed attempts: the process's, overridden by the job's own.
    pub fn policy(&self, process: Option<&Process>) -> Policy {
        let mut policy =
            process.map_or_else(Policy::default, |process| process.config.policy.clone());
        policy.amend(&WrittenRetry {
            attempts: self.attempts,
            backoff: self
                .backoff
                .as_ref()
                .and_then(|backoff| backoff.read().ok()),
            on_fail: self.on_fail,
            retriable_errors: self.retriable_errors.clone(),
            ..WrittenRetry::default()
        });
        if let Some(ms) = self.timeout_ms {
            policy.timeout = Some(Duration::from_millis(ms));
        }
        policy
    }
}

pub(super) fn kept(options: JobOptions) -> Option<Json> {
    let kept = KeptOptions {
        attempts: options.attempts,
        backoff: options.backoff,
        timeout_ms: options.timeout_ms,
        on_fail: options.on_fail,
        retriable_errors: options.retriable_errors,
        tenant_id: options.tenant_id,
        tags: options.tags,
        metadata: options.metadata,
        correlation_id: options.correlation_id,
        causation_id: options.causation_id,
        chain: options.chain,
        step: None,
    };
    (kept != KeptOptions::default()).then(|| Json::of(&kept))
}
