//! Calls over one WebSocket: many at once, each with the id that the client gave it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use parking_lot::Mutex;
use riverrun_protocol::{CancelReason, WorkError};
use riverrun_runtime::{CallRequest, Cancellation};
use riverrun_types::{ErrorCode, Json, RunId, json::UniqueMembers};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    app::Api,
    calls::{self, BACKLOG, ExecuteBody, Guard, Outcome},
    errors::ApiError,
    extract::{read, read_object},
    schemas,
    socket::{Incoming, Outbox, SocketReceiver, SocketSender, Upgrade, close, closing, too_slow},
};

/// Calls under way over one socket.
const MAX_CALLS: usize = 256;
/// Texts that may wait to be sent; further senders wait.
const WAITING: usize = 256;
/// How long calls under way may take when the server stops.
const GRACE: Duration = Duration::from_secs(10);
/// How long sending the last messages may take.
const LAST_WORD: Duration = Duration::from_secs(1);
const MAX_ID: usize = 128;
/// What is kept of the reason for a cancel.
const MAX_REASON: usize = 1_000;

/// Call over a WebSocket
///
/// Each message of the client is a call, with the members of `POST /api/runner/execute` and an `id`, or
/// `{"type": "cancel", "id": …}`. The server sends the frames of a call as `{"id", "type", "data"}`:
/// `log`, `progress`, `partial`, `heartbeat`, then `result`, `error` or `cancelled`.
#[utoipa::path(get, path = "/api/runner/ws", tag = "calls",
    responses(
        (status = 101, description = "The connection is now a WebSocket"),
        (status = 426, description = ErrorCode::UpgradeRequired, body = schemas::Failure)))]
pub(crate) async fn call_socket(State(api): State<Api>, upgrade: Upgrade) -> Response {
    let message_bytes = api.options().max_body_bytes;
    let leading = api.clone();
    upgrade.lead(&api, message_bytes, move |sender, receiver| {
        lead(leading, sender, receiver)
    })
}

async fn lead(api: Api, mut sender: SocketSender, mut receiver: SocketReceiver) {
    let (out, mut to_say) = Outbox::new(&api, WAITING);
    let end = out.end();
    let calls = Arc::new(Calls {
        api: api.clone(),
        open: Mutex::default(),
        tasks: TaskTracker::new(),
        gone: CancellationToken::new(),
        out,
    });
    let frame = {
        let mut say = std::pin::pin!(sender.send_all(&mut to_say));
        tokio::select! {
            frame = receive(&calls, &mut receiver) => frame,
            () = say.as_mut() => None,
            () = end.cancelled() => Some(too_slow()),
            () = api.closing() => {
                // Running calls may end, and their results are sent.
                calls.tasks.close();
                tokio::select! {
                    _ = tokio::time::timeout(GRACE, calls.tasks.wait()) => {}
                    () = say.as_mut() => {}
                }
                Some(closing(close::RESTART, "the server stops"))
            }
        }
    };
    calls.gone.cancel();
    // The last frames, which came with the end.
    drop(calls);
    if !end.is_cancelled() {
        let _ = tokio::time::timeout(LAST_WORD, sender.send_all(&mut to_say)).await;
    }
    drop(to_say);
    sender
        .close(receiver, frame.unwrap_or_else(|| closing(close::DONE, "")))
        .await;
}

/// Takes what comes until nothing more does; with a reason where the socket is to be closed.
async fn receive(
    calls: &Arc<Calls>,
    receiver: &mut SocketReceiver,
) -> Option<axum::extract::ws::CloseFrame> {
    loop {
        match receiver.next().await {
            Incoming::Text(text) => {
                if let Err((id, error)) = calls.take(&text) {
                    calls.refuse(id, &error).await;
                }
            }
            Incoming::Over => return None,
            Incoming::Bad(frame) => return Some(frame),
        }
    }
}

/// The calls of one socket.
struct Calls {
    api: Api,
    /// Under way, by the text of their ids.
    open: Mutex<HashMap<String, Cancellation>>,
    tasks: TaskTracker,
    /// Fires when the client has left.
    gone: CancellationToken,
    out: Outbox,
}

/// A frame as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a, T> {
    /// null where what came had none that could be used.
    id: Option<&'a Json>,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a RunId>,
    data: T,
}

