//! The size limit of a visit's journal. The code gets the whole journal in one message whenever it
//! is called again, so a record that would not fit is rejected while the code can still get the
//! error.

use std::sync::atomic::{AtomicUsize, Ordering};

use riverrun_protocol::{Invoke, JournalEntry, MESSAGE_BYTES, Suspended, WorkError};
use riverrun_types::{Draft, ErrorCode, Json};

use crate::streams::MAX_EVENT_BYTES;

/// The limit for input and journal together; the rest of the message is for small fields.
const LIMIT: usize = MESSAGE_BYTES - (64 << 10);
/// The overhead of an entry beside its data.
const ENTRY_BYTES: usize = 96;

pub(super) struct Room {
    used: AtomicUsize,
}

impl Room {
    /// The room that remains beside the handler's initial message.
    pub fn beside(invoke: &Invoke) -> Self {
        let given = [&invoke.job.input, &invoke.job.checkpoint, &invoke.awaited];
        let given = given.into_iter().flatten().map(Json::bytes);
        Self {
            used: AtomicUsize::new(given.sum::<usize>() + invoke.journal_bytes()),
        }
    }

    /// Takes room for a record that becomes an entry of the journal; returns how much.
    pub fn record(&self, draft: &Draft) -> Result<usize, WorkError> {
        let bytes = draft.data.as_ref().map_or(0, Json::bytes) + ENTRY_BYTES;
        self.take(bytes).map(|()| bytes)
    }

    /// Releases the room of a rejected record.
    pub fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes room for an emitted event, of which the journal has the type alone.
    pub fn emitted(&self, kind: &str) -> Result<(), WorkError> {
        self.take(kind.len() + ENTRY_BYTES)
    }

    pub fn seen(&self, entries: &[JournalEntry]) -> Result<(), WorkError> {
        self.take(entries.iter().map(JournalEntry::bytes).sum())
    }

    /// Whether the result of a wait fits into the message: an event, or the value of a callback.
    pub fn answer(&self, wait: &Suspended) -> Result<(), WorkError> {
        match wait.kind.as_str() {
            "time" | "retry" => Ok(()),
            _ => self.take(MAX_EVENT_BYTES),
        }
    }

    fn take(&self, bytes: usize) -> Result<(), WorkError> {
        let grown = |used: usize| Some(used.saturating_add(bytes)).filter(|all| *all <= LIMIT);
        let taken = (self.used).fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        taken.map(drop).map_err(|used| {
            let message = format!(
                "what the step has recorded has {used} bytes with its input, and there is no room for {bytes} more: {LIMIT} can be sent when it is called again"
            );
            WorkError::new(ErrorCode::JournalTooLarge, message).permanent()
        })
    }
}
