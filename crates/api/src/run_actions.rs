//! Actions on runs: cancel, pause, resume, rerun, fork, delete.

use axum::{extract::State, http::StatusCode, response::IntoResponse};
use riverrun_runtime::{Error, Exported, Loaded, RunView};
use riverrun_types::{ErrorCode, RunId};

use crate::{
    app::Api,
    extract::{Body, FlowRunPath, Payload, Query, RunPath, read_object},
    reply::{Answer, ok},
    schemas::{self, ForkBody, ReasonBody, RerunBody},
    start::{WaitQuery, started_answer},
};

/// Cancel a run
///
/// Running steps receive a stop signal, waiting ones are removed, child runs are cancelled too.
#[utoipa::path(post, path = "/api/runs/{id}/cancel", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    request_body(content = Option<ReasonBody>),
    responses(
        (status = 200, description = "The run", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RunEnded, body = schemas::Failure)))]
pub(crate) async fn cancel_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Body(body): Body<ReasonBody>,
) -> Answer {
    let runtime = api.runtime();
    let state = runtime.runs().cancel(&run, body.reason).await?;
    let error = match runtime.runs().run(&run).await {
        Ok(view) => return ok(&view),
        Err(error) => error,
    };
    // A damaged stream cannot be read: the answer is what is known without it.
    let record = runtime
        .base()
        .store()
        .run(&run)
        .await
        .map_err(Error::from)?;
    let loaded = record.map(|record| Loaded { record, state });
    match loaded {
        Some(loaded) => ok(&RunView { loaded }),
        None => Err(error.into()),
    }
}

/// Cancel a run of a flow
///
/// The same as `/api/runs/{id}/cancel`, for a run of this flow.
#[utoipa::path(post, path = "/api/flows/{id}/runs/{run}/cancel", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"),
        ("run" = String, Path, description = "The run's id, or `latest`")),
    request_body(content = Option<ReasonBody>),
    responses(
        (status = 200, description = "The run", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RunEnded, body = schemas::Failure)))]
pub(crate) async fn cancel_flow_run(
    state: State<Api>,
    FlowRunPath(run): FlowRunPath,
    body: Body<ReasonBody>,
) -> Answer {
    cancel_run(state, RunPath(run), body).await
}

/// Pause a run
///
/// No step starts until the run is resumed; running attempts finish.
#[utoipa::path(post, path = "/api/runs/{id}/pause", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    request_body(content = Option<ReasonBody>),
    responses(
        (status = 200, description = "The run", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RunEnded, body = schemas::Failure)))]
pub(crate) async fn pause_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Body(body): Body<ReasonBody>,
) -> Answer {
    api.runtime().runs().pause(&run, body.reason).await?;
    show(&api, &run).await
}

/// Resume a paused run
#[utoipa::path(post, path = "/api/runs/{id}/resume", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    request_body(content = Option<ReasonBody>),
    responses(
        (status = 200, description = "The run", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = "RUN_NOT_PAUSED or RUN_ENDED", body = schemas::Failure)))]
pub(crate) async fn resume_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Body(_reason): Body<ReasonBody>,
) -> Answer {
    api.runtime().runs().resume(&run).await?;
    show(&api, &run).await
}

/// Rerun a run
///
/// Starts a new run of the same flow with the same or a different input. `?wait=` works as for
/// starting a run.
#[utoipa::path(post, path = "/api/runs/{id}/rerun", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), WaitQuery),
    request_body(content = Option<RerunBody>),
    responses(
        (status = 201, description = "The new run", body = schemas::StartedRun),
        (status = 200, description = "With `?wait=`: the new run, which has ended", body = schemas::Run),
        (status = 202, description = "With `?wait=`: the new run, which has not ended yet", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn rerun_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<WaitQuery>,
    Body(body): Body<RerunBody>,
) -> Answer {
    query.check(&api)?;
    let started = api
        .runtime()
        .runs()
        .rerun(&run, body.input, body.latest)
        .await?;
    query.answer(&api, started).await
}

/// Fork a run
///
/// Starts a new run that shares the events of this run up to a given one.
#[utoipa::path(post, path = "/api/runs/{id}/fork", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), WaitQuery),
    request_body(content = Option<ForkBody>),
    responses(
        (status = 201, description = "The new run", body = schemas::StartedRun),
        (status = 200, description = "With `?wait=`: the new run, which has ended", body = schemas::Run),
        (status = 202, description = "With `?wait=`: the new run, which has not ended yet", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::ForkAtEnd, body = schemas::Failure)))]
pub(crate) async fn fork_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<WaitQuery>,
    Body(body): Body<ForkBody>,
) -> Answer {
    query.check(&api)?;
    let started = api.runtime().runs().fork(&run, body.at).await?;
    query.answer(&api, started).await
}

/// Import a run
///
/// The body is a line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its
/// events. A run that has not ended continues here, with its awaits and callback URLs; it is rejected
/// if it waits for another run, or another run waits for it.
#[utoipa::path(post, path = "/api/runs/import", tag = "runs",
    request_body(content = Object, description = "`{run, events, awaits}`, as exported"),
    responses(
        (status = 201, description = "The run", body = schemas::StartedRun),
        (status = 400, description = ErrorCode::BadEvent, body = schemas::Failure),
        (status = 409, description = "RUN_EXISTS, DUPLICATE, AWAIT_EXISTS, RUN_TIED or SECRET_MISSING", body = schemas::Failure)))]
pub(crate) async fn import_run(State(api): State<Api>, Payload(body): Payload) -> Answer {
    let exported: Exported = read_object(body.as_str().as_bytes())?;
    started_answer(api.runtime().runs().import(exported).await?)
}

/// Delete a run
///
/// Deletes an ended run with its stream.
#[utoipa::path(delete, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RunNotEnded, body = schemas::Failure)))]
pub(crate) async fn delete_run(State(api): State<Api>, RunPath(run): RunPath) -> Answer {
    api.runtime().runs().delete(&run).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn show(api: &Api, run: &RunId) -> Answer {
    ok(&api.runtime().runs().run(run).await?)
}
