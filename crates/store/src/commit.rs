//! A commit: all changes of one decision.

use std::sync::Arc;

use riverrun_types::{
    Draft, EventId, Json, Millis, Name, RunId, RunStatus, StreamName, event::EventContext,
};

use crate::{
    awaits::{Fire, NewAwait, Signal},
    queue::{Added, ClaimedJob, NewJobs, Note, Settle, Steer, Steered, TakeJobs},
    record::{FlowRecord, Origin, Parent, RunLease},
    triggers::{Firing, NewTrigger},
};

/// All changes of one decision. The store applies it whole or rejects it.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The lease under which it was decided. If the lease is no longer held the commit is rejected
    /// with [`crate::Error::Fenced`].
    pub lease: Option<RunLease>,
    /// Applied in order; later changes see earlier ones.
    pub changes: Vec<Change>,
    /// Jobs that it adds may begin at once.
    pub take: Option<TakeJobs>,
}

impl Commit {
    pub fn of(change: Change) -> Self {
        Self {
            changes: vec![change],
            ..Self::default()
        }
    }

    pub fn under(mut self, lease: Option<RunLease>) -> Self {
        self.lease = lease;
        self
    }

    pub fn and(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}

#[derive(Clone, Debug)]
pub enum Change {
    /// A new run with its first events. Rejected with `RunExists` or `Duplicate`.
    Create(Box<NewRun>),
    /// A decision about a run. Rejected with `Conflict` or `NotFound`.
    Advance(Box<Advance>),
    /// Events that make no decision: logs, state writes, custom events. To a run's stream (which
    /// must exist and not have ended) or to any other stream (which its first event creates). In a
    /// job's stream the events of the job's life in its row are stored before them
    /// ([`crate::Life`]).
    Append(Append),
    /// The run task is due now: something that the run waits for has moved. If the task is leased
    /// the holder is notified (`Beat::Woken`) and the task is due again as soon as it is parked. A
    /// run without a task is left alone.
    Wake(RunId),
    /// Keeps a definition under its id and version for ever. Rejected with `FlowKept` if the same
    /// definition exists, with `FlowExists` if another one does.
    Register(FlowRecord),
    /// Adds jobs to queues, in order. Never rejected: the receipt names jobs that existed already.
    Enqueue(NewJobs),
    /// Records the outcome of a job's attempt. Rejected with `JobLost` if the lease is lost.
    Settle(Box<Settle>),
    /// Stores progress or a checkpoint of a running job. Rejected with `JobLost`.
    Note(Box<Note>),
    /// Changes a job on request. Rejected with `JobNotFound` or `JobState`.
    Steer {
        job: RunId,
        steer: Steer,
        now_ms: Millis,
    },
    /// Drops an obsolete job: one that does not run is removed, the holder of one that runs is
    /// notified. Never rejected, even if the job does not exist.
    Abandon { job: RunId, now_ms: Millis },
    /// Removes a job, even from its holder, whose lease on it is lost. Never rejected.
    DropJob { job: RunId, now_ms: Millis },
    /// Pauses claims of a queue, or resumes them. The queue is created if it does not exist.
    Pause {
        queue: Name,
        paused: bool,
        now_ms: Millis,
    },
    /// A visit waits. Rejected with `AwaitExists` if the id is taken, with `RunNotFound` if the run
    /// does not exist. An await that looks back is fired at once by the earliest event that it
    /// equals; if it has a filter, the events that may match go into the outbox for it alone.
    Await(Box<NewAwait>),
    /// An await has ended: settled, timed out or cancelled. A callback is kept as closed until its
    /// run is deleted; any other await is deleted. Never rejected.
    Unawait(Name),
    /// An await has timed out, as in [`Change::Unawait`]. Rejected with `Conflict` if it was fired
    /// more than `fired` times, the number that its run knows: the request that fired it was
    /// accepted. Also rejected if signals for it above the number `judged` exist
    /// ([`SignalsOf::Await`](crate::SignalsOf::Await)): an event that was emitted in time counts,
    /// however late it is judged.
    Expire { id: Name, fired: u32, judged: u64 },
    /// Settles an await from outside, keeps the value and wakes the run, as [`Change::Wake`] does.
    /// Rejected with `AwaitNotFound`, `AwaitUsed`, `AwaitClosed`, `AwaitExpired` or, if it was
    /// fired too often, `AwaitFull`.
    Fire(Box<Fire>),
    /// Delivers an event, which belongs in the same commit, to all awaits of its kind: logs it,
    /// fires the open awaits that it equals, and puts it into the outbox if some remain that need
    /// an expression, or if the kind has a listener.
    Signal(Box<Signal>),
    /// Adds or removes a listener that wants every signal of this kind in the outbox.
    Listen { kind: Name, on: bool },
    /// Removes the signal of this number from the outbox. If it was the last one for an await that
    /// looks back, the next ones follow. Never rejected.
    RemoveSignal(u64),
    /// Stores a trigger in a new version. Rejected with `TriggerMoved` if its version is not the
    /// next one, with `RouteTaken` if another trigger has its route.
    Trigger(Box<NewTrigger>),
    /// Removes the trigger of this version. It is remembered, with its stream, as long as cancelled
    /// runs are. Rejected with `TriggerNotFound` or `TriggerMoved`.
    Untrigger {
        id: Name,
        version: u64,
        now_ms: Millis,
    },
    /// Records that a trigger was used, and takes a schedule's due time. Rejected with
    /// `TriggerNotFound`, or with `TriggerMoved` if another instance took that time or the schedule
    /// was changed.
    Fired(Box<Firing>),
    /// Trims the beginning of a stream other than a run's: at least the last `keep` events stay,
    /// and not many more. Positions do not change. Never rejected.
    Trim { stream: StreamName, keep: u64 },
    /// Remembers under a key which events this commit has appended. Rejected with `EventExists` if
    /// the key is taken.
    Once(Box<Once>),
    /// Removes a run and all its data. Rejected with `NotEnded` while it has not ended.
    Delete(RunId),
}

impl Change {
    /// The events that it appends, and to which stream.
    pub fn appends(&self) -> Option<(StreamName, &[Draft])> {
        match self {
            Self::Create(new) => Some((StreamName::flow(&new.id), &new.events)),
            Self::Advance(change) => Some((StreamName::flow(&change.run), &change.events)),
            Self::Append(change) => Some((change.stream.clone(), &change.events)),
            _ => None,
        }
    }
}

/// Events that are appended once, however often they are sent.
#[derive(Clone, Debug)]
pub struct Once {
    pub key: Name,
    /// Which of the events that the commit's first change with events has, by their index.
    pub places: Vec<usize>,
    pub now_ms: Millis,
}

/// A new run.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub id: RunId,
    pub flow: Name,
    pub version: Name,
    pub created_ms: Millis,
    /// The idempotency key is unique within a flow and a tenant.
    pub idempotency_key: Option<Name>,
    pub tenant: Option<Name>,
    pub tags: Vec<Name>,
    pub metadata: Option<Json>,
    pub parent: Option<Parent>,
    pub origin: Option<Origin>,
    /// The story that the run belongs to, if it is not its own.
    pub correlation: Option<Name>,
    pub projection: Projection,
    /// The decisions that the events hold: the run's first turn.
    pub turn: u64,
    pub events: Arc<[Draft]>,
    /// None for a run that has already ended.
    pub task: Option<NewRunTask>,
    pub snapshot: Option<Snapshot>,
}

