//! Events from outside, for any stream: those of a run go to the run, all others are appended.

mod once;

pub use once::AppendedOnce;

use riverrun_contract::{Work, compute};
use riverrun_types::{EventId, Json, Name, StreamName};

use once::KeyLocks;

use crate::{
    base::{Base, Error, Result},
    runs::Runs,
    streams::{Streams, read, refuse_reserved},
};

/// Appends events that come from outside.
pub struct Events {
    streams: Streams,
    runs: Runs,
    key_locks: KeyLocks,
}

impl Events {
    pub(crate) fn new(streams: Streams, runs: Runs) -> Self {
        Self {
            streams,
            runs,
            key_locks: KeyLocks::default(),
        }
    }

    fn base(&self) -> &Base {
        self.streams.base()
    }

    /// Appends events from outside, in any accepted form. All of them or none.
    pub async fn append(&self, stream: &StreamName, events: &[Json]) -> Result<Vec<EventId>> {
        self.append_under(stream, events, None).await
    }

    /// Appends events, and remembers them under a key.
    async fn append_under(
        &self,
        stream: &StreamName,
        events: &[Json],
        key: Option<Name>,
    ) -> Result<Vec<EventId>> {
        self.base().refuse_when_stopping()?;
        let now = self.base().now_ms();
        Error::check_count("events", events.len())?;
        let bytes = events.iter().map(Json::bytes).sum();
        let drafts = compute(Work::on_text(bytes), || {
            let drafts = events.iter().map(|event| read(event, now));
            drafts.collect::<Result<Vec<_>>>()
        })?;
        refuse_reserved(stream, &drafts)?;
        if drafts.is_empty() {
            return Err(Error::BadEvent("there is no event to append".to_owned()));
        }
        match stream.run() {
            Some(run) => self.runs.append(&run, drafts, key).await,
            None => self.streams.append(stream, drafts, key).await,
        }
    }
}
