//! The row changes of a commit.

use riverrun_types::{Draft, Millis, Name, RunId, RunStatus, StreamName};

use super::{JobRow, RunRow, StreamRow};
use crate::{
    Advance, Append, Fire, Firing, FlowRecord, NewAwait, NewJobs, NewRun, NewTrigger, Note, Once,
    Settle, Signal, Steer,
};

/// One change to rows. Those of a commit are made in order, all or none.
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
    /// Stores events of a run at the place that the receipt names for them. They may be none.
    AddEvents {
        run: RunId,
        /// 0 if this commit creates the run.
        place: i64,
        events: &'a [Draft],
        /// Which of [`crate::Receipt::placed`] it is.
        receipt: usize,
    },
    /// Adds events to a stream that is no run's, as [`super::Extension`] says. It is computed when
    /// it is written: to the stream of a job it adds what the job's row says by then.
    AddToStream {
        change: &'a Append,
        /// The row before this commit.
        stored: Option<StreamRow>,
        /// Which of [`crate::Receipt::placed`] it is.
        receipt: usize,
    },
    /// The holder of the run task gives it back ([`super::RunTask::give_back`]). If the task was
    /// woken meanwhile the receipt names the run as woken.
    GiveBackRun {
        run: &'a RunId,
        place: i64,
        token: u64,
        at_ms: Millis,
    },
    /// Somebody else sets the time of the run task ([`super::RunTask::park`]), which is made if
    /// there is none.
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
    /// Removes a run and all that is its own.
    DeleteRun {
        run: &'a RunId,
        place: i64,
    },
    InsertFlow(&'a FlowRecord),
    /// Keeps the ids of events under a key, as [`Once::ids`] says.
    InsertKey(&'a Once),
    /// Adds jobs that are new, and names all of them in the receipt.
    AddJobs(&'a NewJobs),
    /// Does to a job what [`Settle::effect`] says. `job` is the row before.
    SettleJob {
        settle: &'a Settle,
        job: JobRow,
    },
    NoteJob(&'a Note),
    /// Does to a job what [`Steer::effect`] says, and names it in the receipt.
    SteerJob {
        job: &'a RunId,
        steer: &'a Steer,
        now_ms: Millis,
    },
    /// Does to a job what [`JobRow::abandoned`] says, if it exists.
    AbandonJob {
        job: &'a RunId,
    },
    /// Removes a job, if it exists.
    RemoveJob(&'a RunId),
    /// Makes the queue if it does not exist.
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
    /// Does to an await what [`super::AwaitEnd`] says, if it exists.
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
