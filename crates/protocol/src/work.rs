//! What stands in the messages.

use riverrun_types::Json;
use serde::{Deserialize, Serialize};

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
            message_bytes: crate::MESSAGE_BYTES,
            result_bytes: 1 << 20,
        }
    }
}

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<u32>,
    /// What a remote worker that has come back still runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
}

/// What a remote worker that was let in is told first.
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

/// Something that is wrong and keeps nobody from working.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub code: String,
    pub message: String,
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
    /// Tells this worker from every other, over all its connections.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub file: String,
    pub revision: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    pub processes: Vec<LoadedProcess>,
}

/// A process as its module or its worker describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedProcess {
    /// Given by remote workers; a runner's processes are named by their file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    #[serde(default = "Json::null")]
    pub config: Json,
}

/// One call of a handler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// What a handler is told of a job.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<WorkError>,
}

/// How an invocation ended well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// Of a batch: for each job a value or an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ReplyItem>>,
    /// Of a step: its code waits, and is to be called again when that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Suspended>,
    /// Of a step that waits: what its code has read since something was last recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<JournalEntry>,
}

/// What the code of a step waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspended {
    /// `time`, `event` or `trigger`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of a time: when, as ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<String>,
    /// Of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kind: Option<String>,
    /// Of an event: values that it has at dot paths.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub equal: Option<Json>,
    /// Of an event: the source of a function of the event.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Of an event: those of the last so many milliseconds count too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<u64>,
    /// Of an event: `run` in place of a time, for the events since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<String>,
    /// Of a trigger: the id that `await.trigger` answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    #[serde(
        default,
        deserialize_with = "coded",
        skip_serializing_if = "Option::is_none"
    )]
    pub error: Option<WorkError>,
}

/// The error of one job of a batch has the code that it would have alone.
fn coded<'de, D: serde::Deserializer<'de>>(given: D) -> Result<Option<WorkError>, D::Error> {
    let error = Option::<WorkError>::deserialize(given)?;
    Ok(error.map(WorkError::of_handler))
}

/// Why work failed: what a handler says, and what riverrun says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkError {
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retriable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
}

impl WorkError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// As a handler said it: without a code of its own it is `HANDLER_ERROR`.
    pub fn of_handler(mut self) -> Self {
        if self.code.is_empty() {
            self.code = "HANDLER_ERROR".to_owned();
        }
        self
    }

    /// Not to be tried again.
    pub fn permanent(mut self) -> Self {
        self.retriable = Some(false);
        self
    }

    pub fn details(mut self, details: &impl Serialize) -> Self {
        self.details = Some(Json::of(details));
        self
    }

    pub fn is_cancelled(&self) -> bool {
        self.code == "CANCELLED"
    }
}

impl From<WorkError> for crate::RpcError {
    fn from(error: WorkError) -> Self {
        let code = match error.is_cancelled() {
            true => crate::code::CANCELLED,
            false => crate::code::FAILED,
        };
        let message = error.message.clone();
        let data = Some(Json::of(&error));
        Self {
            code,
            message,
            data,
        }
    }
}

impl From<crate::RpcError> for WorkError {
    fn from(error: crate::RpcError) -> Self {
        let said: Option<Self> = error.data.as_ref().and_then(|data| data.read().ok());
        let mut work = said.unwrap_or_default();
        if work.message.is_empty() {
            work.message = error.message;
        }
        if work.code.is_empty() && error.code == crate::code::CANCELLED {
            work.code = "CANCELLED".to_owned();
        }
        work.of_handler()
    }
}

/// Something that an invocation says on its way.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    Log {
        level: LogLevel,
        message: String,
        meta: Option<Json>,
    },
    Progress {
        pct: Option<f64>,
        detail: Option<Json>,
    },
    Partial {
        path: Option<String>,
        value: Json,
    },
    Heartbeat,
}

