//! What people do with runs: start, stop, rerun, fork.

use riverrun_types::{EventId, Json, RunId, RunStatus};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// How to start a run. Everything may be absent, and so may the body.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StartBody {
    /// What the run's state begins with. An empty object where absent.
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    /// The same key for the same flow and tenant answers with the first run. The header
    /// `Idempotency-Key` does the same.
    pub idempotency_key: Option<String>,
    pub tags: Vec<String>,
    /// Kept with the run for its owner.
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Json>,
    pub tenant_id: Option<String>,
    /// Begin no step for this long.
    pub delay_ms: Option<u64>,
    /// The newest version where absent.
    pub version: Option<String>,
    /// A fresh id where absent.
    pub run_id: Option<String>,
    /// The story that it belongs to; its own where absent.
    pub correlation_id: Option<String>,
    /// What brought it about: the id of a run, a job or an event.
    pub causation_id: Option<String>,
}

/// A run that was started, now or by an earlier request with the same key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// How far it had come when it became durable.
    #[schema(value_type = String)]
    pub status: RunStatus,
    pub created: bool,
}

/// Why something is done, for the record.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReasonBody {
    pub reason: Option<String>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RerunBody {
    /// Instead of the input of the first run.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    /// With the newest version of the flow instead of the run's own.
    pub latest: bool,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForkBody {
    /// The last event that both runs share; everything up to now where absent.
    #[schema(value_type = Option<String>)]
    pub at: Option<EventId>,
}

/// Tells a null that was given from nothing given.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}
