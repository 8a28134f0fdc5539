//! Readers of one stream as it grows.

use std::sync::{Arc, OnceLock, atomic::Ordering};

use riverrun_types::{Event, StreamName};
use tokio::sync::broadcast;

use super::{Hub, load::Load};

/// Batches that a slow reader may lag behind before it has to read the store.
const BACKLOG: usize = 64;

/// Events of one commit to one stream. Readers of the same stream share it and its serialised form.
#[derive(Debug)]
pub struct Batch {
    pub events: Vec<Event>,
    /// The batch in the form in which readers send it on, built by the first reader.
    wire: OnceLock<Arc<str>>,
    _load: Option<Load>,
}

impl Batch {
    pub(crate) fn new(events: Vec<Event>, load: Option<Load>) -> Self {
        Self {
            events,
            wire: OnceLock::new(),
            _load: load,
        }
    }

    pub fn wire(&self, encode: impl FnOnce(&[Event]) -> String) -> Arc<str> {
        self.wire
            .get_or_init(|| Arc::from(encode(&self.events)))
            .clone()
    }
}

impl Hub {
    /// Listens to a stream from now on.
    pub fn subscribe(self: &Arc<Self>, stream: &StreamName) -> Subscription {
        let receiver = self
            .streams
            .entry(stream.clone())
            .or_insert_with(|| {
                if stream.is_job() {
                    self.jobs.fetch_add(1, Ordering::AcqRel);
                }
                broadcast::channel(BACKLOG).0
            })
            .subscribe();
        Subscription {
            hub: self.clone(),
            stream: stream.clone(),
            receiver: Some(receiver),
        }
    }

    /// The streams that have readers.
    pub fn subscribed(&self) -> usize {
        self.streams.len()
    }
}

/// A message to a reader.
#[derive(Debug)]
pub enum StreamUpdate {
    /// A batch without events means: the job's row has moved, read it again.
    Batch(Arc<Batch>),
    /// Batches were dropped: read the store from the last position seen.
    Missed,
    /// The stream was deleted.
    Gone,
}

/// A listener to one stream.
pub struct Subscription {
    hub: Arc<Hub>,
    stream: StreamName,
    receiver: Option<broadcast::Receiver<Arc<Batch>>>,
}

impl Subscription {
    pub async fn next(&mut self) -> StreamUpdate {
        let Some(receiver) = &mut self.receiver else {
            return StreamUpdate::Gone;
        };
        match receiver.recv().await {
            Ok(batch) => StreamUpdate::Batch(batch),
            Err(broadcast::error::RecvError::Lagged(_)) => StreamUpdate::Missed,
            Err(broadcast::error::RecvError::Closed) => StreamUpdate::Gone,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.receiver = None;
        let removed = self
            .hub
            .streams
            .remove_if(&self.stream, |_, sender| sender.receiver_count() == 0);
        if removed.is_some() && self.stream.is_job() {
            self.hub.jobs.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
