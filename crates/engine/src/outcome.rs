//! What a handler says when an attempt ends.

use riverrun_types::{Json, Millis, Name, RunId};
use serde::{Deserialize, Serialize};

use crate::Awaiting;

/// The answer of a handler.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Success {
        /// None writes nothing, even where the step has an `outputKey`.
        output: Option<Json>,
        /// Beats the transitions. `Some(None)` ends the path here.
        next: Option<Option<Name>>,
    },
    Failure(Failure),
    /// Go on at a time.
    Wait {
        until_ms: Millis,
        reason: Option<String>,
        /// What the step puts out then.
        output: Option<Json>,
        /// Where it goes then; where its transitions lead when absent.
        next: Option<Option<Name>>,
    },
    /// The handler's code waits: it runs again from the top, with the answer, when that has come.
    Await(Awaiting),
    /// Go on when these branches have ended.
    Fork(Fork),
    /// Start another flow, and go on when it has ended or at once.
    SubFlow(SubFlow),
}

impl Outcome {
    pub fn success(output: impl Into<Json>) -> Self {
        Self::Success {
            output: Some(output.into()),
            next: None,
        }
    }

    pub fn goto(step: impl Into<Name>) -> Self {
        Self::Success {
            output: None,
            next: Some(Some(step.into())),
        }
    }

    pub fn failure(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failure(Failure::new(code, message))
    }

    /// The step goes on at a time.
    pub fn wait_until(until_ms: Millis, reason: impl Into<String>) -> Self {
        Self::Wait {
            until_ms,
            reason: Some(reason.into()),
            output: None,
            next: None,
        }
    }
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub code: String,
    /// The kind of error in the handler's language, for `retryOn` alone: it is not recorded.
    #[serde(skip)]
    pub name: Option<Box<str>>,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<Name>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::fact::present"
    )]
    pub details: Option<Json>,
    /// `false` stops retries; `true` and nothing leave it to the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Try again after this long instead of the policy's delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Failure {
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            name: None,
            message: message.into(),
            step_id: None,
            details: None,
            retryable: None,
            retry_after_ms: None,
        }
    }

    pub fn details(mut self, details: impl Into<Json>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// The failure as others than its own step see it: they need the step's name, and no advice on
    /// retries that are over.
    pub(crate) fn at(self, step: &Name) -> Self {
        Self {
            step_id: Some(step.clone()),
            name: None,
            retryable: None,
            retry_after_ms: None,
            ..self
        }
    }

    pub fn permanent(mut self) -> Self {
        self.retryable = Some(false);
        self
    }
}

/// Branches that run beside each other inside a visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    pub branches: Vec<BranchSpec>,
    /// How many at a time; 0 is all.
    pub concurrency: u32,
    /// The first branch that fails cancels the others.
    pub fail_fast: bool,
    /// Whether the result is a list in the order of the branches, or an object by their names.
    pub as_list: bool,
    /// Whether what a branch writes stays in the branch.
    pub scoped: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BranchSpec {
    /// The step that the branch begins with; it ends where no transition leads on.
    pub step: Name,
    /// What the branch sees as `item`.
    pub item: Option<Json>,
}

/// A child run.
#[derive(Clone, Debug, PartialEq)]
pub struct SubFlow {
    /// The id that the child will have; made by whoever runs the handler.
    pub run: RunId,
    pub flow: Name,
    /// The version to start; the caller has resolved "latest".
    pub version: Name,
    pub input: Json,
    /// Go on at once and leave the child to itself.
    pub detached: bool,
}
