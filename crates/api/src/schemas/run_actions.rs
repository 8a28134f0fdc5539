//! Actions on runs: start, cancel, rerun, fork.

use riverrun_types::{EventId, Json, RunId, RunStatus};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// How to start a run. Everything may be absent, and so may the body.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StartBody {
    /// The input, which is the initial state of the run. Default: an empty object.
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    /// A second request with the same key for the same flow and tenant returns the first run. The
    /// header `Idempotency-Key` does the same.
    pub idempotency_key: Option<String>,
    pub tags: Vec<String>,
    /// Stored with the run.
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Json>,
    pub tenant_id: Option<String>,
    /// Start the first step after this delay.
    pub delay_ms: Option<u64>,
    /// Default: the newest version.
    pub version: Option<String>,
    /// Default: a new id.
    pub run_id: Option<String>,
    /// Default: the id of the run.
    pub correlation_id: Option<String>,
    /// Its cause: the id of a run, a job or an event.
    pub causation_id: Option<String>,
}

/// A run that was started, now or by an earlier request with the same key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// Its status when it was stored.
    #[schema(value_type = String)]
    pub status: RunStatus,
    pub created: bool,
}

/// The reason of a request, which is stored.
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
    /// Use the newest version of the flow instead of the version of the run.
    pub latest: bool,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForkBody {
    /// The id of the last event that both runs share. Default: the latest event.
    #[schema(value_type = Option<String>)]
    pub at: Option<EventId>,
}

/// Distinguishes an explicit null from an absent member.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}
