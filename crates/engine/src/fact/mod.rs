//! What the engine reads in an event and writes into one.
//!
//! A [`Fact`] is an event's meaning, typed; a draft is its form on the wire and on disk. The two
//! turn into each other without loss, so that the state a run has while it lives is the state
//! that a replay of its stream gives.

mod form;
mod in_run;
pub(crate) mod iso;
mod wire;

use std::collections::BTreeSet;

use riverrun_types::{Json, Millis, Name, Path, RunId, State, StepRef};
use serde::{Deserialize, Serialize};

use crate::{Awaiting, Cancellation, Failure, Fork, Lineage, Memo, MemoRetry, Parked, VisitKey};

pub use in_run::in_run;
pub(crate) use in_run::is_in_run;

#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Started(Started),
    Completed {
        result: Json,
        duration_ms: Millis,
    },
    Failed {
        error: Failure,
        duration_ms: Millis,
    },
    Cancelled {
        cancellation: Cancellation,
        duration_ms: Millis,
    },
    Paused {
        reason: Option<String>,
    },
    Resumed,
    /// The stream up to here was copied from another run's. What ran there, or waited for a child
    /// of that run, begins again here; the parent of that run knows nothing of this one.
    Forked {
        deadline: Option<Millis>,
    },
    StepStarted {
        at: StepRef,
        /// When, where that is not the time of the event.
        at_ms: Option<Millis>,
    },
    StepCompleted {
        at: StepRef,
        result: Option<Json>,
        output_key: Option<Path>,
        next: Option<Name>,
        /// The step that undoes this visit if the run fails.
        compensation: Option<Name>,
        /// The kinds of events that say so: each follows with the result.
        emits: Vec<Name>,
    },
    StepFailed {
        at: StepRef,
        error: Failure,
        retry_at: Option<Millis>,
        next: Option<Name>,
    },
    /// `at.attempt` is the attempt that comes.
    StepRetry {
        at: StepRef,
        reason: String,
        delay_ms: Millis,
        lost: bool,
    },
    StepResumed {
        at: StepRef,
        reason: String,
        waited_ms: Millis,
        /// What the await brought.
        value: Option<Json>,
    },
    /// The visit waits until somebody releases it. This costs it no attempt.
    StepParked {
        at: StepRef,
        parked: Parked,
    },
    /// A parked visit begins its attempt anew.
    StepReleased {
        at: StepRef,
        reason: String,
        waited_ms: Millis,
    },
    StepCancelled {
        at: StepRef,
        cancellation: Cancellation,
        /// The step that undoes this visit, whose handler had done its work: only time had to pass.
        compensation: Option<Name>,
    },
    AwaitTime {
        at: StepRef,
        until_ms: Millis,
        reason: Option<String>,
        /// What the step will have put out once the time has come.
        output: Option<Json>,
        /// Where it goes then, if that is not for its transitions to say.
        next: Option<Option<Name>>,
    },
    Await {
        at: StepRef,
        awaiting: Awaiting,
    },
    AwaitTimeout {
        at: StepRef,
        kind: Name,
        waited_ms: Millis,
        /// Where the run goes instead; none: the code gets the error, or the visit fails.
        next: Option<Name>,
        /// What had come, where it was to come more often.
        value: Option<Json>,
    },
    /// An event entered a step.
    Entered {
        at: StepRef,
        /// What the visit is given, where it is not what the event before this one carried.
        input: Option<Json>,
        /// One event of each kind, which the step has kept.
        joined: bool,
        undoes: Option<VisitKey>,
    },
    /// An event is kept for a step that waits for one of each kind.
    Joined {
        step: Name,
        kind: Name,
        input: Option<Json>,
    },
    /// Something that a handler's code did and must not do twice.
    Memo {
        at: StepRef,
        memo: Memo,
    },
    /// An operation of a handler's code has failed, and is tried again by itself.
    MemoRetry {
        at: StepRef,
        retry: MemoRetry,
        delay_ms: Millis,
    },
    /// The run has failed and begins to undo what it did; or the one that waited for it has, and
    /// this one is cancelled once that is done.
    Compensating {
        error: Failure,
        cancellation: Option<Cancellation>,
    },
    /// Somebody says that something happened, inside the run or outside.
    Emitted {
        at: Option<StepRef>,
        kind: Name,
        payload: Json,
    },
    AwaitBranches {
        at: StepRef,
        fork: Fork,
    },
    AwaitRun {
        at: StepRef,
        run: RunId,
        flow: Name,
        version: Name,
    },
    StateSet {
        key: Path,
        value: Json,
    },
    StateDelete {
        key: Path,
    },
    StateBatch(Vec<StateOp>),
    StateSnapshot(State),
    /// Logs, progress and the like: they change no state.
    Other,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    pub input: Json,
    pub version: Name,
    /// The step that is entered first.
    pub next: Name,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub not_before: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub deadline: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Lineage>,
    /// Steps whose visits run as jobs of a queue.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub queued: BTreeSet<Name>,
    /// How many events started a run on the way to it.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateOp {
    #[serde(rename = "type")]
    pub kind: OpKind,
    pub key: Path,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    Set,
    Delete,
}

/// Reads a value that may be absent: a null that is there is a value, and stays one.
pub(crate) fn present<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Json>, D::Error> {
    Json::deserialize(input).map(Some)
}

/// The same for the name of a step: a null says that there is none.
pub(crate) fn said<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<Name>>, D::Error> {
    Option::deserialize(input).map(Some)
}
