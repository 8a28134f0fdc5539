//! The jobs of runs, and those of all kinds.

use riverrun_types::{RunId, RunStatus};
use serde::Serialize;
use utoipa::ToSchema;

use super::QueueJobList;

/// The work of a run: the run's own, whose id is the run's, and in the list of one run also one for
/// each visit of a step that a process runs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    #[schema(value_type = String)]
    pub id: RunId,
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub flow: String,
    pub version: String,
    /// The status of its run, or of the visit: one that waits for its next attempt is `waiting`.
    #[schema(value_type = String)]
    pub status: RunStatus,
    /// Whether it was due longer than a lease ago and has not started.
    pub stalled: bool,
    /// When it continues by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Of a visit: its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Of a visit: the n-th time that the run entered the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visit: Option<u32>,
    /// Of a visit: the process that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Of a visit: attempts so far, including the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    pub items: Vec<Job>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The jobs of runs, or of queues where the request asks for those.
#[derive(ToSchema)]
pub enum AnyJobList {
    Runs(JobList),
    Queues(QueueJobList),
}
