//! Queues and their jobs.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One job, or several under `jobs`.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddJobs {
    /// Default: the name of the queue.
    pub name: Option<String>,
    /// The input of the handler.
    pub data: Option<Value>,
    pub options: Option<AddOptions>,
    /// Several jobs; no other member is allowed beside them.
    pub jobs: Option<Vec<AddJob>>,
}

/// One of several jobs.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddJob {
    /// Default: the name of the queue.
    pub name: Option<String>,
    /// The input of the handler.
    pub data: Option<Value>,
    #[schema(required = false)]
    pub options: AddOptions,
}

/// Options of a job, which override those of its process.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddOptions {
    /// A second job with the same id returns the first one.
    pub job_id: Option<String>,
    /// Higher starts first.
    #[schema(required = false)]
    pub priority: i32,
    /// Not with `runAt`.
    pub delay_ms: Option<u64>,
    /// ISO 8601 or milliseconds, ten years from now at most.
    pub run_at: Option<String>,
    /// The number of attempts, including the first. Default: as the process says.
    #[schema(minimum = 1)]
    pub attempts: Option<u32>,
    pub backoff: Option<Backoff>,
    pub timeout_ms: Option<u64>,
    /// `dlq`, `retry` or `drop`.
    pub on_fail: Option<String>,
    pub retriable_errors: Option<Vec<String>>,
    /// One job for this key, while the job exists or for a time; `auto` derives the key from the data.
    pub idempotency_key: Option<String>,
    pub idempotency_window_ms: Option<u64>,
    /// Key and window together.
    pub idempotency: Option<KeyWindow>,
    /// One job for this key, until it has ended or for a time.
    pub dedupe: Option<KeyWindow>,
    /// The first job of each window.
    pub throttle: Option<Throttle>,
    /// The last job, once no other was added for a while.
    pub debounce: Option<Debounce>,
    /// Keys take turns, and the jobs of a key share its concurrency.
    pub key: Option<String>,
    pub tenant_id: Option<String>,
    #[schema(required = false)]
    pub tags: Vec<String>,
    pub metadata: Option<Value>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
}

/// The delay before another attempt.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Backoff {
    /// `fixed` or `exponential`.
    #[schema(required = false)]
    pub r#type: String,
    pub delay_ms: u64,
    pub max_delay_ms: Option<u64>,
    /// The share of the delay, 0 to 1, that is random.
    pub jitter: Option<f64>,
}

/// A key and how long it is used.
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

/// The added jobs, in order.
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
    /// Started attempts.
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

/// A queue with its counts, rates and latencies.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Queue {
    pub name: String,
    pub paused: bool,
    /// The process that takes its jobs on this server.
    pub process: Option<String>,
    /// By status.
    pub counts: Value,
    /// How long the oldest waiting job has waited.
    pub oldest_ms: Option<i64>,
    /// Rates and latencies since this server started.
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
    /// How many jobs still wait: jobs of steps, and jobs added in the meantime.
    pub left: u64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Redriven {
    pub redriven: u64,
    /// Whether more jobs follow in the background.
    pub goes_on: bool,
}