impl Frame {
    /// Reads a notification that belongs to an invocation; `None` if it is none of these. One that
    /// does not fit is a warning that says so: whoever wrote it finds it in the log.
    pub fn read(method: &str, params: &Json) -> Option<(Whose, Self)> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            invocation: Option<u64>,
            job_id: Option<String>,
            level: Option<LogLevel>,
            message: Option<String>,
            meta: Option<Json>,
            pct: Option<f64>,
            detail: Option<Json>,
            path: Option<String>,
            value: Option<Json>,
        }
        if !["log", "progress", "partial", "heartbeat"].contains(&method) {
            return None;
        }
        let params: Params = match params.read() {
            Ok(params) => params,
            Err(_) => {
                let mut text = serde_json::Deserializer::from_str(params.as_str());
                let read = serde_path_to_error::deserialize::<_, Params>(&mut text);
                return Some(Self::malformed(method, params, read.err()));
            }
        };
        let frame = match method {
            "log" => Self::Log {
                level: params.level.unwrap_or_default(),
                message: params.message.unwrap_or_default(),
                meta: params.meta,
            },
            "progress" => Self::Progress {
                pct: params.pct,
                detail: params.detail,
            },
            "partial" => Self::Partial {
                path: params.path,
                value: params.value.unwrap_or_else(Json::null),
            },
            "heartbeat" => Self::Heartbeat,
            _ => return None,
        };
        let whose = Whose {
            invocation: params.invocation,
            job_id: params.job_id,
        };
        Some((whose, frame))
    }

    fn malformed(
        method: &str,
        params: &Json,
        error: Option<serde_path_to_error::Error<serde_json::Error>>,
    ) -> (Whose, Self) {
        let why = error.map_or_else(String::new, |error| match error.path().to_string() {
            path if path == "." => format!(": {}", error.inner()),
            path => format!(": {path}: {}", error.inner()),
        });
        let whose = Whose {
            invocation: params.get("invocation").and_then(|id| id.read().ok()),
            job_id: params.get("jobId").and_then(|id| id.read().ok()),
        };
        let frame = Self::Log {
            level: LogLevel::Warn,
            message: format!("a {method:?} of the handler cannot be read and is left out{why}"),
            meta: None,
        };
        (whose, frame)
    }

    /// The notification of an invocation that says it.
    pub fn message(&self, invocation: u64) -> crate::Message {
        #[derive(Serialize)]
        struct Params<'a> {
            invocation: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            level: Option<LogLevel>,
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            meta: Option<&'a Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            pct: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            detail: Option<&'a Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            path: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            value: Option<&'a Json>,
        }
        let mut params = Params {
            invocation,
            level: None,
            message: None,
            meta: None,
            pct: None,
            detail: None,
            path: None,
            value: None,
        };
        let method = match self {
            Self::Log {
                level,
                message,
                meta,
            } => {
                params.level = Some(*level);
                params.message = Some(message);
                params.meta = meta.as_ref();
                "log"
            }
            Self::Progress { pct, detail } => {
                params.pct = *pct;
                params.detail = detail.as_ref();
                "progress"
            }
            Self::Partial { path, value } => {
                params.path = path.as_deref();
                params.value = Some(value);
                "partial"
            }
            Self::Heartbeat => "heartbeat",
        };
        crate::Message::notification(method, &params)
    }
}

/// To whom something that was said belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    pub invocation: Option<u64>,
    /// In a batch, one of its jobs; the first where absent.
    pub job_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    #[default]
    Info,
    Warn,
    Error,
}

