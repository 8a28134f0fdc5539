//! Runs in FlowMonkey's shape.

use riverrun_engine::HistoryOutcome;
use riverrun_types::{Json, RunId};
use serde::Serialize;
use utoipa::ToSchema;

/// A run in the format of FlowMonkey. Times are milliseconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    #[schema(value_type = String)]
    pub id: RunId,
    pub flow_id: String,
    pub flow_version: String,
    /// The active step, or the last one.
    pub current_step_id: Option<String>,
    /// `pending`, `running`, `waiting`, `completed`, `failed` or `cancelled`. A paused run waits,
    /// with the reason `paused`.
    pub status: &'static str,
    #[schema(value_type = Value)]
    pub context: riverrun_types::State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExecutionError>,
    pub step_count: u64,
    /// The ended attempts, with `?history=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<ExecutionHistory>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent_execution_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<ExecutionCancellation>,
    pub created_at: i64,
    pub updated_at: i64,
}

/// An attempt of a step that has ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionHistory {
    pub step_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler_type: Option<String>,
    /// `success`, `failure`, `wait` or `cancelled`.
    #[schema(value_type = String)]
    pub outcome: HistoryOutcome,
    pub started_at: i64,
    pub completed_at: i64,
    pub duration_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExecutionError>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionError {
    pub code: String,
    pub message: String,
    pub step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub details: Option<Json>,
    pub timestamp: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCancellation {
    /// `user`, `timeout`, `system` or `parent`.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub cancelled_at: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionList {
    pub items: Vec<Execution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
