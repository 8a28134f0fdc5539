//! All events of some kinds, in any stream.

use std::collections::VecDeque;

use riverrun_store::{Kinds, LogListener, LogPage, LogQuery, LogUpdate, Logged, is_derived};
use riverrun_types::{EventType, Json};

use super::{Begin, Delivery};
use crate::{
    base::{Base, Error, Result},
    streams::Streams,
};

/// Events read from the log at a time.
const PAGE: usize = 256;

/// A subscriber to kinds of events.
pub struct OnKind {
    base: Base,
    kinds: Kinds,
    live: LogListener,
    /// Every matching event up to this number was delivered.
    after: u64,
    ready: VecDeque<Logged>,
    /// Whether the log may have events that were not delivered yet.
    behind: bool,
}

impl Streams {
    /// Subscribes to kinds of events: exact types (`order.paid`, `flow.failed`), or families
    /// (`order` takes every `order.*`). They come in the order in which they were committed, each
    /// with its [number](Logged::no) in the log of all events; a subscriber that was disconnected
    /// continues after the last number it saw.
    ///
    /// Events of jobs (`job.*`) are kept in their rows and are in no log: subscribe to a queue's
    /// channel instead ([`Streams::listen`]).
    pub async fn on_kind<T: AsRef<str>>(
        &self,
        kinds: impl IntoIterator<Item = T>,
        begin: Begin<u64>,
    ) -> Result<OnKind> {
        let kinds = Kinds::new(kinds);
        check(&kinds)?;
        // First, so that events from now on are received.
        let live = self.base().hub().listen_to(&kinds);
        let (after, behind) = match begin {
            Begin::Start => (0, true),
            Begin::After(no) => {
                self.check_cursor(no).await?;
                (no, true)
            }
            Begin::End => (self.base().store().log_end().await?, false),
        };
        Ok(OnKind {
            base: self.base().clone(),
            kinds,
            live,
            after,
            ready: VecDeque::new(),
            behind,
        })
    }
}

impl Streams {
    /// A page of the events of some kinds, as [`Streams::on_kind`] delivers them.
    pub async fn events_of_kind(&self, query: &LogQuery) -> Result<LogPage> {
        check(&query.kinds)?;
        self.check_cursor(query.after).await?;
        Ok(self.base().store().log(query).await?)
    }

    /// Rejects a cursor that this log has not issued: its subscriber would wait for ever, as after
    /// a store was replaced by an older one.
    async fn check_cursor(&self, no: u64) -> Result<()> {
        match no > 0 && no > self.base().store().log_end().await? {
            true => Err(riverrun_store::Error::BadCursor(no.to_string()).into()),
            false => Ok(()),
        }
    }
}

/// Rejects kinds that no event of the log can have.
fn check(kinds: &Kinds) -> Result<()> {
    let refuse = |message: String| Err(Error::BadKind(message));
    if !(1..=Kinds::MAX).contains(&kinds.iter().len()) {
        return refuse(format!("name 1 to {} kinds of events", Kinds::MAX));
    }
    for kind in kinds.iter() {
        if EventType::checked(kind).is_none() {
            let shown: String = kind.chars().take(64).collect();
            return refuse(format!("{shown:?} is no kind of event"));
        }
        if is_derived(kind) {
            return refuse(format!(
                "{kind} is not in the log: events of jobs are on the channel of their queue"
            ));
        }
    }
    Ok(())
}

impl OnKind {
    /// The number up to which everything was delivered: the cursor after this subscriber. It moves
    /// even while no event matches.
    pub fn cursor(&self) -> u64 {
        match self.ready.front() {
            Some(next) => next.no - 1,
            None => self.after,
        }
    }

    /// Makes it read the log next, so that its cursor passes events that do not match. For a
    /// subscriber that has received nothing in a while.
    pub fn look(&mut self) {
        self.behind = true;
    }

    /// Whether it has read events that were not delivered yet.
    pub fn is_ahead(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The approximate memory of those events.
    pub fn ahead_bytes(&self) -> usize {
        let data = self.ready.iter().filter_map(|it| it.event.data.as_ref());
        self.ready.len() * std::mem::size_of::<Logged>() + data.map(Json::bytes).sum::<usize>()
    }

    /// Drops the events that it read ahead; they are read again. For a subscriber that has to wait.
    pub fn shed(&mut self) {
        if !self.ready.is_empty() {
            self.after = self.cursor();
            self.ready = VecDeque::new();
            self.behind = true;
        }
    }

    /// The next events. Cancel safe: an event that was not returned is returned next time.
    pub async fn next(&mut self) -> Result<Delivery<Logged>> {
        loop {
            if let Some(logged) = self.ready.pop_front() {
                return Ok(Delivery::Event(logged));
            }
            if self.behind {
                self.read().await?;
                continue;
            }
            match self.live.next().await {
                LogUpdate::Missed => {
                    self.behind = true;
                    return Ok(Delivery::Late);
                }
                LogUpdate::Batch(batch) => {
                    let news = batch.events.iter().filter(|logged| logged.no > self.after);
                    self.ready.extend(news.cloned());
                    if let Some(last) = self.ready.back() {
                        self.after = last.no;
                    }
                }
            }
        }
    }

    async fn read(&mut self) -> Result<()> {
        let query = LogQuery {
            after: self.after,
            kinds: self.kinds.clone(),
            limit: PAGE,
            max_bytes: self.base.options().live_reader_bytes,
        };
        let page = self.base.store().log(&query).await?;
        self.behind = !page.is_end;
        self.after = page.next;
        self.ready.extend(page.events);
        Ok(())
    }
}
