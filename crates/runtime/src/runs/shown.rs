//! A run as JSON for clients: borrowed from the cache, written once, numbers unrounded.

use indexmap::IndexMap;
use riverrun_engine::{Cancellation, Failure, StepSummary};
use riverrun_store::RunRecord;
use riverrun_types::{
    EventId, Json, Millis, Name, RunId, RunStatus, State, VisitStatus,
    time::{Iso, NEVER},
};
use serde::{Serialize, Serializer};

use super::{load::Loaded, reads::RunView};

/// A run in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown<'a> {
    run_id: &'a RunId,
    kind: &'static str,
    flow: &'a Name,
    version: &'a Name,
    status: RunStatus,
    created_at: Iso,
    updated_at: Iso,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a Name>,
    #[serde(skip_serializing_if = "<[Name]>::is_empty")]
    tags: &'a [Name],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ShownParent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<ShownOrigin<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a Name>,
    events: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownParent<'a> {
    run_id: &'a RunId,
    step: &'a Name,
    visit: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownOrigin<'a> {
    run_id: &'a RunId,
    event_id: Option<EventId>,
}

impl<'a> From<&'a RunRecord> for Shown<'a> {
    fn from(record: &'a RunRecord) -> Self {
        Self {
            run_id: &record.id,
            kind: "flow",
            flow: &record.flow,
            version: &record.version,
            status: record.status,
            created_at: Iso(record.created_ms),
            updated_at: Iso(record.updated_ms),
            ended_at: record.ended_ms.map(Iso),
            duration_ms: record
                .ended_ms
                .map(|ms| ms.saturating_sub(record.created_ms)),
            wake_at: record.wake_ms.map(Iso),
            error: record.error.as_ref(),
            idempotency_key: record.idempotency_key.as_ref(),
            tenant_id: record.tenant.as_ref(),
            tags: &record.tags,
            metadata: record.metadata.as_ref(),
            parent: record.parent.as_ref().map(|parent| ShownParent {
                run_id: &parent.run,
                step: &parent.step,
                visit: parent.visit,
            }),
            forked_from: record.origin.as_ref().map(|origin| ShownOrigin {
                run_id: &origin.run,
                event_id: origin.event,
            }),
            correlation_id: record.correlation.as_ref(),
            events: record.len,
        }
    }
}

/// A run with everything in its stream.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownWhole<'a> {
    #[serde(flatten)]
    record: Shown<'a>,
    step_count: u64,
    #[serde(serialize_with = "steps")]
    steps: &'a IndexMap<Name, StepSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation: Option<&'a Cancellation>,
    input: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    state: &'a State,
}

impl Serialize for RunView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Loaded { record, state } = &self.loaded;
        let mut shown = Shown::from(record);
        shown.status = state.status;
        // A list reads the record, which does not know of jobs.
        let due_ms = Some(state.due_ms()).filter(|ms| *ms != NEVER && *ms > 0);
        if shown.wake_at.is_none() && state.status == RunStatus::Waiting {
            shown.wake_at = due_ms.map(Iso);
        }
        ShownWhole {
            record: shown,
            step_count: state.step_count,
            steps: &state.steps,
            cancellation: state.cancellation.as_ref(),
            input: &state.input,
            result: state.result.as_ref().filter(|_| state.status.is_ended()),
            state: &state.state,
        }
        .serialize(serializer)
    }
}

fn steps<S: Serializer>(
    steps: &&IndexMap<Name, StepSummary>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        steps
            .iter()
            .map(|(name, step)| (name, ShownStep::from(step))),
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownStep<'a> {
    status: VisitStatus,
    visits: u32,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

impl<'a> From<&'a StepSummary> for ShownStep<'a> {
    fn from(step: &'a StepSummary) -> Self {
        Self {
            status: step.status,
            visits: step.visits,
            attempt: step.attempt,
            started_at: step.started_ms.map(Iso),
            completed_at: step.ended_ms.map(Iso),
            error: step.error.as_ref(),
        }
    }
}
