//! A WebSocket to the server, opened by the same client as every other request.

use riverrun_types::ErrorCode;
use std::time::Duration;

use reqwest::{StatusCode, Upgraded, header};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::{client::generate_key, derive_accept_key},
        protocol::{Role, WebSocketConfig},
    },
};

use super::{Again, Client};
use crate::failure::{Exit, Failure, Result};

/// How long a server may take to say that the connection is a WebSocket now.
const PATIENCE: Duration = Duration::from_secs(10);

pub type Socket = WebSocketStream<Upgraded>;

impl Client {
    /// Opens a WebSocket whose messages have at most so many bytes.
    pub async fn socket(&self, path: &[&str], message_bytes: usize) -> Result<Socket> {
        let opened = tokio::time::timeout(PATIENCE, self.upgrade(path)).await;
        let upgraded = opened.unwrap_or_else(|_| {
            let message = format!("{} did not answer in time", self.url());
            Err(Failure::new(ErrorCode::Timeout, message)
                .exit(Exit::Timeout)
                .next("riverrun doctor"))
        })?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(message_bytes))
            .max_frame_size(Some(message_bytes));
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    async fn upgrade(&self, path: &[&str]) -> Result<Upgraded> {
        let key = generate_key();
        let request = self
            .http
            .get(self.at(path, &Vec::new()))
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, &key);
        let response = self.dispatch(request, Again::Safe).await?;
        let status = response.status();
        if status != StatusCode::SWITCHING_PROTOCOLS {
            let text = response.text().await.unwrap_or_default();
            let failure = self.refusal(status, &text);
            return Err(match failure.code.known() {
                Some(ErrorCode::NotFound) => failure.note(format!(
                    "{} is a riverrun that takes no workers",
                    self.url()
                )),
                _ => failure,
            });
        }
        let accepted = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
        if accepted.is_none_or(|accept| accept != derive_accept_key(key.as_bytes()).as_str()) {
            let message = format!("{} answered, but not as a WebSocket does", self.url());
            return Err(Failure::new(ErrorCode::NotRiverrun, message).exit(Exit::Unreachable));
        }
        response
            .upgrade()
            .await
            .map_err(|error| self.unreachable(&error))
    }
}
