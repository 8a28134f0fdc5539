//! Starts a run. This is the hottest route, so it does as little as possible.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use riverrun_runtime::{StartRequest, Started};
use riverrun_types::{ErrorCode, Json, RunId};
use serde::{Deserialize, Deserializer, de::Error as _};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Body, FlowPath, Query},
    reply::{Answer, json, ok},
    schemas::{self, StartBody, StartedRun},
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// Wait up to this many milliseconds for the end of the run, and return the run. At most
    /// `limits.max_wait`, 300,000 by default.
    #[serde(default, deserialize_with = "wait_ms")]
    #[param(value_type = Option<u64>)]
    wait: Option<Duration>,
}

/// Start a run
///
/// The run is on disk before the answer is sent. With `?wait=` the answer is the whole run: 200 if it
/// has ended, 202 with its current state if the time was over first.
#[utoipa::path(post, path = "/api/flows/{id}/start", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"), WaitQuery,
        ("idempotency-key" = Option<String>, Header, description = "The same as idempotencyKey in the body")),
    request_body(content = Option<StartBody>),
    responses(
        (status = 201, description = "Started", body = StartedRun),
        (status = 200, description = "An earlier request with the same key had started it; or, with `?wait=`, the run has ended (the answer is then the run)", body = StartedRun),
        (status = 202, description = "With `?wait=`: the run, which has not ended yet", body = schemas::Run),
        (status = 404, description = ErrorCode::FlowNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RunExists, body = schemas::Failure),
        (status = 422, description = "INPUT_INVALID: details.issues lists every issue", body = schemas::Failure)))]
pub(crate) async fn start_run(
    State(api): State<Api>,
    path: FlowPath,
    Query(query): Query<WaitQuery>,
    headers: HeaderMap,
    Body(body): Body<StartBody>,
) -> Answer {
    query.check(&api)?;
    let request = request(path, body, &headers)?;
    let started = api.runtime().runs().start(request).await?;
    query.answer(&api, started).await
}

impl WaitQuery {
    /// Rejects a wait that is longer than the server allows, before anything is started.
    pub fn check(&self, api: &Api) -> Result<(), ApiError> {
        let max = api.options().max_wait;
        match self.wait.is_some_and(|wait| wait > max) {
            false => Ok(()),
            true => {
                let message = format!("wait: at most {} ms (limits.max_wait)", max.as_millis());
                let details = serde_json::json!({"parameter": "wait"});
                Err(ApiError::new(ErrorCode::BadQuery, message).details(details))
            }
        }
    }

    /// Answers for a run that was started: at once, or when it has ended.
    pub async fn answer(self, api: &Api, started: Started) -> Answer {
        match self.wait {
            // What had ended when it became durable needs no look.
            Some(_) if started.status.is_ended() => ok(&started.view()),
            Some(wait) => wait_for(api, &started.run, wait).await,
            None => started_answer(started),
        }
    }
}

pub(crate) fn started_answer(started: Started) -> Answer {
    let status = match started.created {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let Started {
        run,
        status: run_status,
        created,
        ..
    } = started;
    json(
        status,
        &StartedRun {
            run_id: run,
            status: run_status,
            created,
        },
    )
}

async fn wait_for(api: &Api, run: &RunId, wait: Duration) -> Answer {
    let wait = wait.min(api.options().max_wait);
    let view = tokio::select! {
        view = api.runtime().runs().wait(run, wait) => view?,
        () = api.closing() => api.runtime().runs().run(run).await?,
    };
    let status = match view.state().status.is_ended() {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    json(status, &view)
}

fn request(path: FlowPath, body: StartBody, headers: &HeaderMap) -> Result<StartRequest, ApiError> {
    let StartBody {
        input,
        idempotency_key,
        tags,
        metadata,
        tenant_id,
        delay_ms,
        version,
        run_id,
        correlation_id,
        causation_id,
    } = body;
    let input = input.unwrap_or_else(|| Json::of(&serde_json::Map::new()));
    let mut request = StartRequest::new(path.id, input);
    request.version = path.version.or(version);
    request.idempotency_key = self::idempotency_key(idempotency_key, headers)?;
    request.tags = tags;
    request.metadata = metadata;
    request.tenant = tenant_id;
    request.delay_ms = delay_ms;
    request.run_id = run_id.as_deref().map(RunId::new);
    request.correlation_id = correlation_id;
    request.causation_id = causation_id;
    Ok(request)
}

/// The key in the body, or in the header: one of them, or both alike.
pub(crate) fn idempotency_key(
    in_body: Option<String>,
    headers: &HeaderMap,
) -> Result<Option<String>, ApiError> {
    let Some(given) = headers.get("idempotency-key") else {
        return Ok(in_body);
    };
    let given = given.to_str().map_err(|_| {
        ApiError::new(
            ErrorCode::BadRequest,
            "the header Idempotency-Key is not plain text",
        )
    })?;
    match in_body {
        Some(key) if key != given => Err(ApiError::new(
            ErrorCode::Unprocessable,
            "idempotencyKey: the body and the header Idempotency-Key differ",
        )),
        _ => Ok(Some(given.to_owned())),
    }
}

fn wait_ms<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    match text.parse() {
        Ok(ms) => Ok(Some(Duration::from_millis(ms))),
        Err(_) => Err(D::Error::custom("not a whole number of milliseconds")),
    }
}
