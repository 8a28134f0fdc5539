//! Callbacks: awaits that an outside request resumes by their id.

use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use riverrun_store::{AwaitRecord, Awaited, Change, Commit, Error as StoreError, Fire};
use riverrun_types::{Draft, EventType, Json, Name, TriggerType};
use serde_json::json;
use sha2::Sha256;

use super::{
    Awaits,
    register::{Callback, trigger_event},
};
use crate::{
    base::{Error, Result},
    streams::check_bytes,
};

/// A request that resumes a callback.
pub struct CallbackAnswer<'a> {
    /// The payload of the request, which becomes the result of the wait.
    pub payload: Json,
    /// The bytes that were signed, and the signature in hexadecimal.
    pub body: &'a [u8],
    pub signature: Option<&'a str>,
    /// `webhook`, `user`, `api` or the like, for the trigger's stream.
    pub source: &'a str,
}

/// A callback with its await.
pub struct StoredCallback {
    pub record: AwaitRecord,
    pub callback: Callback,
}

impl Awaits {
    /// A callback by its id.
    pub async fn callback(&self, id: &str) -> Result<StoredCallback> {
        let missing = || Error::Store(StoreError::AwaitNotFound(Name::from(id)));
        let record = self
            .base()
            .store()
            .await_by(id)
            .await?
            .ok_or_else(missing)?;
        let Awaited::Callback { callback, .. } = &record.what else {
            return Err(missing());
        };
        let callback = callback.read().unwrap_or_default();
        Ok(StoredCallback { record, callback })
    }

    /// Resumes a callback: its step goes on with the payload. Answers when that is durable.
    pub async fn resume_callback(
        &self,
        id: &str,
        answer: CallbackAnswer<'_>,
    ) -> Result<AwaitRecord> {
        self.base().refuse_when_stopping()?;
        let StoredCallback { record, callback } = self.callback(id).await?;
        // A body that is not JSON may be larger as the text under which it is stored.
        check_bytes("body", answer.body.len().max(answer.payload.bytes()))?;
        if callback.is_signed() {
            let secret = callback.secret().unwrap_or_else(|message| {
                tracing::error!(trigger = id, "a signature cannot be checked: {message}");
                None
            });
            let secret = secret.ok_or(Error::BadSignature)?;
            check_signature(&secret, answer.body, answer.signature)?;
        }
        let now = self.base().now_ms();
        let fire = Fire {
            id: record.id.clone(),
            value: answer.payload.clone(),
            now_ms: now,
            most: callback.count,
        };
        if let Some(refusal) = record.refusal_of(&fire) {
            return Err(refusal.into());
        }
        // A webhook accepts a plain POST.
        let source = match (callback.kind, answer.source) {
            (TriggerType::Webhook, "api") => "webhook",
            (_, source) => source,
        };
        let event = Draft::new(now, EventType::TriggerFired)
            .data(json!({"payload": answer.payload, "source": source}));
        let event = trigger_event(&record.id, &record.run, event);
        let commit = Commit::of(Change::Fire(Box::new(fire))).and(Change::Append(event));
        self.base().commit(commit).await?;
        Ok(record)
    }
}

/// Checks the signature of a body, which a callback that was created with a secret requires.
pub fn callback_signature(secret: &str, body: &[u8]) -> String {
    // A key may have any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(body);
    format!(
        "sha256={}",
        HEXLOWER_PERMISSIVE.encode(&mac.finalize().into_bytes())
    )
}

/// Compares in a time that does not depend on the position of the difference.
fn check_signature(secret: &str, body: &[u8], signature: Option<&str>) -> Result<()> {
    let wrong = || Error::BadSignature;
    let signature = signature.ok_or_else(wrong)?;
    let signature = signature.strip_prefix("sha256=").unwrap_or(signature);
    let signature = HEXLOWER_PERMISSIVE
        .decode(signature.trim().as_bytes())
        .map_err(|_| wrong())?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| wrong())?;
    mac.update(body);
    mac.verify_slice(&signature).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_the_body_and_the_secret() {
        let made = callback_signature("secret", br#"{"ok":true}"#);
        let made = made.strip_prefix("sha256=").unwrap();
        let check = |secret: &str, signature: Option<&str>| {
            check_signature(secret, br#"{"ok":true}"#, signature).is_ok()
        };
        assert!(check("secret", Some(made)));
        assert!(check("secret", Some(&format!("sha256={made}"))));
        assert!(!check("other", Some(made)));
        assert!(!check("secret", None));
        assert!(!check("secret", Some("not hex")));
    }
}