impl NewRun {
    pub fn context(&self) -> EventContext {
        EventContext {
            run_id: Name::from(self.id.as_str()),
            flow_name: self.flow.clone(),
            tenant_id: self.tenant.clone(),
        }
    }
}

/// The run task: it drives a run.
#[derive(Clone, Debug, PartialEq)]
pub enum NewRunTask {
    /// Any instance may claim it from this time on.
    Ready { at_ms: Millis },
    /// Created as leased: the instance that commits it goes on with it at once.
    Leased {
        token: u64,
        owner: Name,
        until_ms: Millis,
    },
}

/// The columns of a run for lists and filters: a projection of its stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    pub status: RunStatus,
    /// When a waiting run moves by itself, for people; the run task's time is what wakes it.
    pub wake_ms: Option<Millis>,
    pub ended_ms: Option<Millis>,
    /// `{code, message, …}` of a failed run.
    pub error: Option<Json>,
}

/// A decision about a run that exists.
#[derive(Clone, Debug)]
pub struct Advance {
    pub run: RunId,
    /// The envelope of the events; for live readers, not stored again.
    pub context: EventContext,
    pub expect: Expect,
    pub projection: Projection,
    /// May be empty: a run can be parked without an event.
    pub events: Arc<[Draft]>,
    pub task: RunTaskChange,
    pub snapshot: Option<Snapshot>,
}

