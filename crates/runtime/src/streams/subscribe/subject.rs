//! All events of one stream.

use std::collections::VecDeque;

use riverrun_store::{Direction, Error as StoreError, EventQuery, Place};
use riverrun_types::{Event, EventId, RunId, StreamName, time::NEVER};

use super::{Begin, Delivery};
use crate::{
    base::{Error, Result},
    streams::{
        Streams,
        tail::{Tail, Tailed},
    },
};

/// A subscriber to the events of one stream: a run's, a job's, a trigger's or any other.
pub struct Subject {
    tail: Tail,
    cursor: Option<EventId>,
    ready: VecDeque<Event>,
    /// The last message came from the bus.
    is_live: bool,
    is_over: bool,
}

impl Streams {
    /// Subscribes to a stream. The id of a received event is the cursor for those after it, now or
    /// after a restart. A run or a job must exist; any other stream begins with its first event.
    pub async fn subscribe_subject(
        &self,
        subject: &StreamName,
        begin: Begin<EventId>,
    ) -> Result<Subject> {
        if &*subject.kind == StreamName::QUEUE {
            let message = "the channel of a queue has no past: listen to it";
            return Err(Error::BadRequest(message.to_owned()));
        }
        self.must_exist(subject).await?;
        let (at, cursor) = match begin {
            Begin::Start => (0, None),
            Begin::End => {
                let last = self.last_event(subject).await?;
                (last.map_or(0, |id| id.seq + 1), last)
            }
            Begin::After(id) => (self.position_after(subject, id).await?, Some(id)),
        };
        Ok(Subject {
            tail: self.tail(subject.clone(), at),
            cursor,
            ready: VecDeque::new(),
            is_live: false,
            is_over: false,
        })
    }

    async fn last_event(&self, stream: &StreamName) -> Result<Option<EventId>> {
        let last = EventQuery {
            direction: Direction::Backward,
            from: None,
            ..EventQuery::forward(0, 1)
        };
        let found = self.base().store().events(stream, &last).await?;
        Ok(found.last().map(|event| event.id))
    }

    async fn must_exist(&self, stream: &StreamName) -> Result<()> {
        if let Some(run) = stream.run() {
            let found = self.base().store().run(&run).await?;
            return found
                .map(drop)
                .ok_or_else(|| StoreError::RunNotFound(run).into());
        }
        if stream.is_job()
            && self
                .base()
                .store()
                .locate(stream, Place::Time(NEVER))
                .await?
                == 0
        {
            return Err(StoreError::JobNotFound(RunId::new(&stream.id)).into());
        }
        Ok(())
    }
}

impl Subject {
    /// The event after which it goes on: the last one that was delivered, or the one it began
    /// after.
    pub fn cursor(&self) -> Option<EventId> {
        self.cursor
    }

    /// Drops the events that it read ahead; they are read again. For a subscriber that has to wait.
    pub fn shed(&mut self) {
        if let Some(first) = self.ready.front() {
            self.tail.go_back(first.id.seq);
            self.ready = VecDeque::new();
        }
    }

    /// The next events. Cancel safe: an event that was not returned is returned next time.
    pub async fn next(&mut self) -> Result<Delivery<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.cursor = Some(event.id);
                return Ok(Delivery::Event(event));
            }
            if self.is_over {
                return Ok(Delivery::Gone);
            }
            match self.tail.next().await? {
                Tailed::Live(batch) => {
                    self.is_live = true;
                    self.ready.extend(batch.events.iter().cloned());
                }
                Tailed::Read(events) => {
                    self.ready.extend(events);
                    if std::mem::take(&mut self.is_live) && !self.tail.is_derived() {
                        return Ok(Delivery::Late);
                    }
                }
                Tailed::Missed(count) => return Ok(Delivery::Missed(count)),
                Tailed::Gone => self.is_over = true,
            }
        }
    }
}
