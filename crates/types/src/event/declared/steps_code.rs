//! Records of a step's code: operations that must not be repeated, and their failed tries.

use serde::{Deserialize, Serialize};

use crate::{
    Json, Millis, Name,
    event::{EventData, iso},
    json::present,
};

macro_rules! steps_code {
    ($($before:tt)*) => { collect! { $($before)*

22 StepMemo "step.memo" step(StepMemo);
27 StepMemoRetry "step.memo.retry" step(StepMemoRetry);

    } };
}

/// The default operation of an event that names none: `ctx.run`.
const CTX_RUN: &str = "memo";

fn ctx_run() -> Name {
    Name::from(CTX_RUN)
}

fn is_ctx_run(op: &Name) -> bool {
    **op == *CTX_RUN
}

/// An operation has its outcome. Without a visit it belongs to a job's code, and changes no run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepMemo {
    #[serde(default = "ctx_run", skip_serializing_if = "is_ctx_run")]
    pub op: Name,
    pub name: Name,
    /// Which use of the name it is; absent for the first.
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
    /// The kinds of the events that were emitted inside of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Name>,
}

impl EventData for StepMemo {}

/// An operation failed, and is tried again by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepMemoRetry {
    #[serde(default = "ctx_run", skip_serializing_if = "is_ctx_run")]
    pub op: Name,
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// The try of the operation that failed, from 1.
    #[serde(rename = "attempt")]
    pub failures: u32,
    pub error: Json,
    pub delay_ms: Millis,
    #[serde(rename = "nextRetryAt", with = "iso")]
    pub until_ms: Millis,
}

impl EventData for StepMemoRetry {}
