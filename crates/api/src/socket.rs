//! The common part of the API's WebSockets: upgrade, heartbeat and close.

use riverrun_types::ErrorCode;
use std::{future::Future, sync::Arc, time::Duration};

use axum::{
    extract::{
        FromRequestParts,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade},
    },
    http::request::Parts,
    response::Response,
};
use futures::{
    SinkExt, Stream, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_tungstenite::tungstenite;
use tokio_util::sync::CancellationToken;

use crate::{
    app::Api,
    errors::ApiError,
    live::{HeldBytes, LiveReader},
};

/// A connection that sends nothing, not even a pong, for so many heartbeats is closed.
const SILENT_HEARTBEATS: u32 = 3;
/// How long the client may take to receive the close frame.
const FAREWELL: Duration = Duration::from_secs(2);
/// Small, because most messages are small and there may be many connections.
const READ_BUFFER: usize = 16 << 10;
/// The longest reason that fits a close frame.
const REASON_BYTES: usize = 123;

/// Why a socket is closed, in the codes of RFC 6455.
pub(crate) mod close {
    pub const DONE: u16 = 1000;
    pub const GONE: u16 = 1001;
    pub const PROTOCOL: u16 = 1002;
    pub const NOT_TEXT: u16 = 1003;
    pub const NOT_UTF8: u16 = 1007;
    pub const REFUSED: u16 = 1008;
    pub const TOO_LARGE: u16 = 1009;
    /// The server stops; the client may reconnect soon.
    pub const RESTART: u16 = 1012;
    /// The client does not read; it may reconnect and continue.
    pub const TOO_SLOW: u16 = 1013;
}

/// A request to upgrade to a WebSocket.
pub(crate) struct Upgrade(WebSocketUpgrade);

impl FromRequestParts<Api> for Upgrade {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        if api.is_closing() {
            let message = "the server is shutting down";
            return Err(ApiError::new(ErrorCode::ShuttingDown, message));
        }
        match WebSocketUpgrade::from_request_parts(parts, api).await {
            Ok(upgrade) => Ok(Self(upgrade)),
            Err(rejection) => {
                let message = format!("this is a WebSocket: {}", rejection.body_text());
                Err(ApiError::new(ErrorCode::UpgradeRequired, message))
            }
        }
    }
}

impl Upgrade {
    /// Runs `lead` on the connection, whose messages have at most so many bytes.
    pub fn lead<F: Future<Output = ()> + Send>(
        self,
        api: &Api,
        message_bytes: usize,
        lead: impl FnOnce(SocketSender, SocketReceiver) -> F + Send + 'static,
    ) -> Response {
        let (token, heartbeat) = (api.options().sockets.token(), api.options().heartbeat);
        self.0
            .read_buffer_size(READ_BUFFER)
            .max_message_size(message_bytes)
            .max_frame_size(message_bytes)
            .on_upgrade(move |socket| async move {
                let (sink, stream) = socket.split();
                let receiver = SocketReceiver {
                    stream,
                    silent: heartbeat * SILENT_HEARTBEATS,
                };
                lead(SocketSender { sink, heartbeat }, receiver).await;
                drop(token);
            })
    }
}

/// What a socket receives.
pub(crate) enum Incoming {
    Text(Utf8Bytes),
    /// The connection has ended.
    Over,
    /// An invalid message, and the close frame with the reason.
    Bad(CloseFrame),
}

pub(crate) struct SocketReceiver {
    stream: SplitStream<WebSocket>,
    silent: Duration,
}

impl SocketReceiver {
    pub async fn next(&mut self) -> Incoming {
        loop {
            let Ok(came) = tokio::time::timeout(self.silent, self.stream.next()).await else {
                let reason = format!("nothing came for {} ms", self.silent.as_millis());
                return Incoming::Bad(closing(close::GONE, &reason));
            };
            return match came {
                Some(Ok(Message::Text(text))) => Incoming::Text(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    Incoming::Bad(closing(close::NOT_TEXT, "only text is understood here"))
                }
                None | Some(Ok(Message::Close(_))) => Incoming::Over,
                Some(Err(error)) => refusal(error),
            };
        }
    }

    /// Reads for a moment more, so that the client can receive the close frame.
    async fn farewell(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.stream.next().await {} };
        let _ = tokio::time::timeout(FAREWELL, rest).await;
    }
}

