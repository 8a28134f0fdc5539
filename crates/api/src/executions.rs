//! Runs in FlowMonkey's shape.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use riverrun_engine::{AwaitFor, HistoryEntry, Parked, RunState, Visit, Wait};
use riverrun_runtime::{Error, Loaded};
use riverrun_types::{ErrorCode, RunId, RunStatus, time::NEVER};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    events::{EventsQuery, events_page},
    extract::{Query, RunPath, flag_or_none},
    jobs::jobs_of,
    reply::{Answer, ok},
    run_history::first_entries,
    run_reads::RunListQuery,
    schemas::{
        self, Execution, ExecutionCancellation, ExecutionError, ExecutionHistory, ExecutionList,
    },
};

/// Runs that are loaded at a time for a page.
const AT_ONCE: usize = 8;

/// List executions
///
/// Runs in the format of FlowMonkey. `/api/runs` is cheaper, because it does not read the state of
/// every run.
#[utoipa::path(get, path = "/api/executions", tag = "executions", params(RunListQuery),
    responses((status = 200, description = "A page of executions", body = ExecutionList)))]
pub(crate) async fn list_executions(
    State(api): State<Api>,
    Query(query): Query<RunListQuery>,
) -> Answer {
    let page = api.runtime().runs().list(&query.filter()?).await?;
    let runs = page.items.into_iter().map(|record| record.id);
    let load = |id| {
        let api = api.clone();
        async move {
            match api.runtime().runs().load(&id).await {
                Ok(loaded) => execution(&api, &loaded).await.map(Some),
                // Deleted since the page was read.
                Err(error) if error.code() == ErrorCode::RunNotFound => Ok(None),
                Err(error) if error.code() == ErrorCode::StoreCorrupt => {
                    damaged(&api, &id, &error).await
                }
                Err(error) => Err(ApiError::from(error)),
            }
        }
    };
    let items = stream::iter(runs)
        .map(load)
        .buffered(AT_ONCE)
        .try_filter_map(|execution| async move { Ok(execution) });
    ok(&ExecutionList {
        items: items.try_collect().await?,
        next_cursor: page.next,
    })
}

/// What to include.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExecutionQuery {
    /// Adds `history`: the first 1,000 ended attempts. `/api/runs/{id}/history` has all of them in pages.
    #[serde(default, deserialize_with = "flag_or_none")]
    #[param(value_type = Option<bool>)]
    history: Option<bool>,
}

/// Attempts that an execution is shown with.
const HISTORY: usize = 1_000;

