//! Calls: execute a process at once and stream its frames.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body as HttpBody,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use bytes::Bytes;
use riverrun_protocol::{CancelReason, Frame, FrameParams, WorkError};
use riverrun_runtime::{CallRequest, Cancellation, ProcessConfig};
use riverrun_types::{
    ErrorCode, Json, Name, RunId,
    flow::canonical_retry,
    time::{Iso, MAX_WAIT_MS},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    app::Api,
    errors::ApiError,
    extract::Body,
    page::Items,
    queues::now_ms,
    reply::{Answer, json as answer, ok, with_type},
    schemas,
    sse::field,
};

/// Frames that a slow reader may lag behind; it gets the number of further ones that were dropped.
pub(crate) const BACKLOG: usize = 1_024;

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExecuteBody {
    /// The process's id.
    process: String,
    /// The input of the handler. Default null.
    #[schema(value_type = Option<Value>)]
    input: Option<Json>,
    /// How long it may take, in milliseconds. Default: the timeout of the process.
    timeout_ms: Option<u64>,
    /// Whether it is cancelled when the caller disconnects. Default true.
    cancel_on_disconnect: Option<bool>,
    /// Whether its frames are recorded in the stream of the call. Default true.
    persist_frames: Option<bool>,
    /// The id of the call. Default: a new one.
    call_id: Option<String>,
    correlation_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Executed<'a> {
    call_id: &'a RunId,
    value: &'a Json,
}

/// Call a process
///
/// Runs a process at once, without a queue, and returns its result. With `Accept: text/event-stream`
/// its frames arrive as server-sent events (`log`, `progress`, `partial`, `heartbeat`), followed by
/// `result`, `error` or `cancelled`.
#[utoipa::path(post, path = "/api/runner/execute", tag = "calls",
    request_body(content = ExecuteBody),
    responses(
        (status = 200, description = "Its result", body = schemas::Executed),
        (status = 404, description = ErrorCode::ProcessNotFound, body = schemas::Failure),
        (status = 422, description = ErrorCode::InputInvalid, body = schemas::Failure),
        (status = 500, description = "CALL_FAILED: details has the error of the handler", body = schemas::Failure)))]
pub(crate) async fn execute(
    State(api): State<Api>,
    headers: HeaderMap,
    Body(body): Body<ExecuteBody>,
) -> Answer {
    let (id, mut request, stays) = request(body)?;
    let cancel = request.cancel.clone();
    let wants_frames = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"));
    // In a task of its own, so that a caller that goes away stops it only if that is wanted.
    let runtime = api.runtime().clone();
    if wants_frames {
        let (sender, frames) = mpsc::channel(BACKLOG);
        request.frames = Some(sender);
        let call = tokio::spawn(async move { runtime.queues().call(request).await });
        let guard = Guard::new(cancel, stays);
        return Ok(streamed(id, frames, call, guard));
    }
    let call = tokio::spawn(async move { runtime.queues().call(request).await });
    let guard = Guard::new(cancel, stays);
    let outcome = call.await;
    guard.done();
    match outcome {
        Ok(Ok(value)) => ok(&Executed {
            call_id: &id,
            value: &value,
        }),
        Ok(Err(error)) => Err(refusal(&id, &error)),
        Err(_) => Err(ApiError::new(ErrorCode::Internal, "the call broke down")),
    }
}

pub(crate) fn request(body: ExecuteBody) -> Result<(RunId, CallRequest, bool), ApiError> {
    if body.process.is_empty() {
        let message = "process: is missing; it names the process that is called";
        return Err(
            ApiError::new(ErrorCode::BadRequest, message).details(json!({ "field": "process" }))
        );
    }
    if let Some(ms) = body.timeout_ms
        && !(1..=MAX_WAIT_MS.unsigned_abs()).contains(&ms)
    {
        let message = "timeoutMs: must be from 1 ms to ten years";
        return Err(
            ApiError::new(ErrorCode::BadRequest, message).details(json!({ "field": "timeoutMs" }))
        );
    }
    let id = match &body.call_id {
        None => RunId::fresh(),
        Some(id) => RunId::for_new(id)
            .map_err(|error| ApiError::new(ErrorCode::BadId, format!("callId: {error}")))?,
    };
    let request = CallRequest {
        process: body.process,
        input: body.input.unwrap_or_default(),
        call_id: Some(id.clone()),
        timeout: body.timeout_ms.map(Duration::from_millis),
        forget: body.persist_frames == Some(false),
        correlation_id: body.correlation_id,
        ..CallRequest::default()
    };
    Ok((id, request, body.cancel_on_disconnect == Some(false)))
}

/// Cancels a call when its caller goes away.
pub(crate) struct Guard {
    cancel: Option<Cancellation>,
}

impl Guard {
    pub fn new(cancel: Cancellation, stays: bool) -> Self {
        Self {
            cancel: (!stays).then_some(cancel),
        }
    }

    pub fn done(mut self) {
        self.cancel = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(cancel) = &self.cancel {
            cancel.cancel(CancelReason::ClientGone);
        }
    }
}

