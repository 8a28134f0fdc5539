//! What the WebSockets of the API have in common: how they begin, stay alive and end.

use std::{future::Future, time::Duration};

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
use tokio_tungstenite::tungstenite;

use crate::{app::Api, errors::ApiError};

/// A connection that says nothing, not even that it lives, for so many heartbeats is over.
const SILENT_HEARTBEATS: u32 = 3;
/// How long the other side may take to hear why it is over.
const FAREWELL: Duration = Duration::from_secs(2);
/// Most messages are small, and there may be many connections.
const READ_BUFFER: usize = 16 << 10;
/// Longer reasons do not fit a close.
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
    /// The server stops; another may be there soon.
    pub const RESTART: u16 = 1012;
}

/// A request that wants to become a WebSocket.
pub(crate) struct Upgrade(WebSocketUpgrade);

impl FromRequestParts<Api> for Upgrade {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        if api.is_closing() {
            let message = "the server is shutting down";
            return Err(ApiError::new("SHUTTING_DOWN", message));
        }
        match WebSocketUpgrade::from_request_parts(parts, api).await {
            Ok(upgrade) => Ok(Self(upgrade)),
            Err(rejection) => {
                let message = format!("this is a WebSocket: {}", rejection.body_text());
                Err(ApiError::new("UPGRADE_REQUIRED", message))
            }
        }
    }
}

impl Upgrade {
    /// Leads the connection, whose messages have at most so many bytes.
    pub fn lead<F: Future<Output = ()> + Send>(
        self,
        api: &Api,
        message_bytes: usize,
        lead: impl FnOnce(Mouth, Ears) -> F + Send + 'static,
    ) -> Response {
        let (token, heartbeat) = (api.options().sockets.token(), api.options().heartbeat);
        self.0
            .read_buffer_size(READ_BUFFER)
            .max_message_size(message_bytes)
            .max_frame_size(message_bytes)
            .on_upgrade(move |socket| async move {
                let (sink, stream) = socket.split();
                let ears = Ears {
                    stream,
                    silent: heartbeat * SILENT_HEARTBEATS,
                };
                lead(Mouth { sink, heartbeat }, ears).await;
                drop(token);
            })
    }
}

/// What comes over a socket.
pub(crate) enum Came {
    Text(Utf8Bytes),
    /// Nothing more comes.
    Over,
    /// Something that is refused, with this reason.
    Bad(CloseFrame),
}

pub(crate) struct Ears {
    stream: SplitStream<WebSocket>,
    silent: Duration,
}

impl Ears {
    pub async fn next(&mut self) -> Came {
        loop {
            let Ok(came) = tokio::time::timeout(self.silent, self.stream.next()).await else {
                let reason = format!("nothing came for {} ms", self.silent.as_millis());
                return Came::Bad(closing(close::GONE, &reason));
            };
            return match came {
                Some(Ok(Message::Text(text))) => Came::Text(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    Came::Bad(closing(close::NOT_TEXT, "only text is understood here"))
                }
                None | Some(Ok(Message::Close(_))) => Came::Over,
                Some(Err(error)) => refusal(error),
            };
        }
    }

    /// Reads on for a moment, so that the other side gets to see the reason of the end.
    async fn farewell(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.stream.next().await {} };
        let _ = tokio::time::timeout(FAREWELL, rest).await;
    }
}

fn refusal(error: axum::Error) -> Came {
    use tungstenite::Error;
    let inner = error.into_inner();
    let code = match inner.downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => close::TOO_LARGE,
        Some(Error::Utf8(_)) => close::NOT_UTF8,
        Some(Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake)) => {
            return Came::Over;
        }
        Some(Error::Protocol(_)) => close::PROTOCOL,
        _ => return Came::Over,
    };
    Came::Bad(closing(code, &inner.to_string()))
}

pub(crate) struct Mouth {
    sink: SplitSink<WebSocket, Message>,
    heartbeat: Duration,
}

impl Mouth {
    /// Sends these texts, and a sign of life now and then, until there are no more or nobody is
    /// there to hear them.
    pub async fn say(&mut self, texts: &mut (impl Stream<Item = String> + Unpin)) {
        let first = tokio::time::Instant::now() + self.heartbeat;
        let mut beats = tokio::time::interval_at(first, self.heartbeat);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                text = texts.next() => match text {
                    Some(text) => Message::Text(text.into()),
                    None => return,
                },
                _ = beats.tick() => Message::Ping(Default::default()),
            };
            if self.sink.send(message).await.is_err() {
                return;
            }
        }
    }

    /// Says why it is over, and waits a moment until that was heard.
    pub async fn close(mut self, mut ears: Ears, frame: CloseFrame) {
        let said = self.sink.send(Message::Close(Some(frame)));
        if let Ok(Ok(())) = tokio::time::timeout(FAREWELL, said).await {
            ears.farewell().await;
        }
    }
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
    fn reasons_are_cut_between_letters() {
        let frame = closing(close::DONE, &"ö".repeat(100));
        assert_eq!(frame.reason.as_str(), "ö".repeat(61));
        assert_eq!(closing(close::DONE, "short").reason.as_str(), "short");
    }
}