/// Read an execution
#[utoipa::path(get, path = "/api/executions/{id}", tag = "executions",
    params(("id" = String, Path, description = "The run's id, or `latest`"), ExecutionQuery),
    responses(
        (status = 200, description = "The execution", body = Execution),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn get_execution(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<ExecutionQuery>,
) -> Answer {
    let loaded = api.runtime().runs().load(&run).await?;
    let mut shown = execution(&api, &loaded).await?;
    if query.history == Some(true) {
        let (entries, handlers) = first_entries(&api, &loaded.record, HISTORY).await?;
        let entry = |entry: HistoryEntry| ExecutionHistory {
            handler_type: handlers.get(&*entry.step_id).cloned(),
            step_id: entry.step_id.to_string(),
            outcome: entry.outcome,
            started_at: entry.started_at,
            completed_at: entry.completed_at,
            duration_ms: entry.duration_ms,
            error: entry.error.map(|error| ExecutionError {
                code: error.code.into(),
                message: error.message,
                step_id: Some(entry.step_id.to_string()),
                details: error.details,
                timestamp: entry.completed_at,
            }),
        };
        shown.history = Some(entries.into_iter().map(entry).collect());
    }
    ok(&shown)
}

/// Read an execution's events
#[utoipa::path(get, path = "/api/executions/{id}/events", tag = "executions",
    params(("id" = String, Path, description = "The run's id, or `latest`"), EventsQuery),
    responses(
        (status = 200, description = "A page of events", body = schemas::EventList),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn execution_events(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<EventsQuery>,
) -> Answer {
    events_page(&api, &riverrun_types::StreamName::flow(&run), query).await
}

/// List an execution's jobs
///
/// The job of the run, and one for each visit of a process step.
#[utoipa::path(get, path = "/api/executions/{id}/jobs", tag = "executions",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    responses(
        (status = 200, description = "Its jobs", body = schemas::JobList),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn execution_jobs(State(api): State<Api>, RunPath(run): RunPath) -> Answer {
    jobs_of(&api, &run).await
}

async fn execution(api: &Api, loaded: &Loaded) -> Result<Execution, ApiError> {
    let Loaded { record, state } = loaded;
    let text = |name: &riverrun_types::Name| name.to_string();
    let wake_at = Some(state.due_ms()).filter(|ms| *ms != NEVER && *ms > 0);
    let missing = match state.status {
        RunStatus::Paused => None,
        // A flow that cannot be compiled any more is shown all the same.
        _ => api
            .runtime()
            .steps()
            .missing_process(loaded)
            .await
            .ok()
            .flatten(),
    };
    let missing =
        missing.map(|process| format!("process {process}, which this server does not have"));
    Ok(Execution {
        id: record.id.clone(),
        flow_id: record.flow.to_string(),
        flow_version: record.version.to_string(),
        current_step_id: current_step(state),
        status: match state.status {
            RunStatus::Paused => RunStatus::Waiting.as_str(),
            status => status.as_str(),
        },
        context: state.state.clone(),
        wake_at: wake_at.filter(|_| state.status == RunStatus::Waiting),
        wait_reason: missing.or_else(|| wait_reason(state)),
        error: error(loaded),
        step_count: state.step_count,
        history: None,
        tenant_id: record.tenant.as_ref().map(text),
        metadata: record.metadata.clone(),
        idempotency_key: record.idempotency_key.as_ref().map(text),
        parent_execution_id: record.parent.as_ref().map(|parent| parent.run.clone()),
        cancellation: state
            .cancellation
            .as_ref()
            .map(|cancellation| ExecutionCancellation {
                source: cancellation.source.clone(),
                reason: cancellation.reason.clone(),
                cancelled_at: record.ended_ms.unwrap_or(record.updated_ms),
            }),
        created_at: record.created_ms,
        updated_at: record.updated_ms,
    })
}

/// The visit that is active, the innermost where several are; the step that ended last otherwise.
fn current_step(state: &RunState) -> Option<String> {
    if let Some(visit) = state.visits.last() {
        return Some(visit.key.step.to_string());
    }
    let ended = state.steps.iter().max_by_key(|(_, step)| step.ended_ms);
    ended.map(|(name, _)| name.to_string())
}

fn wait_reason(state: &RunState) -> Option<String> {
    if state.status == RunStatus::Paused {
        return Some("paused".to_owned());
    }
    if let Some(Parked { code, message, .. }) = state.visits.iter().find_map(Visit::parked) {
        return Some(format!("parked: {code}: {message}"));
    }
    if state.status != RunStatus::Waiting {
        return None;
    }
    state
        .visits
        .iter()
        .rev()
        .find_map(|visit| match &visit.wait {
            Some(Wait::Time { reason, .. }) => {
                Some(reason.clone().unwrap_or_else(|| "delay".to_owned()))
            }
            Some(Wait::Backoff { .. }) => Some("retry".to_owned()),
            Some(Wait::Run { run, .. }) => Some(format!("sub-flow {run}")),
            Some(Wait::Branches(_)) => Some("branches".to_owned()),
            Some(Wait::Job { .. }) => Some("job".to_owned()),
            Some(Wait::Await(awaiting)) => Some(match &awaiting.what {
                AwaitFor::Time => "delay".to_owned(),
                AwaitFor::Retry(operation) => format!("retry {}", operation.name),
                AwaitFor::Event { event_kind, .. } => format!("event {event_kind}"),
                AwaitFor::Trigger { .. } => format!("trigger {}", awaiting.id),
            }),
            Some(Wait::Parked(_)) | None => None,
        })
}

/// One whose stream cannot be read, as far as its row knows it.
async fn damaged(api: &Api, run: &RunId, cause: &Error) -> Result<Option<Execution>, ApiError> {
    let Some(record) = api.runtime().base().store().run(run).await? else {
        return Ok(None);
    };
    let error = ExecutionError {
        code: cause.code().into(),
        message: cause.to_string(),
        step_id: None,
        details: None,
        timestamp: record.updated_ms,
    };
    let mut state = RunState::new();
    state.status = record.status;
    let state = Arc::new(state);
    let shown = execution(api, &Loaded { record, state }).await?;
    Ok(Some(Execution {
        error: Some(error),
        ..shown
    }))
}

fn error(loaded: &Loaded) -> Option<ExecutionError> {
    let failure = loaded.state.error.as_ref()?;
    Some(ExecutionError {
        code: failure.code.to_string(),
        message: failure.message.clone(),
        step_id: failure.step_id.as_ref().map(|step| step.to_string()),
        details: failure.details.clone(),
        timestamp: loaded.record.ended_ms.unwrap_or(loaded.record.updated_ms),
    })
}
