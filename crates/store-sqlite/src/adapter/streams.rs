//! Events: of one stream, of all streams, of one story.

use async_trait::async_trait;
use riverrun_store::{
    EventQuery, InStory, LogPage, LogQuery, Page, Place, Result, StoryQuery, StreamInfo,
    adapter::StreamStore,
};
use riverrun_types::{Event, EventId, StreamName};

use crate::{SqliteStore, read};

/// The number of events whose read is faster than a switch to another thread.
const FEW: usize = 32;

#[async_trait]
impl StreamStore for SqliteStore {
    async fn events(&self, stream: &StreamName, query: &EventQuery) -> Result<Vec<Event>> {
        let (stream, query) = (stream.clone(), query.clone());
        let few = query.limit <= FEW;
        let read = move |view: read::View<'_>| read::events(view, &stream, &query);
        match few {
            true => self.glance(read).await,
            false => self.read(read).await,
        }
    }

    async fn locate(&self, stream: &StreamName, place: Place) -> Result<u64> {
        let stream = stream.clone();
        self.read(move |view| read::locate(view, &stream, place))
            .await
    }

    async fn list_streams(
        &self,
        kind: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<StreamInfo>> {
        let (kind, cursor) = (kind.to_owned(), cursor.map(str::to_owned));
        self.read(move |view| read::list_streams(view, &kind, limit, cursor.as_deref()))
            .await
    }

    async fn log(&self, query: &LogQuery) -> Result<LogPage> {
        let query = query.clone();
        self.read(move |view| read::log(view, &query)).await
    }

    async fn story(&self, query: &StoryQuery) -> Result<Page<InStory>> {
        let query = query.clone();
        self.read(move |view| read::story(view, &query)).await
    }

    async fn once(&self, key: &str) -> Result<Option<Vec<EventId>>> {
        let key = key.to_owned();
        self.read(move |view| read::once(view, &key)).await
    }
}
