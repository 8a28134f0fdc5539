//! Events: of one stream, of all streams, of one story.

use async_trait::async_trait;
use riverrun_types::{Event, EventId, StreamName};

use crate::{EventQuery, InStory, LogPage, LogQuery, Page, Place, Result, StoryQuery, StreamInfo};

/// Events, by stream, in the log of all streams and by story.
#[async_trait]
pub trait StreamStore: Send + Sync + 'static {
    /// Events of a stream: at most `query.limit`, and fewer if they are large (see
    /// [`EventQuery::PAGE_BYTES`]). An unknown stream is empty. A job's stream ends with the events
    /// of the job's life that its row holds and the stream does not ([`crate::Life::unrecorded`]).
    async fn events(&self, stream: &StreamName, query: &EventQuery) -> Result<Vec<Event>>;

    /// The number of events at or before a position: the length of the prefix.
    async fn locate(&self, stream: &StreamName, place: Place) -> Result<u64>;

    /// A page of the streams of one type that are not runs', newest first.
    async fn list_streams(
        &self,
        kind: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<StreamInfo>>;

    /// Events of all streams, in the order of their commits: at most `query.limit`, and fewer if
    /// they are large or far apart. Once a page was answered no event appears before its `next`, so
    /// a reader that goes on from there misses nothing. Deleted and trimmed events are left out.
    async fn log(&self, query: &LogQuery) -> Result<LogPage>;

    /// The number of the log's last event ([`LogPage::end`]).
    async fn log_end(&self) -> Result<u64> {
        Ok(self.log(&LogQuery::end()).await?.end)
    }

    /// A page of the events of a story, in the order of their times; those of one time by stream.
    /// The page of an unknown id is empty.
    async fn story(&self, query: &StoryQuery) -> Result<Page<InStory>>;

    /// The events that were appended under a key ([`crate::Change::Once`]), as long as emitted events are
    /// kept.
    async fn once(&self, key: &str) -> Result<Option<Vec<EventId>>>;
}
