//! Live delivery by kind: events of all streams, to the listeners of their kinds.
//!
//! Listeners to the same kinds share a channel. Without a listener no batch is built, and a
//! listener that misses one reads the log.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use riverrun_types::{Draft, EventId, StreamName, event::EventContext};
use tokio::sync::broadcast;

use super::load::{Load, Loads};
use crate::{Kinds, Logged};

/// Batches that a listener may lag behind before it has to read the log.
const BACKLOG: usize = 256;

/// Events of one change, in order. Listeners share it. A batch without events means: read the log.
#[derive(Debug)]
pub struct LogBatch {
    pub events: Vec<Logged>,
    _load: Option<Load>,
}

#[derive(Default)]
pub(crate) struct LogChannels {
    open: DashMap<Kinds, broadcast::Sender<Arc<LogBatch>>>,
    /// The number of channels, kept apart because it is read for every change.
    count: AtomicUsize,
}

impl LogChannels {
    pub(crate) fn is_silent(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn listen(&self, kinds: &Kinds) -> broadcast::Receiver<Arc<LogBatch>> {
        let open = self.open.entry(kinds.clone()).or_insert_with(|| {
            self.count.fetch_add(1, Ordering::AcqRel);
            broadcast::channel(BACKLOG).0
        });
        open.subscribe()
    }

    fn close(&self, kinds: &Kinds) {
        let closed = self
            .open
            .remove_if(kinds, |_, sender| sender.receiver_count() == 0);
        if closed.is_some() {
            self.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Makes all listeners read the log.
    pub(crate) fn reread(&self) {
        for entry in &self.open {
            let _ = entry.value().send(Arc::new(LogBatch {
                events: Vec::new(),
                _load: None,
            }));
        }
    }

    /// Sends these events to the listeners of their kinds. The first has the number `no`.
    pub(crate) fn deliver(
        &self,
        loads: &Loads,
        stream: &StreamName,
        context: &EventContext,
        no: u64,
        drafts: &[Draft],
        ids: impl Iterator<Item = EventId> + Clone,
    ) {
        for entry in &self.open {
            let kinds = entry.key();
            let taken = (no..)
                .zip(drafts)
                .zip(ids.clone())
                .filter(|((_, draft), _)| kinds.take(&draft.kind, draft.data.as_ref()))
                .map(|((no, draft), id)| Logged {
                    no,
                    stream: stream.clone(),
                    event: draft.clone().at(id.seq, id.ms, context),
                });
            let mut taken = taken.peekable();
            if taken.peek().is_none() {
                continue;
            }
            let load = loads.take(drafts);
            let events = match load {
                Some(_) => taken.collect(),
                None => Vec::new(),
            };
            // Sending to no receiver is fine: the channel is about to be closed.
            let _ = entry.value().send(Arc::new(LogBatch {
                events,
                _load: load,
            }));
        }
    }
}

/// A message to a listener to kinds.
#[derive(Debug)]
pub enum LogUpdate {
    Batch(Arc<LogBatch>),
    /// Batches were dropped: read the log from the last number seen.
    Missed,
}

/// A listener to kinds.
pub struct LogListener {
    hub: Arc<crate::Hub>,
    kinds: Kinds,
    receiver: Option<broadcast::Receiver<Arc<LogBatch>>>,
}

impl LogListener {
    pub(crate) fn new(hub: Arc<crate::Hub>, kinds: &Kinds) -> Self {
        let receiver = Some(hub.log_channels().listen(kinds));
        let kinds = kinds.clone();
        Self {
            hub,
            kinds,
            receiver,
        }
    }

    /// Cancel safe.
    pub async fn next(&mut self) -> LogUpdate {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        match receiver.recv().await {
            Ok(batch) if batch.events.is_empty() => LogUpdate::Missed,
            Ok(batch) => LogUpdate::Batch(batch),
            Err(broadcast::error::RecvError::Lagged(_)) => LogUpdate::Missed,
            // The channel stays open for as long as it has a listener.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for LogListener {
    fn drop(&mut self) {
        self.receiver = None;
        self.hub.log_channels().close(&self.kinds);
    }
}
