//! Claims of jobs: their holder, their limits, and the claimed jobs.

use riverrun_types::{Json, Millis, Name, QueueLimits, RunId};

/// A claim on one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobLease {
    pub id: RunId,
    pub queue: Name,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// Where the store finds it; callers pass it back unchanged.
    pub place: i64,
    pub token: u64,
}

/// A request for jobs of one queue.
#[derive(Clone, Debug)]
pub struct ClaimJobs {
    pub queue: Name,
    pub owner: Name,
    pub limit: usize,
    pub now_ms: Millis,
    pub until_ms: Millis,
    pub limits: QueueLimits,
}

/// The writer of added jobs has room for them: they are created as active under this lease and need
/// not be claimed. A job waits like any other if its queue is paused, if another job waits or is
/// delayed and goes first, without room, or if the lease is lost.
#[derive(Clone, Debug)]
pub struct TakeJobs {
    /// From [`crate::adapter::QueueStore::lease_jobs`].
    pub token: u64,
    pub now_ms: Millis,
    pub rooms: Vec<QueueRoom>,
}

/// Room for jobs of a queue.
#[derive(Clone, Debug)]
pub struct QueueRoom {
    pub queue: Name,
    pub jobs: usize,
    /// Jobs of the queue that are active at once, on all instances together.
    pub concurrency: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimedJobs {
    pub jobs: Vec<ClaimedJob>,
    /// When to claim again if nothing else happens: a delayed job's time, the end of a rate's
    /// window, when a part of a batch has waited long enough.
    pub next_ms: Option<Millis>,
    /// Some waiting jobs were not taken: without room, or because of a limit.
    pub are_left: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    pub lease: JobLease,
    pub name: Option<Name>,
    pub data: Json,
    pub key: Option<Name>,
    /// This attempt's number, from 1.
    pub attempt: u32,
    /// Attempts before it that were lost with their worker, and how many of them in a row.
    pub losses: u32,
    pub losses_in_row: u32,
    pub created_ms: Millis,
    /// When it could begin: when it was added, its delay was over, or it was to be tried again.
    /// Never before it was added.
    pub ready_ms: Millis,
    pub options: Option<Json>,
    pub checkpoint: Option<Json>,
    /// Its stream has events already.
    pub has_stream: bool,
}

/// A job whose lease has expired.
#[derive(Clone, Debug, PartialEq)]
pub struct StalledJob {
    pub job: ClaimedJob,
    pub queue: Name,
    pub cancelling: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobBeats {
    /// Tokens that are held no longer.
    pub lost: Vec<u64>,
    /// Jobs under the leases that must stop.
    pub cancelling: Vec<RunId>,
}
