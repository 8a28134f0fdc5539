//! Operations of a handler's code (`ctx.run` and the like) that failed: whether they are tried
//! again, and when. The rule is that of attempts ([`riverrun_engine::retry`]).

use std::collections::HashMap;

use parking_lot::Mutex;
use riverrun_contract::operation_retry;
use riverrun_engine::{Failure, Operation, retry};
use riverrun_protocol::{JournalEntry, WorkError};
use riverrun_types::{ErrorCode, Json, Millis, Name, Retry};
use serde::Deserialize;
use serde_json::json;

/// The request `memo.failed`: a try of an operation has failed.
#[derive(Deserialize)]
pub(crate) struct FailedTry {
    pub op: Option<Name>,
    pub name: Name,
    pub nth: Option<u32>,
    pub error: Json,
    /// The retry policy that the code asks for, where it differs from its process's.
    pub retry: Option<Json>,
    #[serde(default)]
    pub emits: Vec<Name>,
    #[serde(default)]
    pub seen: Vec<JournalEntry>,
}

/// The state of a failed operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tried {
    pub failures: u32,
    /// When it is tried again.
    pub until_ms: Millis,
    /// The size of its record in the journal.
    pub bytes: usize,
}

/// The decision about an operation that failed again.
pub(crate) enum Next {
    /// It is tried again after so many milliseconds.
    Again { failures: u32, delay_ms: Millis },
    /// That was its last try: this is its outcome.
    Final(Json),
}

/// The failed tries of one invocation.
#[derive(Default)]
pub(crate) struct Tries(Mutex<HashMap<Operation, Tried>>);

impl Tries {
    pub fn new(known: impl IntoIterator<Item = (Operation, Tried)>) -> Self {
        Self(Mutex::new(known.into_iter().collect()))
    }

    /// Decides on a failed try; nothing is remembered yet.
    pub fn next(&self, failed: &FailedTry, process: &Retry) -> Result<Next, WorkError> {
        let policy = operation_retry(process, failed.retry.as_ref())?;
        let read: Result<WorkError, _> = failed.error.read();
        let unreadable = |error| WorkError::new(ErrorCode::InputError, format!("error: {error}"));
        let error = read.map_err(unreadable)?.of_handler();
        let known = self.0.lock().get(&failed.operation()).cloned();
        let failures = known.map_or(0, |known| known.failures).saturating_add(1);
        let failure = failure_of(error);
        let delay_ms = retry::after_failure(Some(&policy), &failure, failures, rand::random());
        Ok(match delay_ms {
            Some(delay_ms) => Next::Again { failures, delay_ms },
            None => Next::Final(permanent(&failed.error)),
        })
    }

    /// Remembers a recorded try; returns the earlier state.
    pub fn failed(&self, operation: Operation, tried: Tried) -> Option<Tried> {
        self.0.lock().insert(operation, tried)
    }

    /// The operation has its outcome.
    pub fn ended(&self, operation: &Operation) -> Option<Tried> {
        let mut tries = self.0.lock();
        match tries.is_empty() {
            true => None,
            false => tries.remove(operation),
        }
    }

    /// The operation that is tried again first, and when.
    pub fn first(&self) -> Option<(Operation, Millis)> {
        let tries = self.0.lock();
        let first = tries.iter().min_by_key(|(_, tried)| tried.until_ms)?;
        Some((first.0.clone(), first.1.until_ms))
    }
}

impl FailedTry {
    pub fn operation(&self) -> Operation {
        Operation {
            op: self.op.clone().unwrap_or_else(|| Name::from("memo")),
            name: self.name.clone(),
            nth: self.nth,
        }
    }
}

/// The answer that an operation has failed for good.
pub(crate) fn final_answer() -> Json {
    Json::of(&json!({ "final": true }))
}

pub(crate) fn failure_of(error: WorkError) -> Failure {
    let failure = Failure::new(error.code, error.message);
    let mut failure = failure.thrown(error.name, error.stack);
    failure.retriable = error.retriable;
    failure.retry_after_ms = error.retry_after_ms;
    failure.details = error.details;
    failure
}

/// The error as it is recorded: code that does not catch it has failed for good.
fn permanent(error: &Json) -> Json {
    let mut value = error.value();
    if let Some(members) = value.as_object_mut() {
        members.insert("retriable".to_owned(), json!(false));
        members.shift_remove("retryAfterMs");
    }
    Json::of(&value)
}
