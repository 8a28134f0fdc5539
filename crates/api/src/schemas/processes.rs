//! Processes, and the calls of them.

use serde_json::Value;
use utoipa::ToSchema;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ShownProcess {
    pub id: String,
    /// `queue`, `flow` or `call`; not known of one that never loaded.
    pub run_mode: Option<String>,
    pub queue: Option<String>,
    pub language: Option<String>,
    pub file: Option<String>,
    pub config: Option<Value>,
    /// Why its file does not load, with a code and a message.
    pub error: Option<Value>,
}

#[derive(ToSchema)]
pub struct ProcessList {
    pub items: Vec<ShownProcess>,
}

/// The result of a call.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Executed {
    pub call_id: String,
    pub value: Value,
}