impl Calls {
    /// Does what a message asks for. A refusal names the id of the call that it ends; it has none
    /// where that id is another's, or cannot be known.
    fn take(self: &Arc<Self>, text: &str) -> Result<(), (Option<Json>, ApiError)> {
        let none = |error| (None, error);
        let message: Json = read_object::<Json>(text.as_bytes()).map_err(none)?;
        read::<UniqueMembers>(text.as_bytes()).map_err(none)?;
        let mut members = message.members().unwrap_or_default();
        let mut part = |name: &str| {
            let at = members.iter().position(|(member, _)| member == name)?;
            Some(members.swap_remove(at).1)
        };
        let (id, kind) = (part("id"), part("type"));
        let kind = kind.as_ref().map(Json::as_text);
        let unknown = match kind.as_deref() {
            None | Some("call" | "cancel") => None,
            Some(other) => {
                let other: String = other.chars().take(64).collect();
                let message = format!("type: there is no {other:?}; there are call and cancel");
                Some(ApiError::new(ErrorCode::BadRequest, message))
            }
        };
        let id = id.filter(is_id);
        if let Some(error) = unknown {
            // A call that goes on under this id has not ended with that.
            let is_open = |id: &Json| self.open.lock().contains_key(id.as_str());
            return Err((id.filter(|id| !is_open(id)), error));
        }
        let Some(id) = id else {
            let message = "id must be a text of 1 to 128 characters or a whole number";
            return Err(none(ApiError::new(ErrorCode::BadRequest, message)));
        };
        if kind.as_deref() == Some("cancel") {
            // One that has ended needs no cancel.
            let reason = part("reason").map(|reason| reason.as_text().into_owned());
            if let Some(cancel) = self.open.lock().get(id.as_str()) {
                let said = reason.map(|said| said.chars().take(MAX_REASON).collect::<String>());
                cancel.cancel_saying(CancelReason::User, said.as_deref());
            }
            return Ok(());
        }
        let rest: HashMap<String, Json> = members.into_iter().collect();
        let body: Result<ExecuteBody, _> = read_object(Json::of(&rest).as_str().as_bytes());
        let request = body.and_then(calls::request);
        self.begin(id, request)
    }

    fn begin(
        self: &Arc<Self>,
        id: Json,
        request: Result<(RunId, CallRequest, bool), ApiError>,
    ) -> Result<(), (Option<Json>, ApiError)> {
        let mut open = self.open.lock();
        if open.contains_key(id.as_str()) {
            let message = format!("id: a call with the id {} is under way", id.as_str());
            let error = ApiError::new(ErrorCode::DuplicateCall, message);
            return Err((None, error.details(json!({ "id": id }))));
        }
        let (call_id, mut request, stays) = match request {
            Ok(request) => request,
            Err(error) => return Err((Some(id), error)),
        };
        if open.len() >= MAX_CALLS {
            let message = format!("{MAX_CALLS} calls are under way over this socket");
            return Err((Some(id), ApiError::new(ErrorCode::TooManyCalls, message)));
        }
        let cancel = request.cancel.clone();
        open.insert(id.as_str().to_owned(), cancel.clone());
        drop(open);
        let (sender, frames) = mpsc::channel(BACKLOG);
        request.frames = Some(sender);
        let runtime = self.api.runtime().clone();
        // In a task of its own, so that it goes on without a listener where that is wanted.
        let call = tokio::spawn(async move { runtime.queues().call(request).await });
        let guard = Guard::new(cancel, stays);
        let calls = self.clone();
        self.tasks.spawn(async move {
            let gone = calls.gone.clone();
            let follow = calls.follow(id, call_id, frames, call);
            tokio::select! {
                () = follow => guard.done(),
                () = gone.cancelled() => drop(guard),
            }
        });
        Ok(())
    }

    /// Passes on the frames of a call, and last how it ended.
    async fn follow(
        &self,
        id: Json,
        call_id: RunId,
        mut frames: mpsc::Receiver<riverrun_protocol::Frame>,
        call: tokio::task::JoinHandle<Result<Json, WorkError>>,
    ) {
        while let Some(frame) = frames.recv().await {
            let (kind, data) = calls::shown(&frame);
            self.send(Some(&id), kind, None, data).await;
        }
        let outcome = call.await;
        // From now on the id may be used again.
        self.open.lock().remove(id.as_str());
        let (id, call) = (Some(&id), Some(&call_id));
        match outcome {
            Ok(Ok(value)) => {
                let data = Outcome { value: &value };
                self.send(id, "result", call, data).await;
            }
            Ok(Err(error)) if error.is_cancelled() => {
                let data = json!({ "reason": error.message });
                self.send(id, "cancelled", call, data).await;
            }
            Ok(Err(error)) => self.send(id, "error", call, error).await,
            Err(_) => {
                let error = ApiError::new(ErrorCode::Internal, "the call broke down");
                self.send(id, "error", call, &error.json()["error"]).await;
            }
        }
    }

    async fn refuse(&self, id: Option<Json>, error: &ApiError) {
        self.send(id.as_ref(), "error", None, &error.json()["error"])
            .await;
    }

    async fn send(
        &self,
        id: Option<&Json>,
        kind: &str,
        call_id: Option<&RunId>,
        data: impl Serialize,
    ) {
        let sent = Sent {
            id,
            kind,
            call_id,
            data,
        };
        if let Ok(text) = serde_json::to_string(&sent) {
            self.out.send(text).await;
        }
    }
}

fn is_id(id: &Json) -> bool {
    match id.value() {
        serde_json::Value::String(text) => (1..=MAX_ID).contains(&text.chars().count()),
        serde_json::Value::Number(number) => number.is_u64(),
        _ => false,
    }
}
