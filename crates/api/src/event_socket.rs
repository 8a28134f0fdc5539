//! Events over one WebSocket: many subscriptions at once, each with the id that the client gave it.
//! `docs/reference/websocket.md` describes the messages.
//!
//! Each subscription reads on its own and waits while the client is slow. Events that it misses on
//! the bus meanwhile are read from the store, and the client gets the message `late`. A socket
//! therefore holds a bounded number of texts.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    extract::{State, ws::CloseFrame},
    response::Response,
};
use parking_lot::Mutex;
use riverrun_types::{ErrorCode, EventType};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    app::Api,
    errors::ApiError,
    event_source::{Source, SourceUpdate, Wanted},
    extract::read_object,
    schemas,
    socket::{Incoming, Outbox, SocketReceiver, SocketSender, Upgrade, close, closing, too_slow},
};

/// Subscriptions of one socket.
const MAX_SUBSCRIPTIONS: usize = 1_000;
/// Texts that may wait to be sent; further senders wait. Their bytes are bounded too.
const WAITING: usize = 64;
/// Messages of clients are short.
const MESSAGE_BYTES: usize = 64 << 10;
/// How long sending the last messages may take.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How long a subscription keeps what it has read ahead while the client reads nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const MAX_ID: usize = 128;

/// Subscribe over a WebSocket
///
/// One connection for many subscriptions, each to a stream or to types of events and each with a
/// cursor: `{"type": "subscribe", "id": "a", "stream": "nq:flow:<runId>", "from": "<cursor>"}`,
/// `{"type": "subscribe", "id": "b", "types": ["order.paid"]}`, `{"type": "unsubscribe", "id":
/// "a"}`, `{"type": "ping"}`. Events come as `{"type": "event", "id", "cursor", "event"}`;
/// `docs/reference/websocket.md` lists the rest.
#[utoipa::path(get, path = "/api/events/ws", tag = "events",
    responses(
        (status = 101, description = "The connection is now a WebSocket"),
        (status = 426, description = ErrorCode::UpgradeRequired, body = schemas::Failure)))]
pub(crate) async fn event_socket(State(api): State<Api>, upgrade: Upgrade) -> Response {
    let leading = api.clone();
    upgrade.lead(&api, MESSAGE_BYTES, move |sender, receiver| {
        lead(leading, sender, receiver)
    })
}

async fn lead(api: Api, mut sender: SocketSender, mut receiver: SocketReceiver) {
    let (out, mut to_say) = Outbox::new(&api, WAITING);
    let end = out.end();
    let socket = Arc::new(Socket {
        api: api.clone(),
        open: Mutex::default(),
        tasks: TaskTracker::new(),
        gone: CancellationToken::new(),
        out,
    });
    let frame = tokio::select! {
        frame = receive(&socket, &mut receiver) => frame,
        () = sender.send_all(&mut to_say) => None,
        () = end.cancelled() => Some(too_slow()),
        () = api.closing() => Some(closing(close::RESTART, "the server stops")),
    };
    socket.gone.cancel();
    drop(socket);
    if !end.is_cancelled() {
        let _ = tokio::time::timeout(LAST_WORD, sender.send_all(&mut to_say)).await;
    }
    drop(to_say);
    sender
        .close(receiver, frame.unwrap_or_else(|| closing(close::DONE, "")))
        .await;
}

/// Takes what comes until nothing more does; with a reason where the socket is to be closed.
async fn receive(socket: &Arc<Socket>, receiver: &mut SocketReceiver) -> Option<CloseFrame> {
    loop {
        match receiver.next().await {
            Incoming::Text(text) => {
                if let Err(refused) = socket.take(&text).await {
                    socket.refuse(&refused).await;
                }
            }
            Incoming::Over => return None,
            Incoming::Bad(frame) => return Some(frame),
        }
    }
}

/// What a client says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    r#type: String,
    id: Option<String>,
    stream: Option<String>,
    /// Event types: those of the stream, or of all streams.
    types: Option<Vec<String>>,
    /// The older name of `types`, for all streams.
    kinds: Option<Vec<String>>,
    from: Option<String>,
}

impl Asked {
    fn wanted(self) -> Result<Wanted, ApiError> {
        let bad = |message: &str| Err(ApiError::new(ErrorCode::BadRequest, message));
        let from = self.from;
        match (self.stream, self.kinds, self.types) {
            (Some(name), None, types) => {
                let types = types.unwrap_or_default();
                let types = types.iter().map(|text| EventType::parse(text)).collect();
                Ok(Wanted::Stream { name, types, from })
            }
            (None, Some(kinds), None) | (None, None, Some(kinds)) => {
                Ok(Wanted::Kinds { kinds, from })
            }
            (None, Some(_), Some(_)) => bad("kinds is the older name of types: give one of them"),
            _ => bad("give a stream, or the types to subscribe to"),
        }
    }
}

/// Why something was not done, and for which subscription.
struct Refused {
    id: Option<String>,
    error: ApiError,
}

/// The subscriptions of one socket.
struct Socket {
    api: Api,
    /// What ends each of them, by id.
    open: Mutex<HashMap<String, Open>>,
    tasks: TaskTracker,
    /// Fires when the client has left.
    gone: CancellationToken,
    out: Outbox,
}

struct Open {
    end: CancellationToken,
    /// Fires when nothing more comes of it.
    ended: CancellationToken,
}

