//! What a handler says when an attempt ends.

use riverrun_types::{Code, Json, Millis, Name, RunId};
use serde::{Deserialize, Serialize};

use crate::{Awaiting, Parked};

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
    /// The attempt is given up, and the visit waits until it is released. That is no failure.
    Park(Parked),
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

    pub fn failure(code: impl Into<Code>, message: impl Into<String>) -> Self {
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
#[serde(from = "Written", into = "Written")]
pub struct Failure {
    pub code: Code,
    pub message: String,
    /// Of what a handler threw. Few failures have it, so it stands apart.
    pub thrown: Option<Box<Thrown>>,
    pub step_id: Option<Name>,
    pub details: Option<Json>,
    /// `false` stops retries; `true` and nothing leave it to the policy.
    pub retriable: Option<bool>,
    /// Try again after this long instead of the policy's delay.
    pub retry_after_ms: Option<u64>,
}

/// What the handler's language says of an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thrown {
    /// The kind of error.
    pub name: Option<Box<str>>,
    /// Where in the code it was thrown.
    pub stack: Option<Box<str>>,
}

impl Failure {
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            thrown: None,
            step_id: None,
            details: None,
            retriable: None,
            retry_after_ms: None,
        }
    }

    /// With what the handler's language says of it.
    pub fn thrown(mut self, name: Option<Box<str>>, stack: Option<Box<str>>) -> Self {
        let is_known = name.is_some() || stack.is_some();
        self.thrown = is_known.then(|| Box::new(Thrown { name, stack }));
        self
    }

    pub fn details(mut self, details: impl Into<Json>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// The failure as others than its own step see it: they need the step's name, and neither the
    /// way to it through the code nor advice on retries that are over.
    pub(crate) fn at(self, step: &Name) -> Self {
        Self {
            step_id: Some(step.clone()),
            thrown: None,
            retriable: None,
            retry_after_ms: None,
            ..self
        }
    }

    pub fn permanent(mut self) -> Self {
        self.retriable = Some(false);
        self
    }
}

/// A failure as events have it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    code: Code,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Box<str>>,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step_id: Option<Name>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::fact::present"
    )]
    details: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "retryable")]
    retriable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl From<Written> for Failure {
    fn from(written: Written) -> Self {
        Self {
            step_id: written.step_id,
            details: written.details,
            retriable: written.retriable,
            retry_after_ms: written.retry_after_ms,
            ..Self::new(written.code, written.message)
        }
        .thrown(written.name, written.stack)
    }
}

impl From<Failure> for Written {
    fn from(failure: Failure) -> Self {
        let Thrown { name, stack } = failure.thrown.map(|thrown| *thrown).unwrap_or_default();
        Self {
            code: failure.code,
            name,
            message: failure.message,
            stack,
            step_id: failure.step_id,
            details: failure.details,
            retriable: failure.retriable,
            retry_after_ms: failure.retry_after_ms,
        }
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
