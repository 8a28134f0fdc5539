//! The embedded store: one SQLite file in a data folder that has one owner.
//!
//! One thread writes (`thread`): it takes everything that waits, does it in one transaction and
//! answers after the sync to disk. Reads go to a small pool of read-only connections (`read`),
//! which see only what is durable. What a commit means is in `apply`.
//!
//! It has no clock of its own, except to say in [`Store::stats`] what is due now and to look now
//! and then whether its files are still there (`files`).

mod acknowledged;
mod apply;
mod awaits;
mod backup;
mod columns;
mod connection;
mod core;
mod creation_drift;
mod error;
mod files;
mod folder;
mod lock;
mod log;
mod log_marks;
mod log_room;
mod mark;
mod marker;
mod migrate;
mod names;
mod once;
mod open;
mod positioned;
mod queue;
mod read;
mod reserve;
mod room;
mod run_task_lease;
mod thread;
mod triggers;
mod upkeep;
mod verify;
mod wal;

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use riverrun_store::{
    AwaitFilter, AwaitRecord, AwaitStats, Beat, ClaimJobs, ClaimRunTasks, ClaimedJobs,
    ClaimedRunTask, Commit, DueTriggers, EmitRecord, Error, EventQuery, FlowRecord, GroupId,
    InStory, JobBeats, JobFilter, JobRecord, LogPage, LogQuery, Page, Place, Purge, QueueRecord,
    Receipt, Reclaimed, Result, Retention, RunFilter, RunLease, RunRecord, SignalLane,
    SignalRecord, Snapshot, StalledJob, Stats, Store, StoryQuery, StreamInfo, TriggerRecord,
    Unheard,
};
use riverrun_types::{Event, EventId, Json, Millis, Name, RunId, StreamName};

pub use backup::{OnProgress, Pace, backup, restore};
pub use open::{Options, SqliteStore};
pub use verify::{Finding, Inspector, Report, RunRow, verify, verify_file};

/// Events of one read that take no longer than handing it to another thread.
const FEW: usize = 32;

#[async_trait]
impl Store for SqliteStore {
    /// The group's id is not stored: no answer of this store is lost without the process.
    async fn commit(&self, _id: GroupId, group: Arc<[Commit]>) -> Vec<Result<Receipt>> {
        let (count, each) = (group.len(), group.clone());
        let done = self.writer.write(move |core| apply::group(core, &group));
        match done.await {
            Ok(results) => results,
            // One of them met a damaged page: the others are not to suffer for it.
            Err(Error::Corrupt(_)) if count > 1 => self.one_by_one(&each).await,
            // There is room for what takes away, now that the reserve was given back.
            Err(Error::Full(_)) if each.iter().any(reserve::relieves) => {
                self.one_by_one(&each).await
            }
            Err(error) => vec![Err(error); count],
        }
    }

    fn commit_here(&self, commit: &Commit) -> Option<Result<Receipt>> {
        let group = std::slice::from_ref(commit);
        let write = || self.writer.write_here(|core| apply::group(core, group));
        let mut done = write()?;
        // There is room for what takes away, now that the reserve was given back.
        if matches!(done, Err(Error::Full(_))) && reserve::relieves(commit) {
            done = write()?;
        }
        Some(done.and_then(|mut results| results.pop().unwrap_or_else(|| Err(core::lost()))))
    }

    async fn claim_run_tasks(&self, claim: ClaimRunTasks) -> Result<Vec<ClaimedRunTask>> {
        self.writer
            .write(move |core| {
                core.judge_room()?;
                run_task_lease::claim(core, &claim)
            })
            .await
    }

    async fn heartbeat(&self, leases: &[RunLease], until_ms: Millis) -> Result<Vec<Beat>> {
        let leases = leases.to_vec();
        self.writer
            .write(move |core| run_task_lease::heartbeat(core, &leases, until_ms))
            .await
    }

    async fn next_due(&self) -> Result<Option<Millis>> {
        self.read(read::next_due).await
    }

