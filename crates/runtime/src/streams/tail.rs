//! Reading a stream as it grows, without gaps or repeats.
//!
//! Subscribe first, then read the store, then join the two by position. Whenever the live side
//! skips ahead or was too slow, the reader fills the gap from the store.

use std::sync::Arc;

use riverrun_store::{Batch, EventQuery, Listener, Place, StreamUpdate, Subscription};
use riverrun_types::{Event, EventId, Json, Name, StreamName, time::NEVER};

use super::Streams;
use crate::base::{Base, Result};

/// Events read from the store at a time.
const PAGE: usize = 256;

/// A reader of one stream.
pub struct Tail {
    base: Base,
    stream: StreamName,
    live: Subscription,
    /// The position of the next event to hand out.
    next: u64,
    /// Whether the store may have events that were not handed out yet.
    behind: bool,
}

/// A message to a reader.
pub enum Tailed {
    /// From the store.
    Read(Vec<Event>),
    /// Live: shared by all readers of the stream.
    Live(Arc<Batch>),
    /// This many events after the last one are not kept any more. Those that follow come next.
    Missed(u64),
    /// The stream was deleted.
    Gone,
}

impl Streams {
    /// Reads a stream from a position on, for ever.
    pub fn tail(&self, stream: StreamName, from: u64) -> Tail {
        let live = self.base().hub().subscribe(&stream);
        Tail {
            base: self.base().clone(),
            stream,
            live,
            next: from,
            behind: true,
        }
    }

    /// The position after an event, whether it is still kept or not.
    pub async fn position_after(&self, stream: &StreamName, id: EventId) -> Result<u64> {
        let position = self.base().store().locate(stream, Place::Event(id)).await?;
        if position > 0 {
            return Ok(position);
        }
        // It is before everything that is kept. Positions are given once, so if the beginning was
        // trimmed the id still has its own.
        let first = EventQuery::forward(0, 1);
        let first = self.base().store().events(stream, &first).await?.pop();
        Ok(first.map_or(0, |first| first.id.seq.min(id.seq.saturating_add(1))))
    }
}

impl Streams {
    /// The events of a queue's jobs from now on. None of them is stored.
    pub fn listen(&self, queue: &str) -> Listener {
        self.base()
            .hub()
            .listen(&Name::from(queue), self.base().now_ms())
    }
}

impl Tail {
    /// The next events. Cancel safe: an event that was not returned is returned next time.
    pub async fn next(&mut self) -> Result<Tailed> {
        loop {
            if self.behind {
                let query = EventQuery {
                    max_bytes: self.base.options().live_reader_bytes,
                    ..EventQuery::forward(self.next, PAGE)
                };
                let events = self.base.store().events(&self.stream, &query).await?;
                // A reader from the beginning takes what is kept.
                let first = events.first().map_or(0, |first| first.id.seq);
                if self.next > 0 && first > self.next {
                    let missed = first - self.next;
                    self.next = first;
                    return Ok(Tailed::Missed(missed));
                }
                self.behind = is_full(&events, &query);
                if let Some(last) = events.last() {
                    self.next = last.id.seq + 1;
                    return Ok(Tailed::Read(events));
                }
                if self.stream.is_job() && self.is_gone().await? {
                    return Ok(Tailed::Gone);
                }
            }
            match self.live.next().await {
                StreamUpdate::Gone => return Ok(Tailed::Gone),
                StreamUpdate::Missed => self.behind = true,
                StreamUpdate::Batch(batch) => {
                    let (Some(first), Some(last)) = (batch.events.first(), batch.events.last())
                    else {
                        // A job's row has moved: its stream has more, or is gone.
                        self.behind = true;
                        continue;
                    };
                    if last.id.seq < self.next {
                        continue;
                    }
                    if first.id.seq == self.next {
                        self.next = last.id.seq + 1;
                        return Ok(Tailed::Live(batch));
                    }
                    // A gap, or a batch of which a part was handed out already.
                    self.behind = true;
                }
            }
        }
    }
}

impl Tail {
    /// Reads again from a position that was already handed out.
    pub(crate) fn go_back(&mut self, position: u64) {
        self.next = position.min(self.next);
        self.behind = true;
    }

    /// Whether the next events may come from a row: then reading is not lagging.
    pub(crate) fn is_derived(&self) -> bool {
        self.stream.is_job()
    }

    /// Whether the job was removed, with its stream.
    async fn is_gone(&self) -> Result<bool> {
        let end = Place::Time(NEVER);
        let len = self.base.store().locate(&self.stream, end).await?;
        // A job that exists has at least been added.
        Ok(len == 0 || len < self.next)
    }
}

/// Whether a page ended because it was full, by count or by size, and there may be more.
fn is_full(events: &[Event], query: &EventQuery) -> bool {
    let data = events.iter().filter_map(|event| event.data.as_ref());
    events.len() == query.limit || data.map(Json::bytes).sum::<usize>() >= query.max_bytes
}
