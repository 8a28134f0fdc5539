//! Requests to add jobs, and the jobs they become.
//!
//! `check` rejects invalid options, `pace` computes the unique name of a job, and `kept` holds the
//! options that are stored with it.

mod check;
mod kept;
mod pace;

use std::{collections::HashMap, sync::Arc};

use riverrun_contract::schema_issues;
use riverrun_store::NewJob;
use riverrun_types::{Json, Millis, Name, RunId, time};
use serde::Deserialize;

use check::{check, check_window};
use kept::kept;
use pace::{debounce, fallback};
use riverrun_contract::{OnFail, Process};

use super::Queues;
use crate::base::{Error, Result};

pub use kept::KeptOptions;

/// A request to add a job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct JobRequest {
    pub name: Option<String>,
    pub data: Option<Json>,
    #[serde(alias = "opts")]
    pub options: JobOptions,
}

impl JobRequest {
    pub fn new(data: impl Into<Json>) -> Self {
        Self {
            data: Some(data.into()),
            ..Self::default()
        }
    }
}

/// How a job is run, where it differs from its process.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct JobOptions {
    /// Adding the same id again returns the same job.
    pub job_id: Option<String>,
    /// Higher priorities go first.
    pub priority: i32,
    #[serde(alias = "delay")]
    pub delay_ms: Option<u64>,
    #[serde(deserialize_with = "time::moment")]
    pub run_at: Option<Millis>,
    /// The maximum number of attempts, the first included.
    pub attempts: Option<u32>,
    pub backoff: Option<Json>,
    pub timeout_ms: Option<u64>,
    pub on_fail: Option<OnFail>,
    pub retriable_errors: Option<Vec<String>>,
    /// One job for this key, as long as the job is known or for a time; `auto` derives the key from
    /// the data.
    pub idempotency_key: Option<String>,
    pub idempotency_window_ms: Option<u64>,
    /// The same in one object.
    pub idempotency: Option<IdempotencyOptions>,
    /// One job for this key, until it has ended or for a time.
    pub dedupe: Option<Dedupe>,
    /// The first job in each window; later ones are answered with it.
    pub throttle: Option<Throttle>,
    /// The last job, once no other was added for a while.
    pub debounce: Option<Debounce>,
    /// Jobs of one key take turns with other keys and share the key's concurrency. Without a key,
    /// the tenant is the key.
    #[serde(alias = "group")]
    pub key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Option<Json>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    /// How many events started a run on the way to it. Only the server sets it.
    #[serde(skip)]
    pub chain: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IdempotencyOptions {
    pub key: String,
    pub window_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dedupe {
    pub key: String,
    pub window_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Throttle {
    pub key: Option<String>,
    #[serde(alias = "durationMs")]
    pub window_ms: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Debounce {
    pub key: Option<String>,
    #[serde(alias = "durationMs")]
    pub delay_ms: u64,
}

impl Queues {
    /// Turns requests into jobs of their queues, whose processes are known.
    pub(super) async fn prepare_jobs(
        &self,
        takers: &HashMap<Name, Option<Arc<Process>>>,
        requests: Vec<(Name, JobRequest)>,
    ) -> Result<Vec<NewJob>> {
        let now = self.base().now_ms();
        let mut jobs = Vec::with_capacity(requests.len());
        for (at, (queue, request)) in requests.into_iter().enumerate() {
            let process = takers.get(&queue).and_then(Option::as_deref);
            let job = self.prepare_job(&queue, process, request, now).await;
            jobs.push(job.map_err(|error| error.of_job(at))?);
        }
        Ok(jobs)
    }

    async fn prepare_job(
        &self,
        queue: &Name,
        process: Option<&Process>,
        request: JobRequest,
        now: Millis,
    ) -> Result<NewJob> {
        let JobRequest {
            name,
            data,
            options,
        } = request;
        let data = data.unwrap_or_else(Json::null);
        if let Some(schema) = process.and_then(|process| process.config.input_schema.as_ref()) {
            let issues = schema_issues(schema, &data);
            if !issues.is_empty() {
                return Err(Error::InputInvalid(issues));
            }
        }
        check(&options, name.as_deref(), now)?;
        check_window(&options, process)?;
        let id = match &options.job_id {
            None => RunId::fresh(),
            Some(id) => {
                RunId::for_new(id).map_err(|error| Error::BadId(format!("jobId: {error}")))?
            }
        };
        let key = match (
            &options.key,
            process.and_then(|process| process.config.key.as_ref()),
        ) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(expr)) => self.key_of(expr, &data).await?,
            (None, None) => None,
        };
        let key = key.or_else(|| options.tenant_id.clone());
        let delay = |ms: u64| now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX));
        let mut at_ms = options.run_at.or(options.delay_ms.map(delay));
        let unique = self
            .unique(process, &options, &data, key.as_deref(), now)
            .await?;
        if let Some(debounce) = debounce(fallback(process, &options), &options) {
            let quiet = now.saturating_add(debounce);
            at_ms = Some(at_ms.map_or(quiet, |asked| asked.max(quiet)));
        }
        Ok(NewJob {
            is_named: options.job_id.is_some(),
            id,
            queue: queue.clone(),
            name: name.filter(|name| **name != **queue).map(Name::from),
            priority: options.priority,
            at_ms,
            created_ms: now,
            key: key.map(Name::from),
            unique,
            correlation: options.correlation_id.as_deref().map(Name::from),
            options: kept(options),
            data,
        })
    }
}
