//! The recorded operations of a visit's code.

use riverrun_types::{
    Json, Millis, Name, Operation,
    event::{StepMemo, StepMemoRetry},
    json::present,
};
use serde::{Deserialize, Serialize};

/// An operation of a handler's code that must not be repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memo {
    /// `memo`, `emit`, `await` or `trigger`.
    pub op: Name,
    pub name: Name,
    /// Which use of the name it was, as the code counts; absent for the first. Concurrent
    /// operations end in another order than they began in.
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
    /// The kinds of the events that were emitted inside of this `ctx.run`. Their records belong to
    /// it and are not read again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<Name>,
}

/// A failed try of an operation that is to be tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoRetry {
    pub operation: Operation,
    /// Tries that failed so far.
    pub failures: u32,
    /// Why the last one failed.
    pub error: Json,
    /// When it is tried again.
    pub until_ms: Millis,
}

impl Memo {
    pub(super) fn is_of(&self, operation: &Operation) -> bool {
        let Operation { op, name, nth } = operation;
        self.op == *op && self.name == *name && self.nth == *nth
    }
}

impl From<Memo> for StepMemo {
    fn from(memo: Memo) -> Self {
        let Memo {
            op,
            name,
            nth,
            value,
            error,
            emits,
        } = memo;
        Self {
            op,
            name,
            nth,
            value,
            error,
            emits,
        }
    }
}

impl From<&StepMemo> for Memo {
    fn from(data: &StepMemo) -> Self {
        let StepMemo {
            op,
            name,
            nth,
            value,
            error,
            emits,
        } = data.clone();
        Self {
            op,
            name,
            nth,
            value,
            error,
            emits,
        }
    }
}

impl MemoRetry {
    /// The event of the failed try, with the time until the next one.
    pub fn data(self, delay_ms: Millis) -> StepMemoRetry {
        let Operation { op, name, nth } = self.operation;
        StepMemoRetry {
            op,
            name,
            nth,
            failures: self.failures,
            error: self.error,
            delay_ms,
            until_ms: self.until_ms,
        }
    }
}

impl From<&StepMemoRetry> for MemoRetry {
    fn from(data: &StepMemoRetry) -> Self {
        Self {
            operation: Operation {
                op: data.op.clone(),
                name: data.name.clone(),
                nth: data.nth,
            },
            failures: data.failures,
            error: data.error.clone(),
            until_ms: data.until_ms,
        }
    }
}
