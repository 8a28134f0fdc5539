//! Remote workers: accept their connections, list and drain them.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    extract::{State, ws::CloseFrame},
    http::StatusCode,
    response::Response,
};
use bytes::Bytes;
use futures::{FutureExt, SinkExt, StreamExt, channel::mpsc, future::FusedFuture};
use riverrun_protocol::{Fault, WorkError};
use riverrun_providers::remote::{WorkerState, WorkerStatus};
use riverrun_types::{ErrorCode, time::Iso};
use serde::{Deserialize, Serialize};

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Body, Segments},
    page::Items,
    reply::{Answer, json, ok},
    schemas,
    socket::{Incoming, SocketReceiver, SocketSender, Upgrade, Waiting, close, closing},
};

/// Texts that may wait between a socket and the conversation over it.
const WAITING: usize = 8;
/// How long a last word may take.
const LAST_WORD: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_secs(30);
const MAX_GRACE: Duration = Duration::from_secs(86_400);

/// Connect as a worker
///
/// A WebSocket for the worker protocol (`docs/reference/protocol.md`).
#[utoipa::path(get, path = "/api/workers/ws", tag = "workers",
    responses(
        (status = 101, description = "The connection is now a WebSocket"),
        (status = 426, description = ErrorCode::UpgradeRequired, body = schemas::Failure)))]
pub(crate) async fn worker_socket(State(api): State<Api>, upgrade: Upgrade) -> Response {
    let workers = api.options().workers.clone();
    let message_bytes = workers.limits().message_bytes;
    let leading = api.clone();
    upgrade.lead(&api, message_bytes, move |sender, receiver| {
        attend(leading, sender, receiver)
    })
}

async fn attend(api: Api, mut sender: SocketSender, mut receiver: SocketReceiver) {
    let (mut received, incoming) = mpsc::channel(WAITING);
    let (outgoing, mut to_say) = mpsc::channel::<String>(WAITING);
    let bad: OnceLock<CloseFrame> = OnceLock::new();
    let ended = {
        let receive = async {
            loop {
                let came = match receiver.next().await {
                    Incoming::Text(text) => Ok(Bytes::from(text)),
                    Incoming::Over => break,
                    Incoming::Bad(frame) => {
                        let message = format!("the worker broke the protocol: {}", frame.reason);
                        let _ = bad.set(frame);
                        Err(WorkError::new(ErrorCode::ProtocolError, message))
                    }
                };
                let is_over = came.is_err();
                if received.send(came).await.is_err() || is_over {
                    break;
                }
            }
            received.close_channel();
        };
        let say = async {
            let mut waiting = StreamExt::map(&mut to_say, Waiting::from);
            sender.send_all(&mut waiting).await;
            to_say.close();
        };
        let workers = &api.options().workers;
        let attended = workers.attend(incoming, outgoing, api.runtime().composer());
        let mut attended = std::pin::pin!(attended);
        let (mut receive, mut say) = (std::pin::pin!(receive.fuse()), std::pin::pin!(say.fuse()));
        let ended = loop {
            tokio::select! {
                ended = attended.as_mut() => break ended,
                () = receive.as_mut() => {}
                () = say.as_mut() => {}
            }
        };
        // The last message to it is still on its way.
        if !say.is_terminated() {
            let _ = tokio::time::timeout(LAST_WORD, say).await;
        }
        ended
    };
    let frame = match (bad.into_inner(), &ended) {
        (Some(frame), _) => frame,
        (None, Err(error)) => closing(
            code_of(error),
            &format!("{}: {}", error.code, error.message),
        ),
        (None, Ok(())) if api.is_closing() => closing(close::RESTART, "the server stops"),
        (None, Ok(())) => closing(close::DONE, ""),
    };
    sender.close(receiver, frame).await;
}

fn code_of(error: &WorkError) -> u16 {
    match error.code.known() {
        Some(ErrorCode::ProtocolError) => close::PROTOCOL,
        Some(ErrorCode::ShuttingDown) => close::RESTART,
        _ => close::REFUSED,
    }
}

/// A worker as JSON shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownWorker<'a> {
    id: u64,
    name: &'a str,
    tags: &'a [String],
    sdk: &'a str,
    processes: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    shadowed: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<String>,
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    faults: &'a [Fault],
    window: u32,
    running: usize,
    since: Iso,
    state: WorkerState,
}

impl<'a> From<&'a WorkerStatus> for ShownWorker<'a> {
    fn from(worker: &'a WorkerStatus) -> Self {
        let processes = worker.processes.iter();
        Self {
            id: worker.id,
            name: &worker.name,
            tags: &worker.tags,
            sdk: &worker.sdk,
            processes: processes
                .filter_map(|process| process.id.as_deref())
                .collect(),
            shadowed: &worker.shadowed,
            flows: (worker.made.flows.iter())
                .map(|flow| format!("{}@{}", flow.id, flow.version))
                .collect(),
            faults: &worker.made.faults,
            window: worker.window,
            running: worker.running,
            since: Iso(millis(worker.since)),
            state: worker.state,
        }
    }
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// List workers
///
/// The remote workers that are connected or may reconnect.
#[utoipa::path(get, path = "/api/workers", tag = "workers",
    responses((status = 200, description = "The workers, in the order in which they connected", body = schemas::WorkerList)))]
pub(crate) async fn list_workers(State(api): State<Api>) -> Answer {
    let workers = api.options().workers.list();
    ok(&Items::all(workers.iter().map(ShownWorker::from).collect()))
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DrainWorkerBody {
    /// How long its current work may take, in milliseconds; at most a day. Default 30,000.
    #[schema(maximum = 86_400_000)]
    grace_ms: Option<u64>,
}

/// Drain a worker
///
/// The worker gets no more work. Its connection ends when its current work has ended or the time is
/// over; unfinished work runs again elsewhere.
#[utoipa::path(post, path = "/api/workers/{id}/drain", tag = "workers",
    params(("id" = u64, Path, description = "The worker's id")),
    request_body(content = Option<DrainWorkerBody>),
    responses(
        (status = 202, description = "The worker", body = schemas::ShownWorker),
        (status = 404, description = ErrorCode::WorkerNotFound, body = schemas::Failure)))]
pub(crate) async fn drain_worker(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Body(body): Body<DrainWorkerBody>,
) -> Answer {
    let workers = &api.options().workers;
    let missing = || {
        let id: String = id.chars().take(64).collect();
        ApiError::new(
            ErrorCode::WorkerNotFound,
            format!("there is no worker {id:?}"),
        )
    };
    let number: u64 = id.parse().map_err(|_| missing())?;
    let grace = body.grace_ms.map_or(GRACE, Duration::from_millis);
    if grace > MAX_GRACE {
        let message = format!("graceMs: may be {} at most", MAX_GRACE.as_millis());
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    let drained = workers.drain(number, grace).ok_or_else(missing)?;
    let shown = workers
        .list()
        .into_iter()
        .find(|worker| worker.id == number);
    tokio::spawn(drained);
    let shown = shown.ok_or_else(missing)?;
    json(StatusCode::ACCEPTED, &ShownWorker::from(&shown))
}
