//! Stories: all events with one correlation id, in any stream.
//!
//! The story of an id includes the stream of the run, job or call of that id; of the runs and jobs
//! that have it as their correlation id; of the sub-flows of all these runs; and single events of
//! other streams that carry it, such as those of a trigger. Runs and jobs that have the id of one
//! of its runs as their correlation id belong to it as well.

use riverrun_types::{Event, Name, StreamName};

/// A query for a part of a story.
#[derive(Clone, Debug)]
pub struct StoryQuery {
    pub correlation: Name,
    /// Events a page: at least 1.
    pub limit: usize,
    /// The cursor of the page before. An invalid one is [`crate::Error::BadCursor`].
    pub cursor: Option<String>,
}

impl StoryQuery {
    /// The most runs, jobs and marked places that a story is gathered from: the earliest.
    pub const MAX_PARTS: usize = 10_000;
}

/// An event in a story.
#[derive(Clone, Debug, PartialEq)]
pub struct InStory {
    pub stream: StreamName,
    pub event: Event,
}
