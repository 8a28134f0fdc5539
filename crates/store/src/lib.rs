//! Durable data and live delivery, as traits.
//!
//! A [`Store`] keeps runs, their streams, jobs, awaits and flow definitions. The only way to change
//! a run is a [`Commit`]: everything that one decision changes, applied whole or refused. All commits
//! pass through one [`Writer`], which groups whatever is waiting into one transaction with one
//! sync to disk and, after that, publishes the new events on the [`Bus`].
//!
//! `store-conformance` is the executable meaning of the traits.

mod awaits;
mod bus;
pub mod checksum;
pub mod codec;
mod commit;
pub mod equality;
mod error;
mod group;
pub mod judge;
mod life;
mod log;
mod query;
mod queue;
mod record;
mod story;
mod triggers;
mod writer;

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_types::{Event, EventId, Json, Millis, Name, RunId, StreamName};

pub use awaits::{
    AwaitFilter, AwaitRecord, AwaitState, AwaitStats, Awaited, EmitRecord, Fire, Given, KindStats,
    Matcher, NewAwait, Signal, SignalLane, SignalRecord, Unheard, UnheardKind, same_tenant,
};
pub use bus::{
    Batch, Bus, Ending, Holder, Listener, LogBatch, LogListener, LogUpdate, QueueUpdate,
    StreamUpdate, Subscription,
};
pub use commit::{
    Advance, Append, Change, Commit, Expect, NewRun, NewRunTask, Once, Placed, Projection, Receipt,
    RunTaskChange, Snapshot,
};
pub use error::Error;
pub use group::GroupId;
pub use life::{Life, LifeStage, Reason, Waits, in_order, progress as job_progress};
pub use log::{Kinds, LogPage, LogQuery, Logged, is_derived, topic};
pub use query::{Direction, EventQuery, Page, Place, RunFilter, StreamInfo};
pub use queue::{
    Added, ClaimJobs, ClaimedJob, ClaimedJobs, JobBeats, JobFilter, JobLease, JobRecord, JobState,
    Lasts, NewJob, NewJobs, Note, Purge, QueueRecord, QueueRoom, RateWindow, Settle, Settled,
    StalledJob, Steer, Steered, TakeJobs, Unique, Wanted,
};
pub use record::{
    Beat, ClaimRunTasks, ClaimedRunTask, FlowRecord, Origin, Parent, Reclaimed, Retention,
    RunLease, RunRecord, Stats,
};
pub use story::{InStory, StoryQuery};
pub use triggers::{
    DueTriggers, Fired, Firing, NewTrigger, NextDue, Take, TriggerRecord, TriggerStats,
};
pub use writer::{Then, Writer};

pub type Result<T> = std::result::Result<T, Error>;

/// How far [`Store::jobs_ahead`] counts.
pub const MAX_AHEAD: u64 = 1_000;

