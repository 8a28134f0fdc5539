//! Records that a store returns.

use riverrun_types::{Json, Millis, Name, RunId, RunStatus};
use serde::Serialize;

/// A run as lists show it: its identity and the projection of its stream.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    pub id: RunId,
    pub flow: Name,
    pub version: Name,
    pub status: RunStatus,
    pub created_ms: Millis,
    /// The time of the last event, or of its creation if that is later.
    pub updated_ms: Millis,
    pub ended_ms: Option<Millis>,
    pub wake_ms: Option<Millis>,
    pub error: Option<Json>,
    pub idempotency_key: Option<Name>,
    pub tenant: Option<Name>,
    pub tags: Vec<Name>,
    pub metadata: Option<Json>,
    pub parent: Option<Parent>,
    pub origin: Option<Origin>,
    /// The story that the run belongs to, if it is not its own.
    pub correlation: Option<Name>,
    /// Events in its stream.
    pub len: u64,
    /// Decisions taken.
    pub turn: u64,
}

/// The run and the step's visit that started a child.
#[derive(Clone, Debug, PartialEq)]
pub struct Parent {
    pub run: RunId,
    pub step: Name,
    pub visit: u32,
}

/// The run that this one was forked or rerun from, and the event up to which it shares its past.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub run: RunId,
    /// None for a rerun, which shares only the input.
    pub event: Option<riverrun_types::EventId>,
}

/// A claim on a run task. Every outcome is fenced by its token.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLease {
    pub run: RunId,
    pub token: u64,
}

/// A request for run tasks.
#[derive(Clone, Debug)]
pub struct ClaimRunTasks {
    pub owner: Name,
    pub limit: usize,
    pub now_ms: Millis,
    pub until_ms: Millis,
}

/// A claimed run task.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedRunTask {
    pub lease: RunLease,
    pub flow: Name,
    pub version: Name,
    /// When it had become due, or when the lease of its last holder expired. 0 for a task that was
    /// woken or released: it has no due time, and goes before all others.
    pub due_ms: Millis,
}

/// The result of a heartbeat for a lease.
///
/// A wake is reported once: the next heartbeat returns `Held` again unless the task was woken anew.
/// The report does not use the wake up: when the holder parks the task, it is still due at once,
/// because the store cannot know whether the holder had looked before or after it was woken. A new
/// claim begins without wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    Held,
    /// Held, and the task was woken since it was claimed or since the last heartbeat.
    Woken,
    Lost,
}

/// A stored definition.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRecord {
    pub id: Name,
    pub version: Name,
    pub definition: Json,
    pub created_ms: Millis,
}

/// The work of released leases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Runs that were being driven.
    pub runs: Vec<RunId>,
    /// Jobs of queues that were active.
    pub jobs: Vec<RunId>,
}

/// How long ended runs are kept, by status, and emitted events. None keeps for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retention {
    pub completed_ms: Option<Millis>,
    pub failed_ms: Option<Millis>,
    pub cancelled_ms: Option<Millis>,
    /// The log of emitted events, for awaits that look back and for subscribers to a kind. The
    /// events themselves stay in their streams.
    pub emits_ms: Option<Millis>,
}

impl Retention {
    pub const DAY_MS: Millis = 86_400_000;

    pub fn of(&self, status: RunStatus) -> Option<Millis> {
        match status {
            RunStatus::Completed => self.completed_ms,
            RunStatus::Failed => self.failed_ms,
            RunStatus::Cancelled => self.cancelled_ms,
            _ => None,
        }
    }

    /// The ended runs that are deleted first, and how long they are kept. None if all are kept.
    pub fn shortest(&self) -> Option<(RunStatus, Millis)> {
        let ended = [
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::Cancelled,
        ];
        let kept = ended.map(|status| Some((status, self.of(status)?)));
        kept.into_iter().flatten().min_by_key(|(_, ms)| *ms)
    }
}

impl Default for Retention {
    /// Completed 7 days, failed and cancelled 30, emitted events 7.
    fn default() -> Self {
        Self {
            completed_ms: Some(7 * Self::DAY_MS),
            failed_ms: Some(30 * Self::DAY_MS),
            cancelled_ms: Some(30 * Self::DAY_MS),
            emits_ms: Some(7 * Self::DAY_MS),
        }
    }
}

/// Counts for people and health checks.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Run tasks that are due now and not leased.
    pub ready: u64,
    pub leased: u64,
    /// Run tasks whose time is in the future.
    pub parked: u64,
    /// Bytes on disk, if the store knows them.
    pub bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_runs_are_kept_a_week_and_others_a_month() {
        let kept = |status| {
            Retention::default()
                .of(status)
                .map(|ms| ms / Retention::DAY_MS)
        };
        assert_eq!(kept(RunStatus::Completed), Some(7));
        assert_eq!(kept(RunStatus::Failed), Some(30));
        assert_eq!(kept(RunStatus::Cancelled), Some(30));
        assert_eq!(kept(RunStatus::Running), None);
    }
}
