//! Why a store rejected a commit or failed: each variant is a decision for the caller.

use riverrun_types::{ErrorCode, Name, RunId};

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Read the newer events and decide again.
    #[error("run {0} has moved on since this was decided")]
    Conflict(RunId),
    /// Stop: another instance has the run task, or it is obsolete.
    #[error("the lease on run {0} is gone")]
    Fenced(RunId),
    /// The answer to the request is this run.
    #[error("run {0} was started with this idempotency key before")]
    Duplicate(RunId),
    #[error("a run with the id {0} exists")]
    RunExists(RunId),
    #[error("there is no run {0}")]
    RunNotFound(RunId),
    #[error("run {0} has ended")]
    RunEnded(RunId),
    #[error("run {0} has not ended: cancel it first")]
    NotEnded(RunId),
    #[error("flow {id}@{version} is registered with another definition: give it a new version")]
    FlowExists { id: String, version: String },
    /// Nothing to do: this definition is already registered.
    #[error("flow {id}@{version} is registered with this definition")]
    FlowKept { id: String, version: String },
    #[error("there is no job {0}")]
    JobNotFound(RunId),
    /// Stop: another instance has the job, or it has ended.
    #[error("the lease on job {0} is gone")]
    JobLost(RunId),
    #[error("job {id} is {state}: {hint}")]
    JobState {
        id: RunId,
        state: &'static str,
        hint: &'static str,
    },
    #[error("{id} is the id of a job in queue {queue:?}")]
    JobElsewhere { id: RunId, queue: Name },
    #[error("there is no queue {0:?}")]
    QueueNotFound(String),
    #[error("an await with the id {0} exists")]
    AwaitExists(Name),
    #[error("there is no await {0}")]
    AwaitNotFound(Name),
    /// Nothing to do: another request was first.
    #[error("await {0} was used before")]
    AwaitUsed(Name),
    /// Nothing to do: the await has ended.
    #[error("nobody waits for await {0} any longer")]
    AwaitClosed(Name),
    #[error("the time of await {0} is over")]
    AwaitExpired(Name),
    /// Try again when the run has read its earlier values.
    #[error("await {0} was used too often: its run has to catch up")]
    AwaitFull(Name),
    /// Read which they are.
    #[error("events with the key {0:?} were appended before")]
    EventExists(Name),
    #[error("there is no trigger {0:?}")]
    TriggerNotFound(Name),
    /// Read again and decide again.
    #[error("trigger {0:?} was changed or used by somebody else meanwhile")]
    TriggerMoved(Name),
    #[error("the route {route} belongs to trigger {trigger:?}")]
    RouteTaken { route: Name, trigger: Name },
    #[error("{0:?} is not a cursor of this list")]
    BadCursor(String),
    /// Give up until the disk has room again; nothing acknowledged is lost.
    #[error("the disk is full: {0}")]
    Full(String),
    #[error("the store cannot be written: {0}")]
    ReadOnly(String),
    /// Another server has the data.
    #[error("{0}")]
    Locked(String),
    /// Stop: the open files are no longer those in the folder, and never will be again.
    #[error("the data is gone: {0} while it was in use")]
    Gone(String),
    #[error("the data was written by a newer riverrun (schema {found}, this one knows {known})")]
    NewerSchema { found: u32, known: u32 },
    /// Of one row or page: everything else can still be read.
    #[error("the stored data is damaged: {0}")]
    Corrupt(String),
    /// The files hold less than was acknowledged: the store opens only once the loss is accepted.
    #[error("{0}")]
    Damaged(String),
    /// Try again later.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// The stable code, as HTTP, CLI and workbench show it.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Fenced(_) => ErrorCode::LeaseLost,
            Self::Duplicate(_) => ErrorCode::Duplicate,
            Self::RunExists(_) => ErrorCode::RunExists,
            Self::RunNotFound(_) => ErrorCode::RunNotFound,
            Self::RunEnded(_) => ErrorCode::RunEnded,
            Self::NotEnded(_) => ErrorCode::RunNotEnded,
            Self::FlowExists { .. } => ErrorCode::FlowExists,
            Self::FlowKept { .. } => ErrorCode::FlowKept,
            Self::JobNotFound(_) => ErrorCode::JobNotFound,
            Self::JobLost(_) => ErrorCode::JobLost,
            Self::JobState { .. } => ErrorCode::JobState,
            Self::JobElsewhere { .. } => ErrorCode::JobIdTaken,
            Self::QueueNotFound(_) => ErrorCode::QueueNotFound,
            Self::AwaitExists(_) => ErrorCode::AwaitExists,
            Self::AwaitNotFound(_) => ErrorCode::AwaitNotFound,
            Self::AwaitUsed(_) => ErrorCode::AwaitUsed,
            Self::AwaitClosed(_) => ErrorCode::AwaitClosed,
            Self::AwaitExpired(_) => ErrorCode::AwaitExpired,
            Self::AwaitFull(_) => ErrorCode::AwaitFull,
            Self::EventExists(_) => ErrorCode::EventExists,
            Self::TriggerNotFound(_) => ErrorCode::TriggerNotFound,
            Self::TriggerMoved(_) => ErrorCode::TriggerMoved,
            Self::RouteTaken { .. } => ErrorCode::TriggerRouteTaken,
            Self::BadCursor(_) => ErrorCode::BadCursor,
            Self::Full(_) => ErrorCode::DiskFull,
            Self::ReadOnly(_) => ErrorCode::StoreReadOnly,
            Self::Locked(_) => ErrorCode::StoreLocked,
            Self::Gone(_) => ErrorCode::StoreGone,
            Self::NewerSchema { .. } => ErrorCode::NewerSchema,
            Self::Corrupt(_) => ErrorCode::StoreCorrupt,
            Self::Damaged(_) => ErrorCode::StoreDamaged,
            Self::Unavailable(_) => ErrorCode::StoreUnavailable,
            Self::Closed => ErrorCode::StoreClosed,
        }
    }
}
