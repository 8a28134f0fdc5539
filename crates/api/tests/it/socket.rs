//! A WebSocket client for the tests.

use std::{collections::VecDeque, time::Duration};

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    received: VecDeque<String>,
}

/// Nothing here may take long.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future)
        .await
        .expect("took too long")
}

impl Socket {
    pub async fn connect(address: &str, path: &str) -> Self {
        let connected = within(connect_async(format!("ws://{address}{path}"))).await;
        Self {
            stream: connected.unwrap().0,
            received: VecDeque::new(),
        }
    }

    /// The status of a server that does not let a page of this origin connect.
    pub async fn refused(address: &str, path: &str, origin: &str) -> u16 {
        let mut request = format!("ws://{address}{path}")
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", origin.parse().unwrap());
        match within(connect_async(request)).await {
            Err(Error::Http(response)) => response.status().as_u16(),
            other => panic!("{other:?}"),
        }
    }

    pub async fn say(&mut self, message: Value) {
        self.send(Message::text(message.to_string())).await;
    }

    pub async fn send(&mut self, message: Message) {
        within(self.stream.send(message)).await.unwrap();
    }

    /// The next line of JSON.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&self.next_text().await).unwrap()
    }

    pub async fn next_text(&mut self) -> String {
        while self.received.is_empty() {
            match within(self.stream.next()).await {
                Some(Ok(Message::Text(text))) => {
                    self.received.extend(text.lines().map(str::to_owned));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
        self.received.pop_front().unwrap()
    }

    /// The next message, which must have this method.
    pub async fn receives(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Why the other side closes it; what it says before that is passed over.
    pub async fn closed(&mut self) -> (u16, String) {
        loop {
            match within(self.stream.next()).await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code.into(), frame.reason.to_string());
                }
                Some(Ok(Message::Close(None))) | None => panic!("it ended without a reason"),
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("it ended without a reason: {error}"),
            }
        }
    }
}