/// A failed call as a failed request: riverrun's own codes with their statuses, the handler's own
/// under `details`.
fn refusal(id: &RunId, error: &WorkError) -> ApiError {
    let details = json!({"callId": id, "error": error});
    let code = match error.code.known() {
        Some(ErrorCode::Timeout) => ErrorCode::CallTimeout,
        Some(code) if code.status().is_some() => code,
        _ => ErrorCode::CallFailed,
    };
    ApiError::new(code, error.message.clone()).details(details)
}

/// The frames of a call as server-sent events.
fn streamed(
    id: RunId,
    frames: mpsc::Receiver<Frame>,
    call: tokio::task::JoinHandle<Result<Json, WorkError>>,
    guard: Guard,
) -> axum::response::Response {
    struct Live {
        frames: mpsc::Receiver<Frame>,
        call: Option<tokio::task::JoinHandle<Result<Json, WorkError>>>,
        guard: Option<Guard>,
    }
    let opening = format!(": call {id}\n\n");
    let live = Live {
        frames,
        call: Some(call),
        guard: Some(guard),
    };
    let events = futures::stream::unfold(live, |mut live| async move {
        if let Some(frame) = live.frames.recv().await {
            let (event, shown) = shown(&frame);
            return Some((sse(event, &shown), live));
        }
        // The last frame has come: the sender is gone.
        let outcome = live.call.take()?.await;
        if let Some(guard) = live.guard.take() {
            guard.done();
        }
        let (event, data) = match outcome {
            // As its own text: a value made of it would round large numbers.
            Ok(Ok(value)) => return Some((sse("result", &Outcome { value: &value }), live)),
            Ok(Err(error)) if error.is_cancelled() => {
                ("cancelled", json!({"reason": error.message}))
            }
            Ok(Err(error)) => ("error", json!(error)),
            Err(_) => (
                "error",
                json!({"code": ErrorCode::Internal, "message": "the call broke down"}),
            ),
        };
        Some((sse(event, &data), live))
    });
    use futures::StreamExt;
    let opening = futures::stream::once(async move { Bytes::from(opening) });
    let body = opening.chain(events).map(Ok::<_, Infallible>);
    with_type(
        StatusCode::OK,
        "text/event-stream",
        HttpBody::from_stream(body),
    )
}

/// The last frame of a call that went well.
#[derive(Serialize)]
pub(crate) struct Outcome<'a> {
    pub value: &'a Json,
}

fn sse(event: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let mut text = String::with_capacity(data.len() + 32);
    field(&mut text, "event", event);
    field(&mut text, "data", &data);
    text.push('\n');
    Bytes::from(text)
}

#[derive(Serialize)]
pub(crate) struct ShownFrame<'a> {
    #[serde(flatten)]
    params: FrameParams<'a>,
    /// Of a heartbeat, which says nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Iso>,
}

pub(crate) fn shown(frame: &Frame) -> (&'static str, ShownFrame<'_>) {
    let (event, params) = frame.parts();
    let is_heartbeat = matches!(frame, Frame::Heartbeat);
    let ts = is_heartbeat.then(|| Iso(now_ms()));
    (event, ShownFrame { params, ts })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownProcess<'a> {
    id: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_mode: Option<riverrun_runtime::RunMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Json>,
    /// Of one whose file does not load.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a WorkError>,
}

/// A configuration with its retry policy in the canonical form.
fn shown_config(raw: &Json) -> Json {
    if raw.get("retryPolicy").is_none() {
        return raw.clone();
    }
    let mut config = raw.value();
    if let Some(settings) = config.as_object_mut() {
        canonical_retry(settings);
    }
    Json::of(&config)
}

/// List processes
///
/// The processes that this server can run, with their configurations. A process whose file does not
/// load has an `error`; an earlier version of it may still run.
#[utoipa::path(get, path = "/api/processes", tag = "calls",
    responses((status = 200, description = "The processes, by id", body = schemas::ProcessList)))]
pub(crate) async fn list_processes(State(api): State<Api>) -> Answer {
    let processes = api.runtime().processes().all();
    let broken = api.runtime().processes().broken();
    let error = |id: &Name| broken.iter().find(|broken| broken.id == *id);
    let not_run = broken
        .iter()
        .filter(|broken| !processes.iter().any(|process| process.id == broken.id));
    let not_run = not_run.map(|broken| ShownProcess {
        id: &broken.id,
        run_mode: None,
        queue: None,
        language: broken.language.as_deref(),
        file: broken.file.as_deref(),
        config: None,
        error: Some(&broken.error),
    });
    let shown = processes.iter().map(|process| {
        let ProcessConfig {
            run_mode,
            queue,
            raw,
            ..
        } = &process.config;
        ShownProcess {
            id: &process.id,
            run_mode: Some(*run_mode),
            queue: (*run_mode != riverrun_runtime::RunMode::Call).then_some(queue),
            language: process.source.language.as_deref(),
            file: process.source.file.as_deref(),
            config: Some(shown_config(raw)),
            error: error(&process.id).map(|broken| &broken.error),
        }
    });
    let mut shown: Vec<_> = shown.chain(not_run).collect();
    shown.sort_by(|a, b| a.id.cmp(b.id));
    answer(StatusCode::OK, &Items::all(shown))
}
