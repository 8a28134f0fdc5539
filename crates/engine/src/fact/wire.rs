//! The data of each event type as it stands on the wire. What is written is borrowed from the
//! fact; what is read is owned.

use std::borrow::Cow;

use riverrun_types::{Draft, Json, Millis, Name, Path, RunId, TriggerType};
use serde::{Deserialize, Serialize};

use super::{StateOp, iso, present, said};
use crate::{AwaitFor, Awaiting, BranchSpec, Cancellation, Failure, Fork, Operation, VisitKey};

#[derive(Serialize, Deserialize)]
pub struct Completed {
    pub result: Json,
    pub duration: Millis,
}

#[derive(Serialize, Deserialize)]
pub struct Failed<'a> {
    pub error: Cow<'a, Failure>,
    pub duration: Millis,
}

#[derive(Serialize, Deserialize)]
pub struct Cancelled<'a> {
    pub source: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Name>,
}

#[derive(Serialize, Deserialize)]
pub struct Forked {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub deadline: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
pub struct Reason<'a> {
    pub reason: Option<Cow<'a, str>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCompleted<'a> {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_key: Option<Cow<'a, Path>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Name>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFailed<'a> {
    pub error: Cow<'a, Failure>,
    pub will_retry: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub next_retry_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRetry<'a> {
    pub reason: Cow<'a, str>,
    pub delay_ms: Millis,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepStarted {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub started_at: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReleased<'a> {
    pub reason: Cow<'a, str>,
    pub parked_duration: Millis,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResumed<'a> {
    pub reason: Cow<'a, str>,
    pub await_duration: Millis,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitTime<'a> {
    #[serde(with = "iso")]
    pub resume_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub output: Option<Json>,
    /// Null where the path ends.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "said"
    )]
    pub next: Option<Option<Name>>,
}

/// `step.await.time` of a handler's code, `step.await.event` and `step.await.trigger`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Await<'a> {
    pub await_id: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kind: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Cow<'a, Json>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_id: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_type: Option<TriggerType>,
    /// When the time has come.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub resume_at: Option<Millis>,
    /// When the others are over in any case.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso::option")]
    pub timeout_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_code: bool,
    /// Of a time: the operation that is tried again then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<Cow<'a, Operation>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitTimeout {
    pub await_type: Name,
    pub duration: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

#[derive(Default, Serialize, Deserialize)]
pub struct Entered {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub input: Option<Json>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<VisitKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    pub step: Name,
    pub event_kind: Name,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub input: Option<Json>,
}

#[derive(Serialize, Deserialize)]
pub struct Memo {
    /// Absent for `ctx.run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Name>,
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Name>,
}

/// `step.memo.retry`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoRetry {
    /// Absent for `ctx.run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Name>,
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// The try of the operation that failed, from 1.
    pub attempt: u32,
    pub error: Json,
    pub delay_ms: Millis,
    #[serde(with = "iso")]
    pub next_retry_at: Millis,
}

#[derive(Serialize, Deserialize)]
pub struct Compensating<'a> {
    pub error: Cow<'a, Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cow<'a, Cancellation>>,
}

/// `emit`: an event that carries its kind in its data.
#[derive(Deserialize)]
pub struct Emit {
    #[serde(alias = "name", alias = "kind")]
    pub topic: Name,
    #[serde(default, alias = "data", deserialize_with = "present")]
    payload: Option<Json>,
}

impl Emit {
    /// What it carries: its payload, or all that stands there where something stands beside its
    /// kind.
    pub fn payload(&self, draft: &Draft) -> Json {
        let whole = || {
            let data = draft.data.as_ref()?;
            let is_more = data.members().is_some_and(|members| members.len() > 1);
            is_more.then(|| data.clone())
        };
        let payload = self.payload.clone().or_else(whole);
        payload.unwrap_or_else(Json::null)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitRun {
    pub run_id: RunId,
    pub flow: Name,
    pub version: Name,
}

#[derive(Serialize, Deserialize)]
pub struct StateSet<'a> {
    pub key: Cow<'a, Path>,
    pub value: Json,
}

#[derive(Serialize, Deserialize)]
pub struct StateDelete<'a> {
    pub key: Cow<'a, Path>,
}

#[derive(Serialize, Deserialize)]
pub struct StateBatch<'a> {
    pub operations: Cow<'a, [StateOp]>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branches {
    branches: Vec<BranchData>,
    concurrency: u32,
    fail_fast: bool,
    as_list: bool,
    scoped: bool,
}

#[derive(Serialize, Deserialize)]
struct BranchData {
    step: Name,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    item: Option<Json>,
}

impl From<&Fork> for Branches {
    fn from(fork: &Fork) -> Self {
        let branch = |spec: &BranchSpec| BranchData {
            step: spec.step.clone(),
            item: spec.item.clone(),
        };
        Self {
            branches: fork.branches.iter().map(branch).collect(),
            concurrency: fork.concurrency,
            fail_fast: fork.fail_fast,
            as_list: fork.as_list,
            scoped: fork.scoped,
        }
    }
}

impl From<Branches> for Fork {
    fn from(data: Branches) -> Self {
        let spec = |data: BranchData| BranchSpec {
            step: data.step,
            item: data.item,
        };
        Self {
            branches: data.branches.into_iter().map(spec).collect(),
            concurrency: data.concurrency,
            fail_fast: data.fail_fast,
            as_list: data.as_list,
            scoped: data.scoped,
        }
    }
}

impl<'a> From<&'a Awaiting> for Await<'a> {
    fn from(awaiting: &'a Awaiting) -> Self {
        let Awaiting {
            id,
            what,
            until_ms,
            in_code,
        } = awaiting;
        let mut data = Self {
            await_id: id.clone(),
            event_kind: None,
            condition: None,
            trigger_id: None,
            trigger_type: None,
            resume_at: None,
            timeout_at: *until_ms,
            in_code: *in_code,
            retry_of: None,
        };
        match what {
            AwaitFor::Time => (data.resume_at, data.timeout_at) = (*until_ms, None),
            AwaitFor::Retry(operation) => {
                (data.resume_at, data.timeout_at) = (*until_ms, None);
                data.retry_of = Some(Cow::Borrowed(operation));
            }
            AwaitFor::Event {
                event_kind,
                condition,
            } => {
                data.event_kind = Some(event_kind.clone());
                data.condition = condition.as_ref().map(Cow::Borrowed);
            }
            AwaitFor::Trigger { trigger_type } => {
                data.trigger_id = Some(id.clone());
                data.trigger_type = Some(*trigger_type);
            }
        }
        data
    }
}

impl Await<'_> {
    pub fn into_awaiting(self, what: &'static str) -> Option<Awaiting> {
        let until_ms = self.resume_at.or(self.timeout_at);
        let what = match what {
            "time" => match self.retry_of {
                Some(operation) => AwaitFor::Retry(operation.into_owned()),
                None => AwaitFor::Time,
            },
            "event" => AwaitFor::Event {
                event_kind: self.event_kind?,
                condition: self.condition.map(Cow::into_owned),
            },
            _ => AwaitFor::Trigger {
                trigger_type: self.trigger_type?,
            },
        };
        Some(Awaiting {
            id: self.await_id,
            what,
            until_ms,
            in_code: self.in_code,
        })
    }
}