/// The condition under which a change holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// None: the events are true regardless of earlier ones.
    Any,
    /// No other decision since: the run has taken this many turns. Events that make no decision
    /// (logs, state writes from outside) do not count, so a stream with many of them starves no
    /// writer.
    Turn(u64),
    /// No other event since: the stream has this length.
    Len(u64),
}

/// The effect of a decision on the run task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunTaskChange {
    Keep,
    /// The task is to be claimed at this time. From the lease's holder: the lease is released, and
    /// if the task was woken meanwhile it is due at once. From any other writer: a leased task is
    /// woken instead, so that its holder looks again, and one that was woken stays due.
    Park {
        at_ms: Millis,
    },
    /// The run needs no more work: the task is removed, and with it the lease of its holder.
    Finish,
}

/// Events for any stream.
#[derive(Clone, Debug)]
pub struct Append {
    pub stream: StreamName,
    /// The envelope of the events; for live readers, not stored again.
    pub context: EventContext,
    pub expect: Expect,
    pub events: Arc<[Draft]>,
}

/// A reduced run, so that a reader of a long stream need not begin at its beginning. A cache of the
/// stream, never a second source of truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// How many events it covers.
    pub len: u64,
    pub body: Json,
}

/// The result of an applied commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receipt {
    /// For each `Create`, `Advance` and `Append`, in order, the place of its events. A change
    /// without events has its place too.
    pub placed: Vec<Placed>,
    /// For each job of each `Enqueue`, in order.
    pub added: Vec<Added>,
    /// The runs that are due because of it, each once: those whose awaits were fired, and those
    /// that were parked and had been woken while they were leased.
    pub woken: Vec<RunId>,
    /// A signal entered the outbox.
    pub signalled: bool,
    /// For each `Steer`, in order.
    pub steered: Vec<Steered>,
    /// The jobs of `added` that were claimed at once, in their order.
    pub taken: Vec<ClaimedJob>,
}

/// The place of a change's events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The position of the first event.
    pub first: u64,
    /// The time of the stream's last event before: no new event is earlier.
    pub floor_ms: Millis,
    /// The stream's length now.
    pub len: u64,
    /// The number of the first event in the log of all events; those after it follow.
    pub no: u64,
}

impl Placed {
    /// The ids that the change's drafts got. Times never decrease along a stream, so a draft that
    /// is earlier than the one before it is moved forward.
    pub fn ids<'a>(&self, drafts: &'a [Draft]) -> impl Iterator<Item = EventId> + Clone + use<'a> {
        let mut ms = self.floor_ms;
        (self.first..).zip(drafts).map(move |(seq, draft)| {
            ms = ms.max(draft.ms);
            EventId { ms, seq }
        })
    }

    /// The id that the change's `index`-th draft got, if the drafts are in order of time.
    pub fn id(&self, index: usize, draft: &Draft) -> EventId {
        EventId {
            ms: draft.ms.max(self.floor_ms),
            seq: self.first + index as u64,
        }
    }
}

/// The ids that a commit gave its events. A commit may have thousands of events of one stream, each of
/// which asks for its own id.
pub struct CommitIds<'a> {
    changes: &'a [Change],
    /// Those of the stream that was asked for last.
    last: Option<(StreamName, Vec<EventId>)>,
}

impl<'a> CommitIds<'a> {
    pub fn of(changes: &'a [Change]) -> Self {
        Self {
            changes,
            last: None,
        }
    }

    /// The id of the `at`-th event that the commit appends to a stream first. `placed` are the places
    /// of the changes that append, as far as they were made.
    pub fn id(&mut self, stream: &StreamName, at: usize, placed: &[Placed]) -> Option<EventId> {
        if self.last.as_ref().is_none_or(|(last, _)| last != stream) {
            let appends = self.changes.iter().filter_map(Change::appends);
            let mut own = appends.zip(placed);
            let ((stream, drafts), placed) = own.find(|((appended, _), _)| appended == stream)?;
            self.last = Some((stream, placed.ids(drafts).collect()));
        }
        let (_, ids) = self.last.as_ref()?;
        ids.get(at).copied()
    }
}
