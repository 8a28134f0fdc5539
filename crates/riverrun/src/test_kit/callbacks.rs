//! Callbacks of the run, and the answers of the test to them.

use riverrun_protocol::WorkError;
use riverrun_runtime::{CallbackAnswer, callback_signature};
use riverrun_types::{ErrorCode, Json, TriggerType};
use serde_json::json;

use super::{refused::refused, request::Answer, walk::Walk};

/// Why an answer came too late. The run continues without it.
const TOO_LATE: [ErrorCode; 5] = [
    ErrorCode::AwaitClosed,
    ErrorCode::AwaitExpired,
    ErrorCode::AwaitFull,
    ErrorCode::AwaitNotFound,
    ErrorCode::AwaitUsed,
];

impl Walk {
    /// Asks the test process for the answers to a callback.
    pub(super) async fn answers_of(&mut self, id: &str) -> Result<Vec<Answer>, WorkError> {
        let found = self
            .river
            .runtime()
            .awaits()
            .callback(id)
            .await
            .map_err(refused)?;
        let place = match found.callback.kind {
            TriggerType::User => "approve",
            _ => "api/triggers",
        };
        let mut callback = json!({
            "id": id, "url": format!("http://127.0.0.1:4600/{place}/{id}"), "type": found.callback.kind,
        });
        if let Some(payload) = &found.callback.payload {
            callback["payload"] = json!(payload);
        }
        let count = found.callback.count.unwrap_or(1);
        self.out
            .send(&json!({ "kit": "callback", "callback": callback, "count": count }));
        Ok(self.answers.recv().await.unwrap_or_default())
    }

    pub(super) async fn open(&self, id: &str, payload: Json) -> Result<(), WorkError> {
        let runtime = self.river.runtime();
        let callback = runtime
            .awaits()
            .callback(id)
            .await
            .map_err(refused)?
            .callback;
        let body = payload.as_str().as_bytes().to_vec();
        let signature = callback
            .secret
            .map(|secret| callback_signature(&secret, &body));
        let callback_answer = CallbackAnswer {
            payload,
            body: &body,
            signature: signature.as_deref(),
            source: "api",
        };
        match runtime.awaits().resume_callback(id, callback_answer).await {
            Err(error) if TOO_LATE.contains(&error.code()) => Ok(()),
            opened => opened.map(drop).map_err(refused),
        }
    }
}
