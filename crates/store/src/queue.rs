//! Jobs in queues: what is added, claimed and settled, and what lists show of it.
//!
//! A job is one row for its whole life. It waits, is claimed under a lease, and every outcome is
//! judged by that lease's token: a worker whose lease is gone can record nothing. What a job's
//! options mean (how often it is tried, after which delay) the store does not know; it keeps them
//! and applies the decisions of others.

use std::sync::Arc;

use riverrun_types::{Json, Millis, Name, RunId};
use serde_json::json;

use crate::Change;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// May be claimed.
    Waiting,
    /// Waits for its time.
    Delayed,
    /// Leased.
    Active,
    Completed,
    /// Failed for good: a dead letter of its queue.
    Failed,
    Cancelled,
}

impl JobState {
    pub const ALL: [Self; 6] = [
        Self::Active,
        Self::Waiting,
        Self::Delayed,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delayed => "delayed",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A job that is added to a queue. The queue is made by its first job.
#[derive(Clone, Debug)]
pub struct NewQueued {
    /// The same id again is the same job: nothing is added.
    pub id: RunId,
    /// Somebody chose the id: if a job of another queue has it, the commit is refused.
    pub is_named: bool,
    pub queue: Name,
    /// The queue's name when absent.
    pub name: Option<Name>,
    pub data: Json,
    /// Higher goes first, within a key.
    pub priority: i32,
    /// Not before this time.
    pub at_ms: Option<Millis>,
    pub created_ms: Millis,
    /// Jobs of one key share its concurrency and its turn: keys are served in turn.
    pub key: Option<Name>,
    pub unique: Option<Unique>,
    /// The story that it belongs to, if that is not its own.
    pub correlation: Option<Name>,
    /// Everything else that was asked for, as JSON.
    pub options: Option<Json>,
}

/// A name under which a queue has at most one job at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique {
    pub key: Name,
    pub lasts: Lasts,
    /// A job of that name that is still delayed becomes the new one instead of staying as it is;
    /// one that has begun, be it only to fail and wait again, does not count.
    pub replace: bool,
}

/// How long the name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until the job ends.
    UntilEnd,
    /// As long as the job is known.
    Always,
    Until(Millis),
}

/// What became of a job that was to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    pub id: RunId,
    /// False: a job of this id or unique name was there; `id` is that job's.
    pub created: bool,
}

/// A claim on one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobLease {
    pub id: RunId,
    pub queue: Name,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// Where the store finds it; means nothing to anybody else.
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

/// Whoever adds jobs has room for them: they are born active under this lease and need not be
/// claimed. A job waits like any other where its queue is paused, where another one waits or is
/// delayed, which goes first, where there is no room, or where the lease is gone.
#[derive(Clone, Debug)]
pub struct TakeJobs {
    /// Given by [`crate::Store::lease_jobs`].
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

/// What holds for a queue on all instances together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueLimits {
    /// Jobs that are active at once.
    pub concurrency: Option<u32>,
    /// Jobs of one key that are active at once.
    pub per_key: Option<u32>,
    pub rate: Option<Rate>,
    /// Do not claim fewer than this many before the first of them has waited for that long.
    pub gather: Option<Gather>,
}

