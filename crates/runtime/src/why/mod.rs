//! Why a run does not move: one reason for each of its active visits, the most useful first.
//!
//! The judgement is a pure function of a run's state and of facts about its jobs, awaits and
//! children (`facts`). `read` reads the facts, `words` formats a reason in a line.

mod facts;
mod judge;
mod read;
#[cfg(test)]
mod tests;
mod words;

pub use read::Reasons;

use riverrun_engine::Failure;
use riverrun_store::JobState;
use riverrun_types::{Code, Json, Millis, Name, RunId, TriggerType, VisitStatus, time::Iso};
use serde::Serialize;

/// Why a run, or a job, is in its state.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    pub run_id: RunId,
    /// `flow`, `job` or `call`.
    pub kind: &'static str,
    /// Of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Name>,
    /// The run's status, the job's state, or whether the call runs or has ended.
    pub status: &'static str,
    /// Whether it is running or about to begin, so that no action is needed.
    pub moving: bool,
    /// The first reason in a line, and how many others there are.
    pub summary: String,
    pub reasons: Vec<Reason>,
    /// Active visits that were not read, because there are too many.
    #[serde(skip_serializing_if = "riverrun_types::is_zero")]
    pub more: usize,
    /// The code of the failure with which the run ends once what is active has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<Code>,
    /// The run has failed and undoes its steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compensating: bool,
    /// When the run fails with TIMEOUT unless it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Iso>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    #[serde(flatten)]
    pub cause: Cause,
    pub summary: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub visit: Option<InVisit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Iso>,
    /// When it ends by itself, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Iso>,
}

/// The visit that a reason is about; reasons of the whole run have none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InVisit {
    pub step: Name,
    pub visit: u32,
    /// 0 before the first.
    pub attempt: u32,
    pub status: VisitStatus,
    /// The finished visit that this one undoes: `step` or `step#visit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Cause {
    /// None: it has ended.
    Ended,
    /// Its stored data cannot be read.
    Damaged {
        error: Json,
    },
    Paused {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was set aside, and goes on once it is released.
    Parked {
        code: Code,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Json>,
        /// The command that releases it.
        release: String,
    },
    /// It was started with a delay.
    NotBefore,
    AwaitTime {
        #[serde(skip_serializing_if = "Option::is_none")]
        await_id: Option<Name>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    AwaitEvent {
        await_id: Name,
        event_kind: Name,
        #[serde(skip_serializing_if = "Option::is_none")]
        condition: Option<Json>,
        /// The event has arrived, and the run is about to go on.
        #[serde(skip_serializing_if = "Option::is_none")]
        fired_at: Option<Iso>,
        /// Its expression could not be evaluated, since this time; such events are passed over.
        #[serde(skip_serializing_if = "Option::is_none")]
        trouble: Option<FilterTrouble>,
        /// Events of the kind that its expression has yet to judge, up to the counted number.
        #[serde(skip_serializing_if = "riverrun_types::is_zero")]
        judging: usize,
    },
    AwaitTrigger {
        await_id: Name,
        trigger_type: TriggerType,
        url: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        fired_at: Option<Iso>,
        /// How often it was resumed, if it waits for more, and how often it must be, if that is
        /// known.
        #[serde(skip_serializing_if = "Option::is_none")]
        opened: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        wanted: Option<u32>,
    },
    /// The last attempt failed, and the next one is scheduled.
    Backoff {
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Json>,
        #[serde(skip_serializing_if = "Option::is_none")]
        job: Option<AtJob>,
        /// The operation of the step's code that is tried again, if it is not the whole step.
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<AtOperation>,
    },
    QueuePaused {
        job: AtJob,
    },
    /// No worker here takes the jobs of the queue, or the process is unknown.
    NoWorker {
        job: AtJob,
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Name>,
    },
    /// The process exists and does not load.
    ProcessBroken {
        job: AtJob,
        process: Option<Name>,
        error: Json,
    },
    /// No connected worker has room for another job.
    NoRoom {
        job: AtJob,
    },
    /// The limit of active jobs, of the queue or of the job's key in it, is reached.
    Concurrency {
        job: AtJob,
        /// Set if it is the limit of each key.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<Name>,
        limit: u32,
        active: u64,
    },
    /// The limit of jobs that may begin within a window is reached.
    RateLimit {
        job: AtJob,
        max: u32,
        window_ms: Millis,
    },
    /// The queue's jobs are taken in batches, and this one is not full.
    Gathering {
        job: AtJob,
        count: u32,
        waiting: u64,
    },
    /// Its job is delayed.
    Delayed {
        job: AtJob,
    },
    /// Its job is in the queue, behind others or about to be claimed.
    Queued {
        job: AtJob,
    },
    /// Its worker has missed its heartbeats: the job is about to be taken from it.
    LeaseExpired {
        job: AtJob,
    },
    /// The worker that runs its job has lost its connection. If it does not reconnect in time the
    /// attempt is over, and another worker gets the job.
    WorkerAway {
        job: AtJob,
    },
    /// An attempt is running: as a job, or inside the run if there is no job.
    Running {
        #[serde(skip_serializing_if = "Option::is_none")]
        job: Option<AtJob>,
    },
    /// Waits for another run to end.
    Child {
        child_id: RunId,
        #[serde(skip_serializing_if = "Option::is_none")]
        child_flow: Option<Name>,
        /// The reason of that run; absent if it was deleted, or is nested too deep.
        #[serde(skip_serializing_if = "Option::is_none")]
        child: Option<Box<Why>>,
    },
    /// Waits for its branches, whose visits have reasons of their own.
    Branches {
        total: usize,
        ended: usize,
        failed: usize,
        active: Vec<ActiveBranch>,
    },
    /// About to begin: a server has to claim the run.
    Ready {
        /// This one drives as many runs as it may.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        busy: bool,
        /// The run is paused, and it begins when that is over.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        held: bool,
    },
}

/// Why the expression of an await matches no event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterTrouble {
    pub at: Iso,
    pub code: Code,
    pub message: String,
}

