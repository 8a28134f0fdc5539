//! Queries of a store.

use riverrun_types::{EventId, EventType, Millis, Name, RunId, RunStatus};

/// Which runs to list. Every field narrows; the default lists all.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub status: Vec<RunStatus>,
    pub flow: Option<Name>,
    pub version: Option<Name>,
    /// Runs that have all of these.
    pub tags: Vec<Name>,
    pub tenant: Option<Name>,
    pub parent: Option<RunId>,
    pub id_prefix: Option<String>,
    /// Created at or after.
    pub since_ms: Option<Millis>,
    /// Created before.
    pub until_ms: Option<Millis>,
    /// Oldest first instead of newest first.
    pub oldest_first: bool,
    /// Rows a page: at least 1.
    pub limit: usize,
    /// The cursor of the page before. An invalid one is [`crate::Error::BadCursor`].
    pub cursor: Option<String>,
}

/// One page and the cursor of the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// None on the last page.
    pub next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Forward,
    Backward,
}

/// Which events of a stream to read, in which order.
#[derive(Clone, Debug)]
pub struct EventQuery {
    pub direction: Direction,
    /// Forward: only positions at or after this one. Backward: only positions before this one.
    /// None: from the stream's beginning, or back from its end.
    pub from: Option<u64>,
    pub limit: usize,
    /// Exact types, or families: `log` takes every `log.*`. Empty takes all.
    pub types: Vec<EventType>,
    pub step: Option<Name>,
    /// At or after.
    pub since_ms: Option<Millis>,
    /// Before.
    pub until_ms: Option<Millis>,
    /// A page ends early, after at least one event, once its payloads have this many bytes: a
    /// reader of large events gets more pages, without more memory. So only an empty page means
    /// that no events follow.
    pub max_bytes: usize,
}

impl EventQuery {
    /// The default limit of a page's payloads, in bytes.
    pub const PAGE_BYTES: usize = 4 << 20;

    pub fn forward(from: u64, limit: usize) -> Self {
        Self {
            direction: Direction::Forward,
            from: Some(from),
            limit,
            types: Vec::new(),
            step: None,
            since_ms: None,
            until_ms: None,
            max_bytes: Self::PAGE_BYTES,
        }
    }
}

/// A place in a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// That event is the last one included. An id between two events names the earlier one.
    Event(EventId),
    /// Every event up to and in that millisecond is included.
    Time(Millis),
}

/// A stream other than a run's, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamInfo {
    pub id: Name,
    pub len: u64,
    pub created_ms: Millis,
    pub updated_ms: Millis,
}
