//! The result of a handler at the end of an attempt.

use riverrun_types::{Code, Failure, Json, Millis, Name, Parked, RunId, event::Fork};

use crate::Awaiting;

/// The answer of a handler.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Success {
        /// None writes nothing, even if the step has an `outputKey`.
        output: Option<Json>,
        /// Overrides the transitions. `Some(None)` ends the path here.
        next: Option<Option<Name>>,
    },
    Failure(Failure),
    /// Go on at a time.
    Wait {
        until_ms: Millis,
        reason: Option<String>,
        /// The output of the step then.
        output: Option<Json>,
        /// The next step then; by its transitions when absent.
        next: Option<Option<Name>>,
    },
    /// The handler's code waits: it runs again from the top, with the answer, when that has
    /// arrived.
    Await(Awaiting),
    /// The attempt is aborted, and the visit waits until it is released. That is no failure.
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

/// A child run.
#[derive(Clone, Debug, PartialEq)]
pub struct SubFlow {
    /// The id that the child will have; chosen by the runner of the handler.
    pub run: RunId,
    pub flow: Name,
    /// The version to start; the caller has resolved "latest".
    pub version: Name,
    pub input: Json,
    /// Go on at once without waiting for the child.
    pub detached: bool,
}
