//! Events of a run as a whole, and of the definitions of flows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Cancellation, Failure, Json, Lineage, Millis, Name,
    event::{
        EventData,
        data::{or_default, unless_default},
        iso,
    },
};

macro_rules! flow {
    ($($before:tt)*) => { collect! { $($before)*

1 FlowStarted "flow.started" run(FlowStarted);
2 FlowCompleted "flow.completed" run(FlowCompleted), end;
3 FlowFailed "flow.failed" run(FlowFailed), end;
4 FlowCancelled "flow.cancelled" run(FlowCancelled), end;
5 FlowPaused "flow.paused" run(FlowPaused);
6 FlowResumed "flow.resumed" run(FlowResumed);
7 FlowForked "flow.forked" run(FlowForked);
8 FlowRegistered "flow.registered";
9 FlowCompensating "flow.compensating" run(FlowCompensating);

    } };
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowStarted {
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
    #[serde(default, skip_serializing_if = "crate::is_zero")]
    pub chain: u32,
}

impl EventData for FlowStarted {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowCompleted {
    pub result: Json,
    #[serde(rename = "duration")]
    pub duration_ms: Millis,
}

impl EventData for FlowCompleted {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowFailed {
    pub error: Failure,
    #[serde(rename = "duration")]
    pub duration_ms: Millis,
}

impl EventData for FlowFailed {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowCancelled {
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, rename = "duration")]
    pub duration_ms: Millis,
}

impl EventData for FlowCancelled {}

impl FlowCancelled {
    pub fn new(cancellation: Cancellation, duration_ms: Millis) -> Self {
        let Cancellation { source, reason } = cancellation;
        Self {
            source,
            reason,
            duration_ms,
        }
    }

    pub fn cancellation(&self) -> Cancellation {
        Cancellation {
            source: self.source.clone(),
            reason: self.reason.clone(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowPaused {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The reason is for people: an unreadable one is dropped.
impl EventData for FlowPaused {
    fn write(&self) -> Option<Json> {
        unless_default(self)
    }

    fn read(data: Option<&Json>) -> Option<Self> {
        Some(or_default(data).unwrap_or_default())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResumed;

/// It has no data.
impl EventData for FlowResumed {
    fn write(&self) -> Option<Json> {
        None
    }

    fn read(_: Option<&Json>) -> Option<Self> {
        Some(Self)
    }
}

/// The stream up to here was copied from another run's. Steps that ran there, or waited for a child
/// of that run, begin again here; the parent of that run does not know this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowForked {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub deadline: Option<Millis>,
}

impl EventData for FlowForked {}

/// The run has failed and begins to undo its steps; or the run that waited for it has, and this one
/// is cancelled once that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowCompensating {
    pub error: Failure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cancellation>,
}

impl EventData for FlowCompensating {}
