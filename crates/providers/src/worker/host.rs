//! Sends the notifications and requests of a handler to the server.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::Host;
use riverrun_protocol::{Frame, WorkError};
use riverrun_types::{ErrorCode, Json};
use serde_json::value::RawValue;

use super::Inner;
use crate::{failure, link::Refused};

/// The server, as one invocation sees it.
pub(super) struct Relay {
    pub worker: Arc<Inner>,
    pub invocation: u64,
}

#[async_trait]
impl Host for Relay {
    fn frame(&self, frame: Frame) {
        self.worker.post(&frame.message(self.invocation));
    }

    async fn ask(&self, method: &str, params: Json) -> Result<Json, WorkError> {
        let params = self.renamed(&params)?;
        let send = |message: riverrun_protocol::Message| async move {
            let sent = self.worker.out.send(|bytes| message.write(bytes)).await;
            match sent {
                Err(Refused::TooLong { bytes, limit }) => {
                    Err(failure::input_too_large(bytes, limit))
                }
                Ok(_) | Err(Refused::Closed) => Ok(()),
            }
        };
        self.worker.questions.ask(method, params, send).await
    }
}

impl Relay {
    /// The same with the server's id of the invocation; the rest keeps its text.
    fn renamed(&self, params: &Json) -> Result<Json, WorkError> {
        let bad = |error: serde_json::Error| {
            WorkError::new(
                ErrorCode::ProtocolError,
                format!("the request is not readable: {error}"),
            )
        };
        let mut members: indexmap::IndexMap<String, &RawValue> =
            serde_json::from_str(params.as_str()).map_err(bad)?;
        let own = serde_json::value::to_raw_value(&self.invocation).map_err(bad)?;
        members.insert("invocation".to_owned(), &own);
        Json::try_of(&members).map_err(bad)
    }
}
