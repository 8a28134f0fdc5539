//! One invocation of a handler, and its cancellation.

use riverrun_types::Json;
use serde::{Deserialize, Serialize};

/// One call of a handler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoke {
    pub process: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// `job`, `call` or `step`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Among the other members. [`Invoke::read`] finds them there; payloads that keep their text
    /// cannot be read through a flattened struct.
    #[serde(flatten, skip_deserializing)]
    pub job: JobInput,
    /// The jobs of a batch, in place of one input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobInput>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit: Option<u32>,
    /// Of a step: what the await that its config declares has brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<Json>,
    /// Of a step: operations of its code whose next try has its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<PendingRetry>,
    /// Of a step whose type names the process: the step's config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

impl Invoke {
    /// Reads the params of an `invoke`.
    pub fn read(params: &Json) -> Result<Self, serde_json::Error> {
        let mut invoke: Self = params.read()?;
        invoke.job = params.read()?;
        Ok(invoke)
    }

    /// What the journals take of the message.
    pub fn journal_bytes(&self) -> usize {
        let jobs = self.jobs.iter().chain([&self.job]);
        jobs.flat_map(|job| &job.journal)
            .map(JournalEntry::bytes)
            .sum()
    }
}

/// What a handler gets of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobInput {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    pub attempt: u32,
    pub max_attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Json>,
    /// What earlier attempts recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<JournalEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enqueued_at: Option<String>,
}

/// Something that an earlier attempt recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub op: String,
    pub name: String,
    /// Which use of the name it was, for what may run side by side; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    /// Of a `ctx.run`: the kinds of the events that were emitted inside of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<String>,
}

/// An operation of a step's code that failed before and is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingRetry {
    pub op: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    #[serde(flatten)]
    pub next: TryAgain,
}

/// When and how an operation is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TryAgain {
    /// The number of the try that comes, from 2.
    pub attempt: u32,
    pub retry_after_ms: u64,
    /// The execution is to end and leave the wait to the server, once nothing else is under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
}

impl JournalEntry {
    /// What it takes of a message, or a little more.
    pub fn bytes(&self) -> usize {
        let given = [&self.value, &self.error].into_iter().flatten();
        let texts = [&self.op, &self.name].into_iter().chain(&self.emits);
        let texts: usize = texts.map(|text| text.len() + "\"name\":\"\",".len()).sum();
        texts + given.map(Json::bytes).sum::<usize>() + AROUND
    }
}

/// What the names of an entry's members take.
const AROUND: usize = 64;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancel {
    pub invocation: u64,
    pub reason: CancelReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CancelReason {
    User,
    Timeout,
    Shutdown,
    LeaseLost,
    ClientGone,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invocation_is_flat_and_leaves_out_what_it_has_not() {
        let invoke = Invoke {
            process: "resize".to_owned(),
            kind: "call".to_owned(),
            job: JobInput {
                input: Some(Json::of(&json!({"a": 1}))),
                attempt: 1,
                max_attempts: 1,
                ..JobInput::default()
            },
            ..Invoke::default()
        };
        let text = serde_json::to_string(&invoke).unwrap();
        assert_eq!(
            text,
            r#"{"process":"resize","kind":"call","input":{"a":1},"attempt":1,"maxAttempts":1}"#
        );
        assert_eq!(Invoke::read(&Json::of(&invoke)).unwrap(), invoke);
    }
}
