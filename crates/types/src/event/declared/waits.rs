//! Events of visits that wait: for a time, an event, a callback, branches or another run.

use serde::{Deserialize, Serialize};

use crate::{
    Json, Millis, Name, Operation, RunId, TriggerType,
    event::{EventData, iso},
    json::{nullable, present},
};

macro_rules! waits {
    ($($before:tt)*) => { collect! { $($before)*

16 StepAwaitTime "step.await.time" step(StepAwaitTime);
17 StepAwaitEvent "step.await.event" step(StepAwaitEvent);
18 StepAwaitTrigger "step.await.trigger" step(StepAwaitTrigger);
19 StepAwaitTimeout "step.await.timeout" step(StepAwaitTimeout);
20 StepAwaitBranches "step.await.branches" step(Fork);
21 StepAwaitRun "step.await.run" step(StepAwaitRun);

    } };
}

/// A visit waits for a time: for its handler, for its definition, or, with an `await_id`, as an
/// await of the definition or of the handler's code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepAwaitTime {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub await_id: Option<Name>,
    #[serde(
        default,
        rename = "resumeAt",
        skip_serializing_if = "Option::is_none",
        with = "iso::option"
    )]
    pub until_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The output of the step then.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub output: Option<Json>,
    /// The next step then, if the transitions do not decide it. Null ends the path.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "nullable"
    )]
    pub next: Option<Option<Name>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_code: bool,
    /// The operation that is tried again then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<Operation>,
}

/// Only an await may wait without an end.
impl EventData for StepAwaitTime {
    fn read(data: Option<&Json>) -> Option<Self> {
        let read: Self = data?.read().ok()?;
        (read.await_id.is_some() || read.until_ms.is_some()).then_some(read)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepAwaitEvent {
    pub await_id: Name,
    pub event_kind: Name,
    /// The condition on the event, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Json>,
    #[serde(
        default,
        rename = "timeoutAt",
        skip_serializing_if = "Option::is_none",
        with = "iso::option"
    )]
    pub until_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_code: bool,
}

impl EventData for StepAwaitEvent {}

/// A visit waits for a callback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepAwaitTrigger {
    pub await_id: Name,
    /// The same id, under the name that clients use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_id: Option<Name>,
    pub trigger_type: TriggerType,
    #[serde(
        default,
        rename = "timeoutAt",
        skip_serializing_if = "Option::is_none",
        with = "iso::option"
    )]
    pub until_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_code: bool,
}

impl EventData for StepAwaitTrigger {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepAwaitTimeout {
    /// `event` or `trigger`.
    #[serde(rename = "awaitType")]
    pub kind: Name,
    #[serde(rename = "duration")]
    pub waited_ms: Millis,
    /// The next step of the run instead; none: the code gets the error, or the visit fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
    /// The values so far, if it must be resumed more than once.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

impl EventData for StepAwaitTimeout {}

/// Concurrent branches inside a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    pub branches: Vec<BranchSpec>,
    /// How many at a time; 0 is all.
    pub concurrency: u32,
    /// The first branch that fails cancels the others.
    pub fail_fast: bool,
    /// Whether the result is a list in the order of the branches, or an object by their names.
    pub as_list: bool,
    /// Whether writes of a branch stay in the branch.
    pub scoped: bool,
}

impl EventData for Fork {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchSpec {
    /// The step that the branch begins with; it ends where no transition leads on.
    pub step: Name,
    /// The value of `item` in the branch.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub item: Option<Json>,
}

/// A visit waits for the run of another flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepAwaitRun {
    #[serde(rename = "runId")]
    pub run: RunId,
    pub flow: Name,
    pub version: Name,
}

impl EventData for StepAwaitRun {}
