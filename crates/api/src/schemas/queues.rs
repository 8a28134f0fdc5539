//! Queues and their jobs.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One job, or several under `jobs`.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddJobs {
    /// The queue's name where absent.
    pub name: Option<String>,
    /// What the handler gets.
    pub data: Option<Value>,
    pub options: Option<AddOptions>,
    /// Several jobs, with nothing beside them.
    pub jobs: Option<Vec<AddJob>>,
}

/// One of several jobs.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddJob {
    /// The queue's name where absent.
    pub name: Option<String>,
    /// What the handler gets.
    pub data: Option<Value>,
    #[schema(required = false)]
    pub options: AddOptions,
}

/// How a job is to be run, where it differs from what its process says.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddOptions {
    /// The same id again is the same job.
    pub job_id: Option<String>,
    /// Higher goes first.
    #[schema(required = false)]
    pub priority: i32,
    /// Not with `runAt`.
    pub delay_ms: Option<u64>,
    /// ISO 8601 or milliseconds, ten years from now at most.
    pub run_at: Option<String>,
    /// How often it is tried in all, the first try included. Default as its process says.
    #[schema(minimum = 1)]
    pub attempts: Option<u32>,
    pub backoff: Option<Backoff>,
    pub timeout_ms: Option<u64>,
    /// `dlq`, `retry` or `drop`.
    pub on_fail: Option<String>,
    pub retriable_errors: Option<Vec<String>>,
    /// One job for this key, as long as the job is known or for a time; `auto` makes the key of the
    /// data.
    pub idempotency_key: Option<String>,
    pub idempotency_window_ms: Option<u64>,
    /// The same, said in one.
    pub idempotency: Option<KeyWindow>,
    /// One job for this key, until it has ended or for a time.
    pub dedupe: Option<KeyWindow>,
    /// The first job of each window.
    pub throttle: Option<Throttle>,
    /// The last job, once nobody has added another for a while.
    pub debounce: Option<Debounce>,
    /// Jobs of one key take turns with other keys and share the key's concurrency.
    pub key: Option<String>,
    pub tenant_id: Option<String>,
    #[schema(required = false)]
    pub tags: Vec<String>,
    pub metadata: Option<Value>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
}

/// How long a job waits before it is tried again.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Backoff {
    /// `fixed` or `exponential`.
    #[schema(required = false)]
    pub r#type: String,
    pub delay_ms: u64,
    pub max_delay_ms: Option<u64>,
    /// A part of the delay by which it varies.
    pub jitter: Option<f64>,
}

/// A key, and for how long it holds.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyWindow {
    pub key: String,
    pub window_ms: Option<u64>,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Throttle {
    pub key: Option<String>,
    pub window_ms: u64,
}

#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Debounce {
    pub key: Option<String>,
    pub delay_ms: u64,
}

/// What became of the jobs, in order.
#[derive(ToSchema)]
pub struct AddedJobs {
    /// Each `{jobId, created}`.
    pub jobs: Vec<Value>,
}

/// A job of a queue.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct QueueJob {
    pub id: String,
    pub queue: String,
    pub name: String,
    /// `waiting`, `delayed`, `active`, `parked`, `completed`, `failed` or `cancelled`.
    pub state: String,
    pub data: Value,
    pub priority: i32,
    pub key: Option<String>,
    /// Attempts begun.
    pub attempt: u32,
    pub created_at: String,
    pub run_at: Option<String>,
    /// Of a parked job, since when it is. ISO 8601.
    pub parked_at: Option<String>,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub progress: Option<Value>,
    pub checkpoint: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct QueueJobList {
    pub items: Vec<QueueJob>,
    pub next_cursor: Option<String>,
}

/// A queue: how many jobs it has in each state, and how fast it is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Queue {
    pub name: String,
    pub paused: bool,
    /// The process that takes its jobs here.
    pub process: Option<String>,
    /// By state.
    pub counts: Value,
    /// How long the job that has waited longest has waited.
    pub oldest_ms: Option<i64>,
    /// Rates and latencies that this server has seen since it started.
    pub stats: Value,
}

#[derive(ToSchema)]
pub struct QueueList {
    pub items: Vec<Queue>,
}

#[derive(ToSchema)]
pub struct Removed {
    pub removed: u64,
}

#[derive(Serialize, ToSchema)]
pub struct Drained {
    pub removed: u64,
    /// So many wait still: the jobs of steps, whose runs wait for them, and what was added meanwhile.
    pub left: u64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Redriven {
    pub redriven: u64,
    /// There are more, and they follow in the background.
    pub goes_on: bool,
}
