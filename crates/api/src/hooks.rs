//! Requests that fire http triggers.

use axum::{
    extract::{Extension, Request, State},
    http::{HeaderMap, StatusCode},
};
use riverrun_triggers::{HookRequest, Hooked, PREFIX};
use riverrun_types::ErrorCode;
use serde_json::json;

use crate::{
    app::Api,
    edge::RequestId,
    errors::ApiError,
    extract::bytes_up_to,
    reply::{Answer, json as answer, ok},
    schemas,
    start::started_answer,
};

/// The path of the route, as the router writes it.
pub(crate) const ROUTE: &str = "/hooks/{*path}";

/// Fire an http trigger
///
/// The method and the path are those of the trigger; other methods than POST are accepted too. The
/// answer is the id of the run, or the whole run if the trigger has `respond: result`.
#[utoipa::path(post, path = "/hooks/{*path}", tag = "triggers",
    params(("path" = String, Path, description = "The path of an http trigger, such as `orders/7`")),
    request_body(content((serde_json::Value = "application/json"))),
    responses(
        (status = 201, description = "Started", body = schemas::StartedRun),
        (status = 200, description = "An earlier request with the same key had started it; or, with `respond: result`, the run has ended (the answer is then the run)", body = schemas::StartedRun),
        (status = 202, description = "With `respond: result`: the run has not ended in time", body = schemas::StartedRun),
        (status = 401, description = ErrorCode::SignatureInvalid, body = schemas::Failure),
        (status = 404, description = "NOT_FOUND: no trigger has this path", body = schemas::Failure),
        (status = 409, description = ErrorCode::TriggerDisabled, body = schemas::Failure),
        (status = 422, description = "INPUT_INVALID: the body does not match the schema of the trigger, or the input that of the flow", body = schemas::Failure),
        (status = 500, description = "TRIGGER_BROKEN: the stored trigger cannot be used", body = schemas::Failure)))]
pub(crate) async fn fire_hook(
    State(api): State<Api>,
    Extension(request_id): Extension<RequestId>,
    request: Request,
) -> Answer {
    let path = request.uri().path();
    let hook = api.triggers().hook(HookRequest {
        method: request.method().as_str().to_owned(),
        path: path.strip_prefix(PREFIX).unwrap_or(path).to_owned(),
        query: request.uri().query().map(str::to_owned),
        headers: headers(request.headers()),
        request_id: Some(request_id.0),
    })?;
    let limit = hook.max_body_bytes().min(api.options().max_body_bytes);
    let body = bytes_up_to(request, &api, limit).await?;
    let hooked = hook.take(api.triggers(), body).await?;
    match hooked.wait {
        Some(_) => result(&api, hooked).await,
        None => started_answer(hooked.started),
    }
}

/// Waits for the end of the run.
async fn result(api: &Api, hooked: Hooked) -> Answer {
    let Hooked { started, wait } = hooked;
    let wait = wait.unwrap_or_default().min(api.options().max_wait);
    let (run, created) = (started.run.clone(), started.created);
    let view = tokio::select! {
        view = api.runtime().runs().wait(&run, wait) => view?,
        () = api.closing() => api.runtime().runs().run(&run).await?,
    };
    let state = view.state();
    if !state.status.is_ended() {
        let body = json!({"runId": run, "status": state.status, "created": created});
        return answer(StatusCode::ACCEPTED, &body);
    }
    if state.status == riverrun_types::RunStatus::Completed {
        return ok(&view);
    }
    let message = match &state.error {
        Some(error) => format!("run {run} failed: {}", error.message),
        None => format!("run {run} was {}", state.status),
    };
    let details = json!({"runId": run, "status": state.status, "error": state.error});
    Err(ApiError::new(ErrorCode::TriggerRunFailed, message).details(details))
}

/// Those that are text. One that is there several times is one, with commas.
fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let names = headers.keys().map(|name| {
        let values = headers.get_all(name).iter();
        let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        (name.as_str().to_owned(), values.join(", "))
    });
    names.collect()
}