/// A job that a reason is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtJob {
    pub id: RunId,
    pub queue: Name,
    pub state: JobStateName,
    /// For a waiting job: how many of the same key, or without one, begin before it. Counted up to
    /// a thousand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// For a delayed job: its queue is paused too, so it does not begin at its time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queue_paused: bool,
    /// For an active job: its holder, and when its lease expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Iso>,
    /// For an active job: the remote worker that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<AtWorker>,
    /// It is asked to stop.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancelling: bool,
}

/// An operation of a step's code that failed and is tried again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtOperation {
    /// `memo` for `ctx.run`.
    pub op: Name,
    pub name: Name,
    /// Which use of the name it is; absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// The try that failed, from 1.
    #[serde(rename = "try")]
    pub attempt: u32,
}

/// A remote worker by its id and its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtWorker {
    pub id: u64,
    pub name: String,
}

/// A job's state by its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobStateName(pub JobState);

impl Serialize for JobStateName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveBranch {
    pub index: usize,
    pub step: Name,
    pub visit: u32,
    pub status: VisitStatus,
}

impl Cause {
    /// The order of importance: first what only people can change, then limits, then waits, then
    /// what goes on by itself. A fork comes last, because the visits inside it know more.
    fn rank(&self) -> u8 {
        match self {
            Self::Ended | Self::Damaged { .. } | Self::Paused { .. } | Self::Parked { .. } => 0,
            Self::NotBefore => 1,
            Self::NoWorker { .. } | Self::ProcessBroken { .. } | Self::QueuePaused { .. } => 2,
            Self::LeaseExpired { .. } | Self::WorkerAway { .. } | Self::NoRoom { .. } => 3,
            Self::Concurrency { .. } | Self::RateLimit { .. } | Self::Gathering { .. } => 4,
            Self::Backoff { .. } => 5,
            Self::AwaitEvent { .. } | Self::AwaitTrigger { .. } | Self::AwaitTime { .. } => 6,
            Self::Child { .. } | Self::Delayed { .. } => 7,
            Self::Queued { .. } => 8,
            Self::Running { .. } => 9,
            Self::Ready { .. } => 10,
            Self::Branches { .. } => 11,
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::Running { .. } => true,
            Self::Ready { busy, held } => !busy && !held,
            _ => false,
        }
    }
}

/// A failure as reasons show it.
fn shown(failure: &Failure) -> Json {
    Json::of(failure)
}
