//! The parameters of handlers' requests.

use riverrun_contract::meant_within;
use riverrun_protocol::{JournalEntry, WorkError};
use riverrun_types::{ErrorCode, Json, Name, RunId, json::strict::Strict};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::queues::{
    asks::RunWish,
    request::{JobOptions, JobRequest},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyParams {
    pub key: String,
    pub value: Option<Json>,
    pub if_version: Option<u64>,
    /// Of a step: what its code has read since the last record.
    #[serde(default)]
    pub seen: Vec<JournalEntry>,
    /// Of a step: the write is part of a `ctx.run`.
    #[serde(default)]
    pub in_run: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchParams {
    pub values: indexmap::IndexMap<String, Json>,
    pub if_version: Option<u64>,
    #[serde(default)]
    pub seen: Vec<JournalEntry>,
    #[serde(default)]
    pub in_run: bool,
}

#[derive(Deserialize)]
pub(crate) struct EmitParams {
    #[serde(rename = "type", alias = "kind")]
    pub kind: String,
    pub data: Option<Json>,
    #[serde(default)]
    pub seen: Vec<JournalEntry>,
}

#[derive(Deserialize)]
pub(super) struct MemoParams {
    pub name: String,
    /// Which use of the name it was; absent for the first.
    pub nth: Option<u32>,
    pub value: Option<Json>,
    pub error: Option<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallParams {
    pub process: String,
    pub input: Option<Json>,
    pub timeout_ms: Option<u64>,
}

/// One job, or many, each with a queue of its own.
#[derive(Deserialize)]
pub(super) struct EnqueueParams {
    queue: Option<String>,
    name: Option<String>,
    data: Option<Json>,
    #[serde(default, alias = "opts")]
    options: JobOptions,
    jobs: Option<Vec<Enqueued>>,
}

#[derive(Deserialize)]
struct Enqueued {
    queue: Option<String>,
    name: Option<String>,
    data: Option<Json>,
    #[serde(default, alias = "opts")]
    options: JobOptions,
}

impl EnqueueParams {
    /// If the jobs name no queue, the queue of the request.
    pub(super) fn jobs(self) -> Result<Vec<(Name, JobRequest)>, WorkError> {
        let Self {
            queue: shared,
            name,
            data,
            options,
            jobs,
        } = self;
        let one = Enqueued {
            queue: None,
            name,
            data,
            options,
        };
        let jobs = jobs.unwrap_or_else(|| vec![one]);
        let job = |job: Enqueued| {
            let missing = || WorkError::new(ErrorCode::BadRequest, "queue: is missing").permanent();
            let queue = job.queue.or_else(|| shared.clone()).ok_or_else(missing)?;
            let request = JobRequest {
                name: job.name,
                data: job.data,
                options: job.options,
            };
            Ok((Name::from(queue), request))
        };
        jobs.into_iter().map(job).collect()
    }
}

#[derive(Deserialize)]
pub(super) struct StartParams {
    flow: String,
    input: Option<Json>,
    #[serde(default)]
    options: StartOptions,
}

/// How to start a run, as over HTTP.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct StartOptions {
    version: Option<String>,
    run_id: Option<String>,
    idempotency_key: Option<String>,
    tenant_id: Option<String>,
    tags: Vec<String>,
    metadata: Option<Json>,
    delay_ms: Option<u64>,
}

impl StartParams {
    pub(super) fn wish(self) -> RunWish {
        RunWish {
            flow: self.flow,
            input: self.input.unwrap_or_else(|| Json::of(&json!({}))),
            version: self.options.version,
            run_id: self.options.run_id.as_deref().map(RunId::new),
            idempotency_key: self.options.idempotency_key,
            tenant: self.options.tenant_id,
            tags: self.options.tags,
            metadata: self.options.metadata,
            delay_ms: self.options.delay_ms,
            correlation_id: None,
            causation_id: None,
            chain: 0,
        }
    }
}

pub(crate) fn params<T: DeserializeOwned>(params: &Json) -> Result<T, WorkError> {
    params.read().map_err(|error| {
        WorkError::new(ErrorCode::BadRequest, misfit::<T>(params, &error)).permanent()
    })
}

/// The parameter that does not fit, and where. Computed on failure only, since most requests fit.
fn misfit<T: DeserializeOwned>(params: &Json, error: &serde_json::Error) -> String {
    // Lines and columns of the text are left out: the handler does not see it.
    let words = |error: &serde_json::Error| {
        let said = error.to_string();
        let said = said
            .rsplit_once(" at line ")
            .map_or(&*said, |(said, _)| said);
        meant_within(said)
    };
    let mut text = serde_json::Deserializer::from_str(params.as_str());
    match serde_path_to_error::deserialize::<_, T>(Strict::new(&mut text)) {
        Err(found) if !matches!(found.path().to_string().as_str(), "." | "?") => {
            format!("{}: {}", found.path(), words(found.inner()))
        }
        _ => words(error),
    }
}

#[derive(Deserialize)]
pub(super) struct CheckpointParams {
    pub data: Option<Json>,
}
