//! Durable data and live delivery, as traits.
//!
//! A [`Store`] keeps runs, their streams, jobs, awaits and flow definitions. The only way to change
//! a run is a [`Commit`]: all changes of one decision, applied whole or rejected. All commits pass
//! through one [`Writer`], which groups the waiting ones into one transaction with one sync to disk
//! and then publishes the new events on the [`Hub`]. The hubs of other instances get hints over a
//! [`Bus`].
//!
//! `store-conformance` is the executable specification of the traits.

pub mod adapter;
mod awaits;
mod bus;
pub mod checksum;
pub mod codec;
mod commit;
pub mod equality;
mod error;
mod group;
mod hub;
pub mod judge;
mod life;
mod log;
mod query;
mod queue;
mod record;
mod story;
mod triggers;
mod writer;

pub use adapter::Store;
pub use awaits::{
    AwaitFilter, AwaitRecord, AwaitState, AwaitStats, Awaited, EmitRecord, Fire, Given, KindStats,
    Matcher, NewAwait, Signal, SignalLane, SignalRecord, SignalsOf, Unheard, UnheardKind,
    same_tenant,
};
pub use bus::{Bus, Hint, LocalBus};
pub use commit::{
    Advance, Append, Change, Commit, CommitIds, Expect, NewRun, NewRunTask, Once, Placed,
    Projection, Receipt, RunTaskChange, Snapshot,
};
pub use error::Error;
pub use group::GroupId;
pub use hub::{
    Batch, Ending, Holder, Hub, Listener, LogBatch, LogListener, LogUpdate, QueueUpdate,
    StreamUpdate, Subscription,
};
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

/// How far [`adapter::QueueStore::jobs_ahead`] counts.
pub const MAX_AHEAD: u64 = 1_000;
