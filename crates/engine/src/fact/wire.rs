//! The data of each event type as it stands on the wire. What is written is borrowed from the
//! fact; what is read is owned.

use std::borrow::Cow;

use riverrun_types::{Json, Millis, Name, Path, RunId};
use serde::{Deserialize, Serialize};

use super::{StateOp, iso, present};
use crate::{BranchSpec, Failure, Fork};

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
pub struct StepResumed<'a> {
    pub reason: Cow<'a, str>,
    pub await_duration: Millis,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitTime<'a> {
    #[serde(with = "iso")]
    pub resume_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
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
