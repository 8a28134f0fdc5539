//! The handshake between the server and a program, and its end.

use riverrun_types::Code;
use serde::{Deserialize, Serialize};

use crate::{Invoke, LoadedProcess, MESSAGE_BYTES};

/// What the server asks first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialise {
    pub protocol: u32,
    pub server: Server,
    pub limits: Limits,
    /// The project's folder, for runners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// For remote workers: how long one whose connection broke may take to come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Server {
    pub name: String,
    pub version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub message_bytes: usize,
    pub result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: MESSAGE_BYTES,
            result_bytes: 1 << 20,
        }
    }
}

/// Who the program is that answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialised {
    pub protocol: u32,
    pub sdk: Sdk,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerInfo>,
    /// Of a remote worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<LoadedProcess>,
    /// What a remote worker could not load, each in a few words: the steps that are in there belong
    /// to flows too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
    /// The same with what is known of each, so that only the flows which it belongs to wait for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_files: Vec<NotLoaded>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<u32>,
    /// What a remote worker that has come back still runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
}

/// A file of a project that could not be loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotLoaded {
    /// The id of its process. None if it is not known: then it may belong to every flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In a few words.
    pub why: String,
    /// The texts in quotes in it, as far as they may be names of flows, events or steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
}

impl NotLoaded {
    pub const MAX_MENTIONS: usize = 500;
    pub const MAX_MENTION_CHARS: usize = 200;

    /// Whether its path or its text names a flow.
    pub fn names_flow(&self, flow: &str) -> bool {
        let mut parts = self.id.as_deref().unwrap_or_default().split('/');
        parts.any(|part| part == flow) || self.mentions.iter().any(|word| word == flow)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sdk {
    pub name: String,
    pub version: String,
    pub language: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerInfo {
    pub name: String,
    /// Identifies this worker over all its connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    pub job_id: String,
    pub lease: String,
    /// The id under which the worker knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<u64>,
}

impl Running {
    /// What both sides call an invocation. A call has no job and no lease: its run stands for them,
    /// and the first job for a batch.
    pub fn of(invocation: u64, invoke: &Invoke) -> Self {
        let of_batch = invoke.jobs.first().and_then(|job| job.job_id.as_ref());
        let id = invoke.job.job_id.as_ref().or(of_batch);
        Self {
            job_id: id.or(invoke.run_id.as_ref()).cloned().unwrap_or_default(),
            lease: invoke.lease.clone().unwrap_or_default(),
            invocation: Some(invocation),
        }
    }
}

/// The first message to a remote worker that was accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Welcome {
    /// Its number in the list of workers.
    pub worker_id: u64,
    /// The processes that it offers and the server has itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadowed: Vec<String>,
    /// The flows that its processes make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<MadeFlow>,
    /// Why some flow is not what its processes say. It can work all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeFlow {
    pub id: String,
    pub version: String,
}

/// A problem that does not keep the worker from working.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub code: Code,
    pub message: String,
    /// The flow that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// How many invocations more a remote worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    pub credits: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    #[serde(default)]
    pub grace_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drained {
    pub unfinished: u32,
}
