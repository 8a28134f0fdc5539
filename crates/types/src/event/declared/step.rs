//! Events of visits: one is entered, begins an attempt, ends.

use serde::{Deserialize, Serialize};

use crate::{
    Cancellation, Failure, Json, Millis, Name, Parked, Path, VisitKey,
    event::{
        EventData,
        data::{or_default, unless_default},
        iso,
    },
    json::present,
};

macro_rules! step {
    ($($before:tt)*) => { collect! { $($before)*

10 StepStarted "step.started" step(StepStarted);
11 StepCompleted "step.completed" step(StepCompleted);
12 StepFailed "step.failed" step(StepFailed);
// The attempt in the envelope is the next one.
13 StepRetry "step.retry" step(StepRetry);
14 StepResumed "step.resumed" step(StepResumed);
15 StepCancelled "step.cancelled" step(StepCancelled);
23 StepEntered "step.entered" step(StepEntered);
24 StepJoined "step.joined" run(StepJoined);
// The visit waits until it is released. This costs it no attempt.
25 StepParked "step.parked" step(Parked);
26 StepReleased "step.released" step(StepReleased);

    } };
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepStarted {
    /// When, if that is not the time of the event.
    #[serde(
        default,
        rename = "startedAt",
        skip_serializing_if = "Option::is_none",
        with = "iso::option"
    )]
    pub at_ms: Option<Millis>,
}

/// An unreadable time is replaced by that of the event.
impl EventData for StepStarted {
    fn write(&self) -> Option<Json> {
        unless_default(self)
    }

    fn read(data: Option<&Json>) -> Option<Self> {
        Some(or_default(data).unwrap_or_default())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCompleted {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Json>,
    /// Where the result was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_key: Option<Path>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
    /// The step that undoes this visit if the run fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Name>,
    /// The kinds of events that follow at once, each with the result as data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Name>,
}

impl EventData for StepCompleted {
    fn write(&self) -> Option<Json> {
        unless_default(self)
    }

    fn read(data: Option<&Json>) -> Option<Self> {
        or_default(data)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFailed {
    pub error: Failure,
    will_retry: bool,
    #[serde(
        default,
        rename = "nextRetryAt",
        skip_serializing_if = "Option::is_none",
        with = "iso::option"
    )]
    pub retry_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
}

impl EventData for StepFailed {}

impl StepFailed {
    pub fn new(error: Failure, retry_at: Option<Millis>, next: Option<Name>) -> Self {
        Self {
            error,
            will_retry: retry_at.is_some(),
            retry_at,
            next,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRetry {
    pub reason: String,
    pub delay_ms: Millis,
    /// The attempt before was lost with its worker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

impl EventData for StepRetry {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResumed {
    pub reason: String,
    #[serde(rename = "awaitDuration")]
    pub waited_ms: Millis,
    /// The value of the await.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

impl EventData for StepResumed {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepCancelled {
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The step that undoes this visit, whose handler had completed: only a delay remained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Name>,
}

impl EventData for StepCancelled {}

impl StepCancelled {
    pub fn new(cancellation: Cancellation, compensation: Option<Name>) -> Self {
        let Cancellation { source, reason } = cancellation;
        Self {
            source,
            reason,
            compensation,
        }
    }

    pub fn cancellation(&self) -> Cancellation {
        Cancellation {
            source: self.source.clone(),
            reason: self.reason.clone(),
        }
    }
}

/// An event entered a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepEntered {
    /// The input of the visit, if it is not the payload of the event before this one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub input: Option<Json>,
    /// Its input is one event of each kind, which the step has kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<VisitKey>,
}

impl EventData for StepEntered {
    fn write(&self) -> Option<Json> {
        unless_default(self)
    }

    fn read(data: Option<&Json>) -> Option<Self> {
        or_default(data)
    }
}

/// An event is kept for a step that waits for one of each kind. It belongs to no visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepJoined {
    pub step: Name,
    #[serde(rename = "eventKind")]
    pub kind: Name,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub input: Option<Json>,
}

impl EventData for StepJoined {}

impl EventData for Parked {}

/// A parked visit begins its attempt anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReleased {
    pub reason: String,
    #[serde(rename = "parkedDuration")]
    pub waited_ms: Millis,
}

impl EventData for StepReleased {}