    async fn reclaim(&self) -> Result<Reclaimed> {
        self.writer
            .write(|core| {
                Ok(Reclaimed {
                    runs: run_task_lease::reclaim(core)?,
                    jobs: queue::reclaim(core)?,
                })
            })
            .await
    }

    async fn set_aside(&self, run: &RunId) -> Result<()> {
        let run = run.clone();
        self.writer
            .write(move |core| run_task_lease::set_aside(core, &run))
            .await
    }

    async fn marker(&self, name: &str) -> Result<Option<Json>> {
        let name = name.to_owned();
        self.read(move |view| read::marker(view, &name)).await
    }

    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()> {
        let name = name.to_owned();
        self.writer
            .write(move |core| marker::set(core, &name, value.as_ref()))
            .await
    }

    async fn claim_jobs(&self, claim: ClaimJobs) -> Result<ClaimedJobs> {
        self.writer
            .write(move |core| {
                core.judge_room()?;
                queue::claim(core, &claim)
            })
            .await
    }

    async fn lease_jobs(&self, owner: &Name, until_ms: Millis) -> Result<u64> {
        let owner = owner.clone();
        self.writer
            .write(move |core| {
                core.judge_room()?;
                queue::lease(core, &owner, until_ms)
            })
            .await
    }

    async fn keep_jobs(&self, tokens: &[u64], until_ms: Millis) -> Result<JobBeats> {
        let tokens = tokens.to_vec();
        self.writer
            .write(move |core| queue::keep(core, &tokens, until_ms))
            .await
    }

    async fn stalled_jobs(
        &self,
        now_ms: Millis,
        limit: usize,
    ) -> Result<(Vec<StalledJob>, Option<Millis>)> {
        self.writer
            .write(move |core| queue::stalled(core, now_ms, limit))
            .await
    }

    async fn jobs_ahead(&self, id: &RunId) -> Result<Option<u64>> {
        let id = id.clone();
        self.read(move |view| read::jobs_ahead(view, &id)).await
    }

    async fn newest_job(&self) -> Result<Option<RunId>> {
        self.read(read::newest_job).await
    }

    async fn job(&self, id: &RunId) -> Result<Option<JobRecord>> {
        let id = id.clone();
        self.glance(move |view| read::job(view, &id)).await
    }

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>> {
        let filter = filter.clone();
        self.read(move |view| read::list_jobs(view, &filter)).await
    }