fn refusal(error: axum::Error) -> Incoming {
    use tungstenite::Error;
    let inner = error.into_inner();
    let code = match inner.downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => close::TOO_LARGE,
        Some(Error::Utf8(_)) => close::NOT_UTF8,
        Some(Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake)) => {
            return Incoming::Over;
        }
        Some(Error::Protocol(_)) => close::PROTOCOL,
        _ => return Incoming::Over,
    };
    Incoming::Bad(closing(code, &inner.to_string()))
}

/// The queue of texts for a socket: bounded by count, and by bytes for each socket and for all.
pub(crate) struct Outbox {
    out: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
    max_bytes: usize,
    counted: LiveReader,
}

/// A text that waits to be sent.
pub(crate) struct Waiting {
    text: String,
    counted: Option<(OwnedSemaphorePermit, HeldBytes)>,
}

/// A text that is bounded elsewhere.
impl From<String> for Waiting {
    fn from(text: String) -> Self {
        Self {
            text,
            counted: None,
        }
    }
}

impl Outbox {
    /// For at most so many texts; [`SocketSender::send_all`] sends the stream.
    pub fn new(api: &Api, texts: usize) -> (Self, impl Stream<Item = Waiting> + Unpin) {
        let (out, mut waiting) = mpsc::channel(texts);
        let max_bytes = api.runtime().base().options().live_reader_bytes;
        let max_bytes = max_bytes.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let outbox = Self {
            out,
            room: Arc::new(Semaphore::new(max_bytes)),
            max_bytes,
            counted: api.live().join(CancellationToken::new()),
        };
        let waiting = futures::stream::poll_fn(move |context| waiting.poll_recv(context));
        (outbox, waiting)
    }

    /// Fires when the socket is to be closed because its client does not read.
    pub fn end(&self) -> CancellationToken {
        self.counted.end().clone()
    }

    /// Waits until there is room for another text. Cancel safe.
    pub async fn room(&self) {
        let _ = self.room.acquire().await;
    }

    /// Sends a text once there is room for it. A client that is gone is detected elsewhere.
    pub async fn send(&self, text: String) {
        let held = self.counted.hold(text.len());
        let bytes = u32::try_from(text.len().min(self.max_bytes)).unwrap_or(u32::MAX);
        let room = self.room.clone().acquire_many_owned(bytes).await.ok();
        let counted = room.map(|room| (room, held));
        let _ = self.out.send(Waiting { text, counted }).await;
    }
}

pub(crate) struct SocketSender {
    sink: SplitSink<WebSocket, Message>,
    heartbeat: Duration,
}

impl SocketSender {
    /// Sends these texts, and a ping with each heartbeat, until there are no more or the client has
    /// left.
    pub async fn send_all(&mut self, texts: &mut (impl Stream<Item = Waiting> + Unpin)) {
        let first = tokio::time::Instant::now() + self.heartbeat;
        let mut beats = tokio::time::interval_at(first, self.heartbeat);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // A text is counted until it was sent.
            let (message, _counted) = tokio::select! {
                text = texts.next() => match text {
                    Some(Waiting { text, counted }) => (Message::Text(text.into()), counted),
                    None => return,
                },
                _ = beats.tick() => (Message::Ping(Default::default()), None),
            };
            if self.sink.send(message).await.is_err() {
                return;
            }
        }
    }

    /// Sends the close frame, and waits a moment until it was received.
    pub async fn close(mut self, mut receiver: SocketReceiver, frame: CloseFrame) {
        let said = self.sink.send(Message::Close(Some(frame)));
        if let Ok(Ok(())) = tokio::time::timeout(FAREWELL, said).await {
            receiver.farewell().await;
        }
    }
}

/// The close frame for a client that does not read.
pub(crate) fn too_slow() -> CloseFrame {
    let reason = "nothing was read for too long; continue after the last cursor";
    closing(close::TOO_SLOW, reason)
}

pub(crate) fn closing(code: u16, reason: &str) -> CloseFrame {
    let mut end = reason.len().min(REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    CloseFrame {
        code,
        reason: reason[..end].into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_cut_between_characters() {
        let frame = closing(close::DONE, &"ö".repeat(100));
        assert_eq!(frame.reason.as_str(), "ö".repeat(61));
        assert_eq!(closing(close::DONE, "short").reason.as_str(), "short");
    }
}
