//! Triggers: their definition, use and making up for what they missed.

use riverrun_types::{Json, Millis, time};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What a trigger is made of.
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
    /// The newest where absent.
    pub flow_version: Option<String>,
    /// Default true.
    pub enabled: Option<bool>,
    pub description: Option<String>,
    /// What is peculiar to the type: see the documentation of triggers.
    #[schema(value_type = Object, required = false)]
    pub config: Value,
    /// The input of its runs where nothing else gives one.
    pub input: Option<Value>,
    /// An expression that makes the input of what came.
    pub input_map: Option<String>,
    /// Where in the input it lands.
    pub context_key: Option<String>,
    /// An expression that gives the run's idempotency key.
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    #[schema(required = false)]
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
}

/// What of a trigger changes; null takes away.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangedTrigger {
    /// The same as in the path: the id of a trigger never changes.
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
    /// The version in which the trigger is to be; in another one the change is refused.
    pub version: Option<u64>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Trigger {
    pub id: String,
    pub r#type: String,
    /// Counts its changes.
    pub version: u64,
    pub flow: String,
    pub flow_version: Option<String>,
    pub enabled: bool,
    /// `{code, message}` of why it cannot be used as it stands. It starts nothing meanwhile.
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
    /// `api`, or `project` where a file keeps it.
    pub origin: String,
    pub created_at: String,
    pub updated_at: String,
    /// Where requests go that fire it.
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
    /// Give it as `cursor` to read on; absent on the last page.
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
    /// Who or what fires it, for the run's metadata. Default `manual`.
    pub source: Option<String>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BackfillBody {
    /// The first moment that counts: ISO 8601 or milliseconds.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = String, required, example = "2026-01-01T00:00:00Z")]
    pub from: Option<Millis>,
    /// The first that does not.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = String, required, example = "2026-02-01T00:00:00Z")]
    pub to: Option<Millis>,
    /// At most so many due times, the earliest first: up to 1,000, default 100.
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Also due times of so long ago that a run which there was may be deleted: they may run twice.
    /// Without it, those are refused.
    pub forgotten: Option<bool>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Backfilled {
    pub items: Vec<BackfilledTime>,
    /// How many runs were started.
    pub created: usize,
    /// How many could not be.
    pub failed: usize,
    /// `{code, message}` of the first of those.
    pub first_error: Option<Value>,
    /// Where to go on; absent if nothing is left.
    pub next_from: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BackfilledTime {
    pub due_at: String,
    /// Absent if none could be started.
    pub run_id: Option<String>,
    /// False if there was a run for this time already.
    pub created: bool,
    /// `{code, message}` of why there is no run.
    pub error: Option<Value>,
}
