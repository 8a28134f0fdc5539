//! Streams that do not belong to a run.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::Event;

/// A stream that is no run's, as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamSummary {
    pub id: String,
    pub r#type: String,
    /// The full name, as `/api/events/{stream}` takes it.
    pub stream: String,
    /// How many events it has.
    pub events: u64,
    pub created_at: String,
    pub updated_at: String,
}

/// A stream that is no run's: what it begins and ends with.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StreamView {
    pub id: String,
    pub r#type: String,
    /// The full name.
    pub stream: String,
    /// Of a trigger: what its events reduce to, with `status` `registered`, `fired`, `timeout` or
    /// `cancelled`.
    pub state: Option<Value>,
    /// How many events it has.
    pub events: u64,
    pub first: Event,
    pub last: Event,
    /// A page of its events.
    pub items: Vec<Event>,
    pub next_cursor: Option<String>,
}