/// Durable data. Every method may be called from any task at any time.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Applies each commit of the group whole or refuses it, in order, and makes all of them
    /// durable together before it answers. A refusal touches nobody else in the group; a failure
    /// of the disk fails the whole group. Called by the [`Writer`] alone.
    ///
    /// Each group has an id of its own. A store behind a network keeps it with the group, so that
    /// after a lost answer it finds out whether the group was applied: [`Error::Unavailable`] means
    /// that nothing of it was.
    async fn commit(&self, id: GroupId, group: Arc<[Commit]>) -> Vec<Result<Receipt>>;

    /// The same for one commit with which no other waits, in the calling thread, which is kept until
    /// it is durable. None where that cannot be done, now or ever. Called by the [`Writer`] alone.
    fn commit_here(&self, _commit: &Commit) -> Option<Result<Receipt>> {
        None
    }

    /// The time by the store's clock when this machine's shows `local_ms`. Leases and limits go by
    /// it, so that instances whose clocks differ agree; it never goes back. A store on this machine
    /// has this machine's clock.
    fn now_ms(&self, local_ms: Millis) -> Millis {
        local_ms
    }

    /// Claims up to `claim.limit` run tasks that are due and not leased, or whose lease has run
    /// out, earliest first, and leases them to `claim.owner`, durably.
    async fn claim_run_tasks(&self, claim: ClaimRunTasks) -> Result<Vec<ClaimedRunTask>>;

    /// Moves the expiry of leases that are still held, and tells which were woken or lost.
    async fn heartbeat(&self, leases: &[RunLease], until_ms: Millis) -> Result<Vec<Beat>>;

    /// When the next run task becomes due or the next lease of one runs out.
    async fn next_due(&self) -> Result<Option<Millis>>;

    /// Hands back every lease, whoever holds it, and says of what. Only a store that knows itself
    /// to have one owner may do so; others say of nothing, and rely on expiry.
    async fn reclaim(&self) -> Result<Reclaimed>;

    /// Keeps a run from being claimed until somebody wakes it, without looking at it. For one that
    /// nobody can read; a run that is not there changes nothing.
    async fn set_aside(&self, run: &RunId) -> Result<()>;

    /// A small value of the server's own that is kept under a name.
    async fn marker(&self, name: &str) -> Result<Option<Json>>;

    /// Keeps a small value under a name, durably; none removes it. Where several instances share
    /// the store, the name says whose it is.
    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()>;

    /// Takes up to `claim.limit` jobs of a queue that may begin within its limits, and leases them
    /// to `claim.owner`, durably.
    async fn claim_jobs(&self, claim: ClaimJobs) -> Result<ClaimedJobs>;

    /// A lease that holds nothing yet, for jobs that begin where they are added ([`TakeJobs`]).
    async fn lease_jobs(&self, owner: &Name, until_ms: Millis) -> Result<u64>;

    /// Moves the expiry of the leases with these tokens, and tells which are lost and which jobs
    /// under them somebody wants to stop.
    async fn keep_jobs(&self, tokens: &[u64], until_ms: Millis) -> Result<JobBeats>;

    /// Up to `limit` jobs whose lease has run out, and when the next lease runs out. Delayed jobs
    /// whose time has come wait from now on, also in queues that nobody claims from.
    async fn stalled_jobs(
        &self,
        now_ms: Millis,
        limit: usize,
    ) -> Result<(Vec<StalledJob>, Option<Millis>)>;

    async fn job(&self, id: &RunId) -> Result<Option<JobRecord>>;

    /// The job that was added last, to whatever queue.
    async fn newest_job(&self) -> Result<Option<RunId>>;

    /// How many waiting jobs of the same queue and key (or of none) begin before this one, counted
    /// up to [`MAX_AHEAD`]. None if it does not wait.
    async fn jobs_ahead(&self, id: &RunId) -> Result<Option<u64>>;

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>>;

    async fn queue(&self, name: &str) -> Result<Option<QueueRecord>>;

    /// Every queue, by name.
    async fn queues(&self) -> Result<Vec<QueueRecord>>;

    /// How many jobs of a key in a queue are active.
    async fn active_of_key(&self, queue: &str, key: &str) -> Result<u64>;

    /// Removes up to `purge.limit` jobs that are not active, the oldest first, and says how many.
    async fn purge_jobs(&self, purge: &Purge) -> Result<u64>;

    /// The await of an id, with what it was fired with.
    async fn await_by(&self, id: &str) -> Result<Option<AwaitRecord>>;

    /// The awaits of a run that are open or fired, oldest first, with what they were fired with.
    async fn awaits_of(&self, run: &RunId) -> Result<Vec<AwaitRecord>>;

    /// A page of awaits, newest first.
    async fn list_awaits(&self, filter: &AwaitFilter) -> Result<Page<AwaitRecord>>;

    async fn await_stats(&self) -> Result<AwaitStats>;

    /// The outbox: up to `limit` signals with numbers above `after`, in order, and fewer where they
    /// are large (see [`EventQuery::PAGE_BYTES`]): only an empty answer means that there are none.
    /// A signal stays until it is [removed](Change::RemoveSignal).
    async fn signals(&self, after: u64, limit: usize) -> Result<Vec<SignalRecord>>;

    /// As [`Store::signals`], of one lane alone.
    async fn signals_of(
        &self,
        lane: &SignalLane,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SignalRecord>>;

    /// The open awaits that a signal of the outbox may fire and has not, oldest first: those that
    /// were there before its event, of its tenant, with equalities that hold. One with a filter is
    /// to be judged; one without was left over (see [`Signal::MAX_FIRED`]) and is to be fired.
    async fn candidates(
        &self,
        signal: &SignalRecord,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<AwaitRecord>>;

    /// The signals of the outbox with numbers above `after` that this open await may mean and that
    /// came in its time, in order; fewer where they are large, as with [`Store::signals`]. Whether
    /// equalities hold is left to the caller.
    async fn signals_for(&self, id: &str, after: u64, limit: usize) -> Result<Vec<SignalRecord>>;

    /// Up to `limit` emitted events with numbers above `after`, in order, as far as they are kept;
    /// fewer where they are large, as with [`Store::signals`].
    async fn emitted(&self, after: u64, limit: usize) -> Result<Vec<EmitRecord>>;

    /// The events that were appended under a key ([`Change::Once`]), as long as emitted events are
    /// kept.
    async fn once(&self, key: &str) -> Result<Option<Vec<EventId>>>;

    /// How many emitted events nobody reacted to.
    async fn unheard(&self) -> Result<Unheard>;

    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>>;

    /// A page of triggers, by id.
    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>>;

    /// Up to `limit` enabled schedules that are due, and when another one will be.
    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers>;

    /// The version under which a trigger that is there, or was there and is remembered, is known.
    async fn trigger_version(&self, id: &str) -> Result<Option<u64>>;

    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>>;

    /// The records of those of `ids` that exist, in any order.
    async fn runs(&self, ids: &[RunId]) -> Result<Vec<RunRecord>>;

    /// A page of runs, newest first.
    async fn list_runs(&self, filter: &RunFilter) -> Result<Page<RunRecord>>;

    /// Events of a stream: at most `query.limit`, and fewer where they are large (see
    /// [`EventQuery::PAGE_BYTES`]). An unknown stream is empty. A job's stream ends with what its
    /// row knows of its life and the stream does not hold yet ([`Life::unrecorded`]).
    async fn events(&self, stream: &StreamName, query: &EventQuery) -> Result<Vec<Event>>;

    /// Events of all streams, in the order of their commits: at most `query.limit`, and fewer where
    /// they are large or far apart. Once a page was answered nothing appears before its `next`, so
    /// a reader that goes on from there misses nothing. What was deleted or trimmed is left out.
    async fn log(&self, query: &LogQuery) -> Result<LogPage>;

    /// The number of the log's last event, whether it is still kept or not; 0 before the first.
    async fn log_end(&self) -> Result<u64>;

    /// A page of the events of a story, in the order of their times; those of one time by stream. An
    /// id that nothing has is an empty page.
    async fn story(&self, query: &StoryQuery) -> Result<Page<InStory>>;

    /// How many events of the stream stand at or before a place: the length of the prefix.
    async fn locate(&self, stream: &StreamName, place: Place) -> Result<u64>;

    /// The latest snapshot that covers at most the first `len` events of the run's stream.
    async fn snapshot(&self, run: &RunId, len: u64) -> Result<Option<Snapshot>>;

    /// A page of the streams of one type that are not runs', newest first.
    async fn list_streams(
        &self,
        kind: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<StreamInfo>>;

    async fn flow(&self, id: &str, version: &str) -> Result<Option<FlowRecord>>;

    /// Every definition that is registered, in no particular order.
    async fn flows(&self) -> Result<Vec<FlowRecord>>;

    /// Deletes up to `limit` ended runs, ended jobs and emitted events whose time is over, with all
    /// that is theirs, and says how many. An event that is in the outbox stays.
    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64>;

    async fn stats(&self) -> Result<Stats>;

    /// Proves that a write can be made durable now, and that there is room for more.
    async fn check(&self) -> Result<()>;

    /// Resolves, with the reason, when the data was taken away under the store, so that it can
    /// never be written again. A store to which that cannot happen never resolves.
    async fn gone(&self) -> Error {
        std::future::pending().await
    }

    /// Finishes what is under way and closes. Later calls answer [`Error::Closed`].
    async fn close(&self) -> Result<()>;

    /// Facts about the adapter for people: its name, where the data is, versions, sizes.
    async fn describe(&self) -> Result<Json>;
}