/// At most `max` begin within any window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub max: u32,
    pub window_ms: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gather {
    pub count: u32,
    pub wait_ms: Millis,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimedJobs {
    pub jobs: Vec<ClaimedJob>,
    /// When it makes sense to ask again if nothing else happens: a delayed job's time, the end of
    /// a rate's window.
    pub next_ms: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    pub lease: JobLease,
    pub name: Option<Name>,
    pub data: Json,
    pub key: Option<Name>,
    /// This attempt's number, from 1.
    pub attempt: u32,
    pub created_ms: Millis,
    /// When it could begin: when it was added, its delay was over, or it was to be tried again.
    /// Never before it was added.
    pub ready_ms: Millis,
    pub options: Option<Json>,
    pub checkpoint: Option<Json>,
    /// Its stream holds something already.
    pub has_stream: bool,
}

/// The outcome of an attempt.
#[derive(Clone, Debug)]
pub struct Settle {
    pub lease: JobLease,
    pub now_ms: Millis,
    /// Holds only if the lease has run out by now: said by somebody other than its holder.
    pub if_expired: bool,
    pub outcome: Settled,
}

impl Settle {
    /// What the holder of the lease says of its attempt.
    pub fn new(lease: &JobLease, outcome: Settled, now_ms: Millis) -> Self {
        Self {
            lease: lease.clone(),
            now_ms,
            if_expired: false,
            outcome,
        }
    }
}

impl From<Settle> for Change {
    fn from(settle: Settle) -> Self {
        Self::Settle(Box::new(settle))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    Completed {
        result: Json,
    },
    /// Again at a time. A job that somebody has cancelled meanwhile ends as cancelled instead: who
    /// decided on another attempt did not know.
    Retry {
        at_ms: Millis,
        error: Json,
    },
    Failed {
        error: Json,
    },
    Cancelled {
        error: Json,
    },
    /// Failed, and nobody wants to know: the job is removed.
    Dropped,
    /// Was not begun: waits again, and the attempt does not count. Cancelled as above.
    Released,
}

/// A job whose holder has not been heard of in time.
#[derive(Clone, Debug, PartialEq)]
pub struct StalledJob {
    pub job: ClaimedJob,
    pub queue: Name,
    pub cancelling: bool,
}

/// Something that an attempt stores while it runs.
#[derive(Clone, Debug)]
pub struct Note {
    pub lease: JobLease,
    pub now_ms: Millis,
    pub progress: Option<Json>,
    /// For the next attempt, if there is one.
    pub checkpoint: Option<Json>,
}

impl Note {
    /// Stores nothing by itself, but whatever is committed with it counts only under the lease.
    pub fn new(lease: &JobLease, now_ms: Millis) -> Self {
        Self {
            lease: lease.clone(),
            now_ms,
            progress: None,
            checkpoint: None,
        }
    }
}

impl From<Note> for Change {
    fn from(note: Note) -> Self {
        Self::Note(Box::new(note))
    }
}

/// What people do to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Steer {
    /// A delayed job may be claimed now.
    Promote,
    /// A failed, cancelled or completed job waits again, from its first attempt on. What had not
    /// ended well keeps its checkpoint.
    Retry {
        at_ms: Millis,
    },
    /// A job that is not active is removed.
    Remove,
    /// A job that has not begun ends; of one that runs the holder is told, and the reason is the
    /// message of the error that it ends with.
    Cancel {
        reason: Option<String>,
    },
    Priority(i32),
    /// A waiting or delayed job begins not before this time.
    Delay {
        at_ms: Millis,
    },
}

impl Steer {
    /// The error of a job that is cancelled before it has begun.
    pub fn cancelled(reason: Option<&str>) -> Json {
        Json::of(&json!({"code": "CANCELLED", "message": reason.unwrap_or("cancelled")}))
    }
}

/// A job that somebody did something to.
#[derive(Clone, Debug, PartialEq)]
pub struct Steered {
    pub queue: Name,
    /// Where it stood before.
    pub state: JobState,
    /// Attempts begun before.
    pub attempt: u32,
}

/// A job as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    pub id: RunId,
    pub queue: Name,
    pub name: Option<Name>,
    pub state: JobState,
    pub data: Json,
    pub priority: i32,
    pub key: Option<Name>,
    /// Attempts begun.
    pub attempt: u32,
    pub created_ms: Millis,
    /// Of a delayed job.
    pub at_ms: Option<Millis>,
    /// Of the latest attempt.
    pub started_ms: Option<Millis>,
    pub ended_ms: Option<Millis>,
    /// The holder is to stop it.
    pub cancelling: bool,
    pub options: Option<Json>,
    pub progress: Option<Json>,
    pub checkpoint: Option<Json>,
    pub result: Option<Json>,
    /// Of the latest attempt that failed; none once one has succeeded. Of a job that is to stop,
    /// the reason.
    pub error: Option<Json>,
    pub owner: Option<Name>,
    pub until_ms: Option<Millis>,
}

