//! Jobs in queues: adding, claiming, settling, steering and listing them.
//!
//! A job is one row for its whole life. It waits, is claimed under a lease, and every outcome is
//! judged by that lease's token: a worker that has lost its lease cannot record an outcome. The
//! store does not interpret a job's options (how often it is tried, after which delay); it stores
//! them and applies the decisions of others.

mod add;
mod claim;
mod lists;
mod settle;
mod steer;

pub use add::{Added, Lasts, NewJob, NewJobs, Unique};
pub use claim::{
    ClaimJobs, ClaimedJob, ClaimedJobs, JobBeats, JobLease, QueueRoom, StalledJob, TakeJobs,
};
pub use lists::{JobFilter, JobRecord, QueueRecord, RateWindow, Wanted};
pub use settle::{Note, Settle, Settled};
pub use steer::{Purge, Steer, Steered};

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// May be claimed.
    Waiting,
    /// Waits for its due time.
    Delayed,
    /// Leased.
    Active,
    /// Set aside: not claimed until it is released. It keeps its data and its attempts.
    Parked,
    Completed,
    /// Failed for good: a dead letter of its queue.
    Failed,
    Cancelled,
}

impl JobState {
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Waiting,
        Self::Delayed,
        Self::Parked,
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
            Self::Parked => "parked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}
