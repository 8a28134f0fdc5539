//! A store behind a proxy: every call is passed on, and the proxy may count it, delay it, reject
//! it, or stop everything that uses the store.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_store::{
    AwaitFilter, AwaitRecord, AwaitStats, Beat, ClaimJobs, ClaimRunTasks, ClaimedJobs,
    ClaimedRunTask, Commit, DueTriggers, Error, EventQuery, FlowRecord, GroupId, InStory, JobBeats,
    JobFilter, JobRecord, LogPage, LogQuery, Page, Place, Purge, QueueRecord, Receipt, Reclaimed,
    Result, Retention, RunFilter, RunLease, RunRecord, SignalRecord, SignalsOf, Snapshot,
    StalledJob, Stats, Store, StoryQuery, StreamInfo, TriggerRecord, Unheard,
    adapter::{
        AwaitStore, CommitStore, FlowStore, HealthStore, QueueStore, RunStore, StreamStore,
        TriggerStore, UpkeepStore,
    },
};
use riverrun_types::{Event, EventId, Json, Millis, Name, RunId, StreamName};

/// The proxy between a store and its users.
#[async_trait]
pub trait Between: Send + Sync + 'static {
    /// Before every call. A call for which this never ends is never made.
    async fn called(&self) {}

    /// The time by the store's clock, if it is to differ from the store's own.
    fn now_ms(&self, store_ms: Millis) -> Millis {
        store_ms
    }

    /// Before a group of commits is written. An error rejects all of it.
    async fn writes(&self) -> Result<()> {
        Ok(())
    }

    /// A group of commits or a claim is written, and not answered yet.
    async fn written(&self) {}

    /// Events were read, and not returned yet.
    async fn events_read(&self, _query: &EventQuery, _events: &[Event]) {}
}

pub struct Through<B> {
    store: Arc<dyn Store>,
    between: Arc<B>,
}

impl<B: Between> Through<B> {
    pub fn new(store: Arc<dyn Store>, between: Arc<B>) -> Arc<Self> {
        Arc::new(Self { store, between })
    }
}

#[async_trait]
impl<B: Between> CommitStore for Through<B> {
    async fn commit(&self, id: GroupId, group: Arc<[Commit]>) -> Vec<Result<Receipt>> {
        self.between.called().await;
        if let Err(error) = self.between.writes().await {
            return group.iter().map(|_| Err(error.clone())).collect();
        }
        let results = self.store.commit(id, group).await;
        self.between.written().await;
        results
    }

    fn remembers_groups(&self) -> bool {
        self.store.remembers_groups()
    }

    fn now_ms(&self, local_ms: Millis) -> Millis {
        self.between.now_ms(self.store.now_ms(local_ms))
    }
}

#[async_trait]
impl<B: Between> RunStore for Through<B> {
    async fn runs(&self, ids: &[RunId]) -> Result<Vec<RunRecord>> {
        self.between.called().await;
        self.store.runs(ids).await
    }

    async fn list_runs(&self, filter: &RunFilter) -> Result<Page<RunRecord>> {
        self.between.called().await;
        self.store.list_runs(filter).await
    }

    async fn snapshot(&self, run: &RunId, len: u64) -> Result<Option<Snapshot>> {
        self.between.called().await;
        self.store.snapshot(run, len).await
    }

    async fn claim_run_tasks(&self, claim: ClaimRunTasks) -> Result<Vec<ClaimedRunTask>> {
        self.between.called().await;
        let claimed = self.store.claim_run_tasks(claim).await?;
        if !claimed.is_empty() {
            self.between.written().await;
        }
        Ok(claimed)
    }

    async fn heartbeat(&self, leases: &[RunLease], until_ms: Millis) -> Result<Vec<Beat>> {
        self.between.called().await;
        self.store.heartbeat(leases, until_ms).await
    }

    async fn next_due(&self) -> Result<Option<Millis>> {
        self.between.called().await;
        self.store.next_due().await
    }

    async fn set_aside(&self, run: &RunId) -> Result<()> {
        self.between.called().await;
        self.store.set_aside(run).await
    }
}

#[async_trait]
impl<B: Between> StreamStore for Through<B> {
    async fn events(&self, stream: &StreamName, query: &EventQuery) -> Result<Vec<Event>> {
        self.between.called().await;
        let events = self.store.events(stream, query).await?;
        self.between.events_read(query, &events).await;
        Ok(events)
    }

    async fn locate(&self, stream: &StreamName, place: Place) -> Result<u64> {
        self.between.called().await;
        self.store.locate(stream, place).await
    }

    async fn list_streams(
        &self,
        kind: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<StreamInfo>> {
        self.between.called().await;
        self.store.list_streams(kind, limit, cursor).await
    }

    async fn log(&self, query: &LogQuery) -> Result<LogPage> {
        self.between.called().await;
        self.store.log(query).await
    }

    async fn story(&self, query: &StoryQuery) -> Result<Page<InStory>> {
        self.between.called().await;
        self.store.story(query).await
    }

    async fn once(&self, key: &str) -> Result<Option<Vec<EventId>>> {
        self.between.called().await;
        self.store.once(key).await
    }
}

#[async_trait]
impl<B: Between> QueueStore for Through<B> {
    async fn claim_jobs(&self, claim: ClaimJobs) -> Result<ClaimedJobs> {
        self.between.called().await;
        let claimed = self.store.claim_jobs(claim).await?;
        if !claimed.jobs.is_empty() {
            self.between.written().await;
        }
        Ok(claimed)
    }