/// Which jobs a list shows: of one state in the order in which they will begin or have ended
/// (newest first), or of all states, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFilter {
    pub queue: Name,
    pub states: Vec<JobState>,
    /// A list of what else jobs must have looks at a bounded number of them: a page may then hold
    /// fewer than `limit`, even none, although more follow.
    pub wanted: Wanted,
    /// Rows a page: at least 1.
    pub limit: usize,
    pub cursor: Option<String>,
}

/// What else a job must have, all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The code of its error.
    pub code: Option<String>,
    /// Its name; one without has its queue's.
    pub name: Option<String>,
    pub key: Option<String>,
    /// One of the `tags` in its options.
    pub tag: Option<String>,
    /// Ended, or added if it has not, at or before this time.
    pub before_ms: Option<Millis>,
    /// The same, at or after.
    pub after_ms: Option<Millis>,
}

impl Wanted {
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    pub fn fits(&self, job: &JobRecord) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|text| found == Some(text))
        };
        let ms = job.ended_ms.unwrap_or(job.created_ms);
        is(&self.name, Some(job.name.as_ref().unwrap_or(&job.queue)))
            && is(&self.key, job.key.as_deref())
            && self.before_ms.is_none_or(|before| ms <= before)
            && self.after_ms.is_none_or(|after| ms >= after)
            && self.has_code(job)
            && self.has_tag(job)
    }

    fn has_code(&self, job: &JobRecord) -> bool {
        let Some(code) = &self.code else {
            return true;
        };
        let found = job.error.as_ref().and_then(|error| error.get("code"));
        found.is_some_and(|found| found.as_text() == code.as_str())
    }

    fn has_tag(&self, job: &JobRecord) -> bool {
        let Some(tag) = &self.tag else {
            return true;
        };
        let tags = job.options.as_ref().and_then(|options| options.get("tags"));
        let tags = tags.and_then(|tags| tags.read::<Vec<String>>().ok());
        tags.is_some_and(|tags| tags.contains(tag))
    }
}

/// A queue and how many jobs it has in each state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueRecord {
    pub name: Name,
    pub paused: bool,
    pub created_ms: Millis,
    pub waiting: u64,
    pub delayed: u64,
    pub active: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Since when the job has waited that has waited longest: since it was added, or since its delay
    /// was over.
    pub oldest_ms: Option<Millis>,
    /// The latest window in which jobs were counted, where the queue has been claimed from under a
    /// rate. It may be over.
    pub rate: Option<RateWindow>,
}

/// A window of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateWindow {
    pub from_ms: Millis,
    /// Jobs begun in it.
    pub begun: u64,
}

impl QueueRecord {
    pub fn count(&self, state: JobState) -> u64 {
        match state {
            JobState::Waiting => self.waiting,
            JobState::Delayed => self.delayed,
            JobState::Active => self.active,
            JobState::Completed => self.completed,
            JobState::Failed => self.failed,
            JobState::Cancelled => self.cancelled,
        }
    }
}

/// What a holder is told at a heartbeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobBeats {
    /// Tokens that are held no longer.
    pub lost: Vec<u64>,
    /// Jobs under the leases that somebody wants to stop.
    pub cancelling: Vec<RunId>,
}

/// Which jobs of a queue are removed together.
#[derive(Clone, Debug)]
pub struct Purge {
    pub queue: Name,
    pub state: JobState,
    /// Ended, or added if they have not, at or before this time.
    pub before_ms: Millis,
    /// Jobs that have not ended stay if their options have this member.
    pub spare: Option<&'static str>,
    pub limit: usize,
}

/// Jobs to add, in order, all or none.
pub type NewJobs = Arc<[NewQueued]>;
