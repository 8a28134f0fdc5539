//! Awaits, the outbox of signals, and events without subscribers.

use async_trait::async_trait;
use riverrun_store::{
    AwaitFilter, AwaitRecord, AwaitStats, Page, Result, SignalRecord, SignalsOf, Unheard,
    adapter::AwaitStore,
};
use riverrun_types::RunId;

use crate::{SqliteStore, read};

#[async_trait]
impl AwaitStore for SqliteStore {
    async fn await_by(&self, id: &str) -> Result<Option<AwaitRecord>> {
        let id = id.to_owned();
        self.glance(move |view| read::await_by(view, &id)).await
    }

    async fn awaits_of(&self, run: &RunId) -> Result<Vec<AwaitRecord>> {
        let run = run.clone();
        self.read(move |view| read::awaits_of(view, &run)).await
    }

    async fn list_awaits(&self, filter: &AwaitFilter) -> Result<Page<AwaitRecord>> {
        let filter = filter.clone();
        self.read(move |view| read::list_awaits(view, &filter))
            .await
    }

    async fn await_stats(&self) -> Result<AwaitStats> {
        self.read(read::await_stats).await
    }

    async fn signals(
        &self,
        of: SignalsOf<'_>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SignalRecord>> {
        match of {
            SignalsOf::All => {
                self.read(move |view| read::signals(view, None, after, limit))
                    .await
            }
            SignalsOf::Lane(lane) => {
                let lane = lane.clone();
                self.read(move |view| read::signals(view, Some(&lane), after, limit))
                    .await
            }
            SignalsOf::Await(id) => {
                let id = id.to_owned();
                self.glance(move |view| read::signals_for(view, &id, after, limit))
                    .await
            }
        }
    }

    async fn candidates(
        &self,
        signal: &SignalRecord,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<AwaitRecord>> {
        let (signal, cursor) = (signal.clone(), cursor.map(str::to_owned));
        self.read(move |view| read::candidates(view, &signal, limit, cursor.as_deref()))
            .await
    }

    async fn unheard(&self) -> Result<Unheard> {
        self.read(read::unheard).await
    }
}
