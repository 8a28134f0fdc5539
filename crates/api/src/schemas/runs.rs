//! Runs: state, attempts, awaits.

use serde_json::Value;
use utoipa::ToSchema;

/// A run in a list.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunSummary {
    pub run_id: String,
    /// `flow`.
    pub kind: String,
    pub flow: String,
    pub version: String,
    /// `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// ISO 8601, like all times.
    pub created_at: String,
    pub updated_at: String,
    pub ended_at: Option<String>,
    pub duration_ms: Option<i64>,
    /// When it continues by itself.
    pub wake_at: Option<String>,
    pub error: Option<Value>,
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
    /// The run and the step that started it: `{runId, step, visit}`.
    pub parent: Option<Value>,
    /// The run it was forked or rerun from: `{runId, eventId}`.
    pub forked_from: Option<Value>,
    /// Its correlation id, if it is not its own id.
    pub correlation_id: Option<String>,
    /// The number of events of its stream.
    pub events: u64,
}

/// A run with its state.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Run {
    #[schema(inline)]
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Visits begun so far.
    pub step_count: u64,
    /// The latest visit of each step: `{status, visits, attempt, startedAt?, completedAt?, error?}`.
    pub steps: Value,
    /// `{source, reason?}`.
    pub cancellation: Option<Value>,
    pub input: Value,
    /// Once it has ended.
    pub result: Option<Value>,
    pub state: Value,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunList {
    pub items: Vec<RunSummary>,
    /// The `cursor` of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

/// The state at a point in time.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StateAt {
    pub run_id: String,
    /// The time of the last included event; absent before the first.
    pub at: Option<String>,
    /// The number of included events.
    pub events: u64,
    pub status: String,
    pub state: Value,
}

#[derive(ToSchema)]
pub struct RunAwaits {
    pub items: Vec<RunAwait>,
}

/// What a visit waits for, or a callback that a step has created: `event` or `trigger`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunAwait {
    /// The id of a callback is all that a request needs to resume it.
    pub id: String,
    pub step: String,
    pub visit: u32,
    /// ISO 8601.
    pub created_at: String,
    pub expires_at: Option<String>,
    /// `{kind, match?: [[path, value]], filter?, lookbackMs?}`
    #[schema(value_type = Option<Object>)]
    pub event: Option<Value>,
    /// `{type, payload?, secret?, secretEnv?, count?}`
    #[schema(value_type = Option<Object>)]
    pub trigger: Option<Value>,
    /// Of a callback: it may be resumed repeatedly.
    pub many: Option<bool>,
    /// Of a callback: it accepts only signed requests.
    pub signed: Option<bool>,
    /// Of a callback: it is closed; later requests get an error that says so.
    pub closed: Option<bool>,
    /// When it was fired last.
    pub fired_at: Option<String>,
    /// What it was fired with.
    pub values: Option<Vec<Value>>,
}

/// An attempt that has ended.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct HistoryEntry {
    pub step_id: String,
    pub handler_type: Option<String>,
    pub visit: u32,
    pub attempt: u32,
    /// `success`, `failure`, `wait` or `cancelled`.
    pub outcome: String,
    pub started_at: String,
    pub completed_at: String,
    pub duration_ms: i64,
    pub error: Option<Value>,
    /// Failed tries of operations of its code that were retried, the latest 20:
    /// `{op, name, nth?, attempt, at, nextRetryAt, error}`.
    pub retries: Option<Vec<Value>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct HistoryList {
    pub items: Vec<HistoryEntry>,
    /// The `cursor` of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}
