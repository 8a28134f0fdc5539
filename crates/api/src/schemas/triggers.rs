//! Triggers: definition, firing, backfill.

use riverrun_types::{Json, Millis, time};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The definition of a trigger.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTrigger {
    #[schema(example = "nightly")]
    pub id: String,
    /// `http`, `schedule`, `event` or `manual`.
    #[schema(example = "schedule")]
    pub r#type: String,
    /// The flow that it starts, or `id@version`.
    #[schema(example = "report")]
    pub flow: String,
    /// Default: the newest.
    pub flow_version: Option<String>,
    /// Default true.
    pub enabled: Option<bool>,
    pub description: Option<String>,
    /// The settings of its type; see the documentation of triggers.
    #[schema(value_type = Object, required = false)]
    pub config: Value,
    /// The default input of its runs.
    pub input: Option<Value>,
    /// An expression that computes the input from the request or event.
    pub input_map: Option<String>,
    /// The place of the payload in the input: a dot path.
    pub context_key: Option<String>,
    /// An expression that computes the idempotency key of the run.
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    #[schema(required = false)]
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// Changes of a trigger; null removes a member.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangedTrigger {
    /// Must equal the id in the path: the id of a trigger never changes.
    #[schema(required = false)]
    pub id: String,
    /// `http`, `schedule`, `event` or `manual`.
    #[schema(required = false)]
    pub r#type: String,
    #[schema(required = false)]
    pub flow: String,
    pub flow_version: Option<String>,
    pub enabled: Option<bool>,
    pub description: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub config: Option<Value>,
    pub input: Option<Value>,
    pub input_map: Option<String>,
    pub context_key: Option<String>,
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
    /// The expected version; the change is rejected in any other version.
    pub version: Option<u64>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Trigger {
    pub id: String,
    pub r#type: String,
    /// Grows with each change.
    pub version: u64,
    pub flow: String,
    pub flow_version: Option<String>,
    pub enabled: bool,
    /// `{code, message}`: why it cannot be used. It starts no runs until it is corrected.
    pub broken: Option<Value>,
    pub description: Option<String>,
    pub config: Value,
    pub input: Option<Value>,
    pub input_map: Option<String>,
    pub context_key: Option<String>,
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
    /// `api`, or `project` if it comes from a file.
    pub origin: String,
    pub created_at: String,
    pub updated_at: String,
    /// The URL that fires it.
    pub path: Option<String>,
    pub next_due_at: Option<String>,
    /// The next due times.
    pub upcoming: Option<Vec<String>>,
    pub stats: TriggerStats,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TriggerStats {
    pub fired: u64,
    pub failed: u64,
    /// Due times that passed without a run.
    pub missed: u64,
    pub last_fired_at: Option<String>,
    pub last_run_id: Option<String>,
    pub last_failed_at: Option<String>,
    pub last_error: Option<Value>,
    pub next_due_at: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TriggerList {
    pub items: Vec<Trigger>,
    /// The `cursor` of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

#[derive(ToSchema)]
pub struct RemovedTrigger {
    pub id: String,
    pub removed: bool,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FireBody {
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    pub idempotency_key: Option<String>,
    /// The source that is stored in the metadata of the run. Default `manual`.
    pub source: Option<String>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BackfillBody {
    /// The start of the range, inclusive: ISO 8601 or milliseconds.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = String, required, example = "2026-01-01T00:00:00Z")]
    pub from: Option<Millis>,
    /// The end of the range, exclusive.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = String, required, example = "2026-02-01T00:00:00Z")]
    pub to: Option<Millis>,
    /// The most due times, the earliest first: up to 1,000, default 100.
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Also start due times that are older than the shortest retention of ended runs. Their runs may
    /// have been deleted, so they may run a second time.
    pub forgotten: Option<bool>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Backfilled {
    pub items: Vec<BackfilledTime>,
    /// The number of started runs.
    pub created: usize,
    /// The number of runs that could not be started.
    pub failed: usize,
    /// `{code, message}` of the first of these.
    pub first_error: Option<Value>,
    /// The `from` of the next request; absent if nothing is left.
    pub next_from: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BackfilledTime {
    pub due_at: String,
    /// Absent if the run could not be started.
    pub run_id: Option<String>,
    /// False if a run for this time existed before.
    pub created: bool,
    /// `{code, message}`: why there is no run.
    pub error: Option<Value>,
}