impl LogLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_error_of_one_job_of_a_batch_has_a_code() {
        let reply = json!({"results": [
            {"value": 1}, {"error": {"message": "plain"}}, {"error": {"code": "CARD"}},
        ]});
        let reply: Reply = Json::of(&reply).read().unwrap();
        let errors = reply.results.unwrap().into_iter().map(|item| item.error);
        let codes: Vec<Option<String>> = errors.map(|error| Some(error?.code)).collect();
        let expected = [None, Some("HANDLER_ERROR"), Some("CARD")];
        assert_eq!(codes, expected.map(|code| code.map(str::to_owned)));
    }

    #[test]
    fn an_invocation_is_flat_and_leaves_out_what_it_has_not() {
        let invoke = Invoke {
            process: "resize".to_owned(),
            file: None,
            export: None,
            revision: None,
            kind: "call".to_owned(),
            queue: None,
            job: JobInput {
                input: Some(Json::of(&json!({"a": 1}))),
                attempt: 1,
                max_attempts: 1,
                ..JobInput::default()
            },
            jobs: Vec::new(),
            run_id: None,
            flow: None,
            step: None,
            visit: None,
            awaited: None,
            timeout_ms: None,
            lease: None,
        };
        let text = serde_json::to_string(&invoke).unwrap();
        assert_eq!(
            text,
            r#"{"process":"resize","kind":"call","input":{"a":1},"attempt":1,"maxAttempts":1}"#
        );
        assert_eq!(Invoke::read(&Json::of(&invoke)).unwrap(), invoke);
    }

    #[test]
    fn errors_of_handlers_keep_what_they_say() {
        let said = WorkError {
            code: "CARD".to_owned(),
            message: "declined".to_owned(),
            retriable: Some(false),
            retry_after_ms: Some(5),
            ..WorkError::default()
        };
        let rpc = crate::RpcError::from(said.clone());
        assert_eq!(rpc.code, crate::code::FAILED);
        assert_eq!(WorkError::from(rpc), said);
        let bare = crate::RpcError {
            code: crate::code::CANCELLED,
            message: "told to".to_owned(),
            data: None,
        };
        assert!(WorkError::from(bare).is_cancelled());
    }

    #[test]
    fn frames_read_from_notifications() {
        let params =
            Json::of(&json!({"invocation": 7, "jobId": "a", "level": "warn", "message": "hot"}));
        let (whose, frame) = Frame::read("log", &params).unwrap();
        assert_eq!(whose.invocation, Some(7));
        assert_eq!(whose.job_id.as_deref(), Some("a"));
        assert_eq!(
            frame,
            Frame::Log {
                level: LogLevel::Warn,
                message: "hot".to_owned(),
                meta: None
            }
        );
        let partial = Frame::Partial {
            path: Some("a.b".to_owned()),
            value: Json::of(&json!([1])),
        };
        for frame in [frame, partial, Frame::Heartbeat] {
            let crate::Message::Notification { method, params } = frame.message(7) else {
                panic!("a frame is a notification");
            };
            let whose = Whose {
                invocation: Some(7),
                job_id: None,
            };
            assert_eq!(Frame::read(&method, &params), Some((whose, frame)));
        }
        assert_eq!(Frame::read("nope", &params), None);
    }

    #[test]
    fn a_frame_that_does_not_fit_is_a_warning() {
        for (method, params, why) in [
            (
                "progress",
                json!({"invocation": 7, "jobId": "a", "pct": "x"}),
                "pct: invalid type: string \"x\"",
            ),
            (
                "partial",
                json!({"invocation": 7, "jobId": "a", "path": 3}),
                "path: invalid type: integer `3`",
            ),
        ] {
            let (whose, frame) = Frame::read(method, &Json::of(&params)).unwrap();
            assert_eq!(
                (whose.invocation, whose.job_id.as_deref()),
                (Some(7), Some("a"))
            );
            let Frame::Log { level, message, .. } = frame else {
                panic!("{frame:?}");
            };
            assert_eq!(level, LogLevel::Warn);
            assert!(
                message.contains(method) && message.contains(why),
                "{message}"
            );
        }
        let (whose, frame) = Frame::read("log", &Json::from("x")).unwrap();
        assert_eq!(whose, Whose::default());
        assert!(matches!(frame, Frame::Log { .. }));
    }
}