    async fn queue(&self, name: &str) -> Result<Option<QueueRecord>> {
        let name = name.to_owned();
        self.glance(move |view| read::queue(view, &name)).await
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>> {
        self.read(read::queues).await
    }

    async fn active_of_key(&self, queue: &str, key: &str) -> Result<u64> {
        let (queue, key) = (queue.to_owned(), key.to_owned());
        self.read(move |view| read::active_of_key(view, &queue, &key))
            .await
    }

    async fn purge_jobs(&self, purge: &Purge) -> Result<u64> {
        let purge_now = || {
            let purge = purge.clone();
            self.writer.write(move |core| queue::purge(core, &purge))
        };
        match purge_now().await {
            // The reserve was given back.
            Err(Error::Full(_)) => purge_now().await,
            done => done,
        }
    }

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

    async fn signals(&self, after: u64, limit: usize) -> Result<Vec<SignalRecord>> {
        self.read(move |view| read::signals(view, None, after, limit))
            .await
    }

    async fn signals_of(
        &self,
        lane: &SignalLane,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SignalRecord>> {
        let lane = lane.clone();
        self.read(move |view| read::signals(view, Some(&lane), after, limit))
            .await
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

    async fn signals_for(&self, id: &str, after: u64, limit: usize) -> Result<Vec<SignalRecord>> {
        let id = id.to_owned();
        self.glance(move |view| read::signals_for(view, &id, after, limit))
            .await
    }

    async fn emitted(&self, after: u64, limit: usize) -> Result<Vec<EmitRecord>> {
        self.read(move |view| read::emitted(view, after, limit))
            .await
    }

    async fn once(&self, key: &str) -> Result<Option<Vec<EventId>>> {
        let key = key.to_owned();
        self.read(move |view| read::once(view, &key)).await
    }

    async fn unheard(&self) -> Result<Unheard> {
        self.read(read::unheard).await
    }

    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>> {
        let id = id.to_owned();
        self.glance(move |view| read::trigger(view, &id)).await
    }

    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>> {
        let cursor = cursor.map(str::to_owned);
        self.read(move |view| read::list_triggers(view, limit, cursor.as_deref()))
            .await
    }

    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers> {
        self.read(move |view| read::due_triggers(view, now_ms, limit))
            .await
    }

    async fn trigger_version(&self, id: &str) -> Result<Option<u64>> {
        let id = id.to_owned();
        self.read(move |view| read::trigger_version(view, &id))
            .await
    }

    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>> {
        let id = id.clone();
        self.find(move |view| read::run(view, &id)).await
    }

    async fn runs(&self, ids: &[RunId]) -> Result<Vec<RunRecord>> {
        let ids = ids.to_vec();
        self.read(move |view| read::runs(view, &ids)).await
    }

    async fn list_runs(&self, filter: &RunFilter) -> Result<Page<RunRecord>> {
        let filter = filter.clone();
        self.read(move |view| read::list_runs(view, &filter)).await
    }

    async fn events(&self, stream: &StreamName, query: &EventQuery) -> Result<Vec<Event>> {
        let (stream, query) = (stream.clone(), query.clone());
        let few = query.limit <= FEW;
        let read = move |view: read::View<'_>| read::events(view, &stream, &query);
        match few {
            true => self.glance(read).await,
            false => self.read(read).await,
        }
    }

    async fn log(&self, query: &LogQuery) -> Result<LogPage> {
        let query = query.clone();
        self.read(move |view| read::log(view, &query)).await
    }

    async fn log_end(&self) -> Result<u64> {
        self.read(read::log_end).await
    }

    async fn story(&self, query: &StoryQuery) -> Result<Page<InStory>> {
        let query = query.clone();
        self.read(move |view| read::story(view, &query)).await
    }

    async fn locate(&self, stream: &StreamName, place: Place) -> Result<u64> {
        let stream = stream.clone();
        self.read(move |view| read::locate(view, &stream, place))
            .await
    }

    async fn snapshot(&self, run: &RunId, len: u64) -> Result<Option<Snapshot>> {
        let run = run.clone();
        self.read(move |view| read::snapshot(view, &run, len)).await
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

    async fn flow(&self, id: &str, version: &str) -> Result<Option<FlowRecord>> {
        let (id, version) = (id.to_owned(), version.to_owned());
        self.glance(move |view| read::flow(view, &id, &version))
            .await
    }

    async fn flows(&self) -> Result<Vec<FlowRecord>> {
        self.read(read::flows).await
    }

    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64> {
        let retention = *retention;
        self.writer
            .write(move |core| {
                let runs = upkeep::sweep(core, &retention, now, limit)?;
                let room = limit.saturating_sub(runs as usize);
                let jobs = queue::sweep(core, &retention, now, room)?;
                let room = room.saturating_sub(jobs as usize);
                let emits = awaits::trim(core, &retention, now, room)?;
                let room = room.saturating_sub(emits as usize);
                Ok(runs + jobs + emits + triggers::sweep(core, &retention, now, room)?)
            })
            .await
    }

    async fn stats(&self) -> Result<Stats> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = now.map_or(0, |now| now.as_millis() as Millis);
        let stats = self.read(move |view| read::stats(view, now_ms)).await?;
        Ok(Stats {
            bytes: self.bytes(),
            ..stats
        })
    }

    async fn check(&self) -> Result<()> {
        self.writer.look(|core| core.look()).await?;
        self.room().await?;
        self.writer
            .write(|core| {
                core.judge_room()?;
                upkeep::check(core)
            })
            .await
    }

    async fn gone(&self) -> Error {
        self.watched().await
    }

    async fn close(&self) -> Result<()> {
        self.shut().await
    }

    async fn describe(&self) -> Result<Json> {
        self.facts().await
    }
}