impl Socket {
    /// Does what a message asks for.
    async fn take(self: &Arc<Self>, text: &str) -> Result<(), Refused> {
        let asked: Asked = read_object(text.as_bytes()).map_err(|error| Refused {
            id: id_in(text),
            error,
        })?;
        let id = asked.id.clone().filter(|id| is_id(id));
        let refuse = |code, message: String| Refused {
            id: id.clone(),
            error: ApiError::new(code, message),
        };
        if asked.r#type == "ping" {
            self.say(asked.id.as_deref(), "pong", json!({})).await;
            return Ok(());
        }
        if !matches!(asked.r#type.as_str(), "subscribe" | "unsubscribe") {
            let other: String = asked.r#type.chars().take(64).collect();
            let message =
                format!("type: there is no {other:?}; there are subscribe, unsubscribe and ping");
            return Err(refuse(ErrorCode::BadRequest, message));
        }
        let id = id.clone().ok_or_else(|| {
            let message = format!("id must be a text of 1 to {MAX_ID} characters");
            refuse(ErrorCode::BadRequest, message)
        })?;
        match asked.r#type.as_str() {
            "subscribe" => self.subscribe(&id, asked).map_err(|error| Refused {
                id: Some(id),
                error,
            }),
            _ => {
                let found = self.open.lock().remove(&id);
                let Some(open) = found else {
                    let message = format!("there is no subscription {id:?}");
                    return Err(refuse(ErrorCode::SubscriptionNotFound, message));
                };
                open.end.cancel();
                // Nothing of it comes after the answer.
                open.ended.cancelled().await;
                self.say(Some(&id), "unsubscribed", json!({})).await;
                Ok(())
            }
        }
    }

    fn subscribe(self: &Arc<Self>, id: &str, asked: Asked) -> Result<(), ApiError> {
        let wanted = asked.wanted()?;
        let mut open = self.open.lock();
        if open.contains_key(id) {
            let message = format!("id: a subscription {id:?} is open");
            return Err(ApiError::new(ErrorCode::DuplicateSubscription, message));
        }
        if open.len() >= MAX_SUBSCRIPTIONS {
            let message = format!("this socket has {MAX_SUBSCRIPTIONS} subscriptions");
            return Err(ApiError::new(ErrorCode::TooManySubscriptions, message));
        }
        let (end, ended) = (self.gone.child_token(), CancellationToken::new());
        let own = Open {
            end: end.clone(),
            ended: ended.clone(),
        };
        open.insert(id.to_owned(), own);
        drop(open);
        let (socket, id) = (self.clone(), id.to_owned());
        self.tasks.spawn(async move {
            let _ended = ended.drop_guard();
            tokio::select! {
                biased;
                () = end.cancelled() => {}
                outcome = socket.follow(&id, wanted) => {
                    // From now on the id may be used again.
                    socket.open.lock().remove(&id);
                    if let Err(error) = outcome {
                        socket.refuse(&Refused { id: Some(id), error }).await;
                    }
                }
            }
        });
        Ok(())
    }

    /// Forwards what a subscription delivers, until it ends.
    async fn follow(&self, id: &str, wanted: Wanted) -> Result<(), ApiError> {
        let mut source = Source::open(&self.api, wanted).await?;
        let began = json!({
            "stream": source.stream(),
            "types": source.kinds(),
            "cursor": source.cursor(),
        });
        self.say(Some(id), "subscribed", without_nulls(began)).await;
        if let Some(missed) = source.missed() {
            self.say(Some(id), "missed", json!({ "after": missed }))
                .await;
        }
        let mut cursor = source.cursor();
        let mut beat = beat(self.api.options().heartbeat);
        loop {
            tokio::select! {
                biased;
                said = self.next(&mut source) => match said? {
                    SourceUpdate::Event { cursor: at, event } => {
                        self.send(&Sent { kind: "event", id, cursor: &at, event }).await;
                        cursor = Some(at);
                    }
                    SourceUpdate::Late => self.say(Some(id), "late", json!({})).await,
                    SourceUpdate::Missed(batches) => {
                        self.say(Some(id), "missed", json!({ "missed": batches })).await;
                    }
                    SourceUpdate::Deleted => {
                        self.say(Some(id), "deleted", json!({})).await;
                        return Ok(());
                    }
                },
                // Who waits for what is rare need not look through all the rest again.
                _ = beat.tick() => {
                    let now = source.cursor();
                    if now == cursor {
                        source.look();
                    } else {
                        self.say(Some(id), "cursor", json!({ "cursor": now })).await;
                        cursor = now;
                    }
                }
            }
        }
    }

    /// What a subscription says next, once there is room for it. Cancel safe.
    async fn next(&self, source: &mut Source) -> Result<SourceUpdate, ApiError> {
        if tokio::time::timeout(PATIENCE, self.out.room())
            .await
            .is_err()
        {
            // What was read ahead need not wait with it.
            source.shed();
            self.out.room().await;
        }
        source.next().await
    }

    async fn refuse(&self, refused: &Refused) {
        let error = &refused.error.json()["error"];
        self.say(refused.id.as_deref(), "error", json!({ "error": error }))
            .await;
    }

    async fn say(&self, id: Option<&str>, kind: &str, mut message: Value) {
        message["type"] = json!(kind);
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        self.send(&message).await;
    }

    async fn send(&self, message: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(message) {
            self.out.send(text).await;
        }
    }
}

/// An event as it is sent.
#[derive(Serialize)]
struct Sent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: &'a str,
    cursor: &'a str,
    event: Box<serde_json::value::RawValue>,
}

fn beat(heartbeat: Duration) -> Interval {
    let mut beat = tokio::time::interval_at(Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

fn without_nulls(mut message: Value) -> Value {
    if let Some(members) = message.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    message
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.chars().count())
}

/// The id of a message that could not be read otherwise.
fn id_in(text: &str) -> Option<String> {
    let message: Value = serde_json::from_str(text).ok()?;
    let id = message.get("id")?.as_str()?;
    is_id(id).then(|| id.to_owned())
}
