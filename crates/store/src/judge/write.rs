//! The row changes of a commit.

use riverrun_types::{Draft, Millis, Name, RunId, RunStatus, StreamName};

use super::{JobRow, RunRow, StreamRow};
use crate::{
    Advance, Append, Fire, Firing, FlowRecord, NewAwait, NewJobs, NewRun, NewTrigger, Note, Once,
    Settle, Signal, Steer,
};

/// One change to rows. The writes of a commit are applied in order, all or none.
#[derive(Debug)]
pub enum Write<'a> {
    /// Inserts a run with its tags, its job and its snapshot. Its events follow.
    CreateRun {
        new: &'a NewRun,
        row: RunRow,
    },
    /// The row and the projection of a run after a decision, and its snapshot.
    AdvanceRun {
        change: &'a Advance,
        /// The status before.
        status: RunStatus,
        row: RunRow,
    },
    /// The row of a run to whose stream events are added.
    ExtendRun {
        run: RunId,
        row: RunRow,
    },
    /// Stores events of a run at the place that the receipt names for them. The list may be empty.
    AddEvents {
        run: RunId,
        /// 0 if this commit creates the run.
        place: i64,
        events: &'a [Draft],
        /// Which of [`crate::Receipt::placed`] it is.
        receipt: usize,
    },
    /// Adds events to a stream other than a run's, as [`super::Extension`] defines. It is computed
    /// when it is written: a job's stream also gets the events of the job's row at that time.
    AddToStream {
        change: &'a Append,
        /// The row before this commit.
        stored: Option<StreamRow>,
        /// Which of [`crate::Receipt::placed`] it is.
        receipt: usize,
    },
    /// The holder releases the run task ([`super::RunTask::give_back`]). If the task was woken
    /// meanwhile the receipt names the run as woken.
    GiveBackRun {
        run: &'a RunId,
        place: i64,
        token: u64,
        at_ms: Millis,
    },
    /// A task without the lease sets the time of the run task ([`super::RunTask::park`]), which is
    /// created if it does not exist.
    ParkRun {
        run: &'a RunId,
        place: i64,
        at_ms: Millis,
    },
    /// Wakes the run task, if the run has one ([`super::RunTask::wake`]).
    WakeRun {
        run: &'a RunId,
        place: i64,
    },
    /// Removes the run task.
    FinishRun {
        run: &'a RunId,
        place: i64,
    },
    /// Removes a run and all its data.
    DeleteRun {
        run: &'a RunId,
        place: i64,
    },
    InsertFlow(&'a FlowRecord),
    /// Keeps the ids of events under a key, as [`Once::ids`] returns them.
    InsertKey(&'a Once),
    /// Adds jobs that are new, and names all of them in the receipt.
    AddJobs(&'a NewJobs),
    /// Applies [`Settle::effect`] to a job. `job` is the row before.
    SettleJob {
        settle: &'a Settle,
        job: JobRow,
    },
    NoteJob(&'a Note),
    /// Applies [`Steer::effect`] to a job, and names it in the receipt.
    SteerJob {
        job: &'a RunId,
        steer: &'a Steer,
        now_ms: Millis,
    },
    /// Applies [`JobRow::abandoned`] to a job, if it exists.
    AbandonJob {
        job: &'a RunId,
    },
    /// Removes a job, if it exists.
    RemoveJob(&'a RunId),
    /// Creates the queue if it does not exist.
    PauseQueue {
        queue: &'a Name,
        paused: bool,
        now_ms: Millis,
    },
    /// Adds an await to a run; one that looks back may be fired at once.
    AddAwait {
        new: &'a NewAwait,
        place: i64,
    },
    /// Applies [`super::AwaitEnd`] to an await, if it exists.
    EndAwait(&'a Name),
    /// Fires an await ([`crate::AwaitRecord::fire`]).
    FireAwait(&'a Fire),
    /// Logs an emitted event and delivers it ([`super::deliver`]).
    Signal(&'a Signal),
    Listen {
        kind: &'a Name,
        on: bool,
    },
    /// Removes a signal from the outbox.
    RemoveSignal(u64),
    PutTrigger(&'a NewTrigger),
    RemoveTrigger {
        id: &'a Name,
        now_ms: Millis,
    },
    FireTrigger(&'a Firing),
    TrimStream {
        stream: &'a StreamName,
        keep: u64,
    },
}