    async fn lease_jobs(&self, owner: &Name, until_ms: Millis) -> Result<u64> {
        self.between.called().await;
        self.store.lease_jobs(owner, until_ms).await
    }

    async fn keep_jobs(&self, tokens: &[u64], until_ms: Millis) -> Result<JobBeats> {
        self.between.called().await;
        self.store.keep_jobs(tokens, until_ms).await
    }

    async fn stalled_jobs(
        &self,
        now_ms: Millis,
        limit: usize,
    ) -> Result<(Vec<StalledJob>, Option<Millis>)> {
        self.between.called().await;
        self.store.stalled_jobs(now_ms, limit).await
    }

    async fn purge_jobs(&self, purge: &Purge) -> Result<u64> {
        self.between.called().await;
        self.store.purge_jobs(purge).await
    }

    async fn job(&self, id: &RunId) -> Result<Option<JobRecord>> {
        self.between.called().await;
        self.store.job(id).await
    }

    async fn newest_job(&self) -> Result<Option<RunId>> {
        self.between.called().await;
        self.store.newest_job().await
    }

    async fn jobs_ahead(&self, id: &RunId) -> Result<Option<u64>> {
        self.between.called().await;
        self.store.jobs_ahead(id).await
    }

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>> {
        self.between.called().await;
        self.store.list_jobs(filter).await
    }

    async fn queues(&self, name: Option<&str>) -> Result<Vec<QueueRecord>> {
        self.between.called().await;
        self.store.queues(name).await
    }

    async fn active_of_key(&self, queue: &str, key: &str) -> Result<u64> {
        self.between.called().await;
        self.store.active_of_key(queue, key).await
    }
}

#[async_trait]
impl<B: Between> AwaitStore for Through<B> {
    async fn await_by(&self, id: &str) -> Result<Option<AwaitRecord>> {
        self.between.called().await;
        self.store.await_by(id).await
    }

    async fn awaits_of(&self, run: &RunId) -> Result<Vec<AwaitRecord>> {
        self.between.called().await;
        self.store.awaits_of(run).await
    }

    async fn list_awaits(&self, filter: &AwaitFilter) -> Result<Page<AwaitRecord>> {
        self.between.called().await;
        self.store.list_awaits(filter).await
    }

    async fn await_stats(&self) -> Result<AwaitStats> {
        self.between.called().await;
        self.store.await_stats().await
    }

    async fn signals(
        &self,
        of: SignalsOf<'_>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SignalRecord>> {
        self.between.called().await;
        self.store.signals(of, after, limit).await
    }

    async fn candidates(
        &self,
        signal: &SignalRecord,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<AwaitRecord>> {
        self.between.called().await;
        self.store.candidates(signal, limit, cursor).await
    }

    async fn unheard(&self) -> Result<Unheard> {
        self.between.called().await;
        self.store.unheard().await
    }
}

#[async_trait]
impl<B: Between> TriggerStore for Through<B> {
    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>> {
        self.between.called().await;
        self.store.trigger(id).await
    }

    async fn trigger_version(&self, id: &str) -> Result<Option<u64>> {
        self.between.called().await;
        self.store.trigger_version(id).await
    }

    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>> {
        self.between.called().await;
        self.store.list_triggers(limit, cursor).await
    }

    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers> {
        self.between.called().await;
        self.store.due_triggers(now_ms, limit).await
    }
}

#[async_trait]
impl<B: Between> FlowStore for Through<B> {
    async fn flows(&self, one: Option<(&str, &str)>) -> Result<Vec<FlowRecord>> {
        self.between.called().await;
        self.store.flows(one).await
    }
}

#[async_trait]
impl<B: Between> UpkeepStore for Through<B> {
    async fn reclaim(&self) -> Result<Reclaimed> {
        self.between.called().await;
        self.store.reclaim().await
    }

    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64> {
        self.between.called().await;
        self.store.sweep(retention, now, limit).await
    }

    async fn marker(&self, name: &str) -> Result<Option<Json>> {
        self.between.called().await;
        self.store.marker(name).await
    }

    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()> {
        self.between.called().await;
        self.store.set_marker(name, value).await
    }
}

#[async_trait]
impl<B: Between> HealthStore for Through<B> {
    async fn check(&self) -> Result<()> {
        self.between.called().await;
        self.store.check().await
    }

    async fn gone(&self) -> Error {
        self.store.gone().await
    }

    async fn stats(&self) -> Result<Stats> {
        self.between.called().await;
        self.store.stats().await
    }

    async fn describe(&self) -> Result<Json> {
        self.between.called().await;
        self.store.describe().await
    }

    async fn close(&self) -> Result<()> {
        self.between.called().await;
        self.store.close().await
    }
}
