//! Types that events and the states of runs share: visits, lineage, and why a run was cancelled or
//! parked.

use serde::{Deserialize, Serialize};

use crate::{Code, ErrorCode, Json, Name, RunId, StepRef, json::present};

/// A visit: a step and the n-th time it was entered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct VisitKey {
    pub step: Name,
    pub visit: u32,
}

impl VisitKey {
    pub fn of(at: &StepRef) -> Self {
        Self {
            step: at.name.clone(),
            visit: at.visit,
        }
    }
}

/// An operation of a handler's code that is recorded: what it does, under which name, and which
/// use of the name it is; absent for the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operation {
    pub op: Name,
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

/// Why a visit was parked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parked {
    pub code: Code,
    pub message: String,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Json>,
}

impl Parked {
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            details: None,
        }
    }

    /// Of work whose worker was lost this many times in a row.
    pub fn after_losses(losses: u32) -> Self {
        let message = format!("its worker was lost {losses} times in a row while it ran");
        Self::new(ErrorCode::Quarantined, message)
    }
}

/// Where a child run comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lineage {
    pub run_id: RunId,
    pub step: Name,
    pub visit: u32,
    /// How many runs are above it.
    pub depth: u32,
    /// The parent does not wait for it, and its end does not affect the child.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancellation {
    /// `user`, `timeout`, `system` or `parent`.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
