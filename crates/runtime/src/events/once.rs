//! Events from outside that are stored once, however often they are sent under the same key.

use std::hash::{BuildHasher, RandomState};

use riverrun_types::{EventId, Json, Name, StreamName, label};
use tokio::sync::{Mutex, MutexGuard};

use super::Events;
use crate::{
    base::{Error, Result},
    streams::read,
};

const LOCKS: usize = 64;

/// Requests with the same key wait for each other. The store decides which was first; waiting
/// avoids rejected commits that hold others' events too.
pub(crate) struct KeyLocks {
    key_locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

impl Default for KeyLocks {
    fn default() -> Self {
        Self {
            key_locks: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
        }
    }
}

impl KeyLocks {
    async fn take(&self, key: &str) -> MutexGuard<'_, ()> {
        let hash = usize::try_from(self.hasher.hash_one(key)).unwrap_or(usize::MAX);
        self.key_locks[hash % LOCKS].lock().await
    }
}

/// The result for events that were sent under a key.
pub struct AppendedOnce {
    pub ids: Vec<EventId>,
    /// They were stored before, and these are the first.
    pub is_repeated: bool,
}

impl Events {
    /// As [`Events::append`]. The same key again, for the same stream, is answered with the events
    /// that were stored first, as long as emitted events are kept.
    pub async fn append_once(
        &self,
        stream: &StreamName,
        events: &[Json],
        key: &str,
    ) -> Result<AppendedOnce> {
        if !label::is_valid(key) {
            let message = format!("idempotencyKey: not {}", label::RULE);
            return Err(Error::BadEvent(message));
        }
        // Invalid events are rejected even under a known key.
        for event in events {
            read(event, self.base().now_ms())?;
        }
        let key = Name::from(format!("{}/{}/{key}", stream.kind, stream.id));
        let _lock = self.key_locks.take(&key).await;
        let repeated = |ids| AppendedOnce {
            ids,
            is_repeated: true,
        };
        if let Some(ids) = self.base().store().once(&key).await? {
            return Ok(repeated(ids));
        }
        let error = match self.append_under(stream, events, Some(key.clone())).await {
            Ok(ids) => {
                return Ok(AppendedOnce {
                    ids,
                    is_repeated: false,
                });
            }
            Err(error) => error,
        };
        // Another server may have been first, and its events may have ended the run.
        let ids = self.base().store().once(&key).await?;
        ids.map(repeated).ok_or(error)
    }
}
