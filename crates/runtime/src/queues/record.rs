//! Records and answers as JSON that keeps every payload's own text: nothing is rounded.

use std::borrow::Cow;

use riverrun_protocol::{Frame, LogLevel, WorkError};
use riverrun_types::{Draft, EventType, Json, Millis, Name, RunId, State};
use serde::Serialize;

/// The longest message of a log line.
const MAX_MESSAGE: usize = 64 << 10;

/// The event as which a frame is recorded; a heartbeat is not recorded.
pub(crate) fn frame_event(frame: &Frame, now_ms: Millis) -> Option<Draft> {
    let (kind, data) = match frame {
        Frame::Log {
            level,
            message,
            meta,
        } => {
            let kind = match level {
                LogLevel::Debug => EventType::LogDebug,
                LogLevel::Info => EventType::LogInfo,
                LogLevel::Warn => EventType::LogWarn,
                LogLevel::Error => EventType::LogError,
            };
            let message = cut(message);
            let meta = meta.as_ref();
            (kind, Json::of(&Log { message, meta }))
        }
        Frame::Progress { pct, detail } => {
            let progress = Progress {
                pct: pct.map(|pct| pct.clamp(0.0, 100.0)),
                detail: detail.as_ref(),
            };
            (EventType::Progress, Json::of(&progress))
        }
        Frame::Partial { path, value } => {
            let path = path.as_deref();
            (EventType::Partial, Json::of(&Partial { path, value }))
        }
        Frame::Heartbeat => return None,
    };
    let mut draft = Draft::new(now_ms, kind);
    draft.data = Some(data);
    Some(draft)
}

fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= MAX_MESSAGE {
        return Cow::Borrowed(message);
    }
    let end = (0..=MAX_MESSAGE)
        .rev()
        .find(|at| message.is_char_boundary(*at));
    Cow::Owned(format!("{}…", &message[..end.unwrap_or(0)]))
}

#[derive(Serialize)]
struct Log<'a> {
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a Json>,
}

#[derive(Serialize)]
struct Progress<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pct: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a Json>,
}

#[derive(Serialize)]
struct Partial<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    value: &'a Json,
}

/// One write to a state, as `state.set` and, with a type, in `state.batch`.
#[derive(Serialize)]
pub(super) struct Write<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    pub key: &'a str,
    pub value: &'a Json,
}

#[derive(Serialize)]
pub(super) struct Writes<'a> {
    pub operations: Vec<Write<'a>>,
}

/// A value of a state, if there is one, and the state's version.
#[derive(Serialize)]
pub(super) struct Read {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    pub version: u64,
}

#[derive(Serialize)]
pub(super) struct ReadAll<'a> {
    pub state: &'a State,
    pub version: u64,
}

/// The outcome of a `ctx.run`.
#[derive(Serialize)]
pub(super) struct Memo<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a Json>,
}

#[derive(Serialize)]
pub(super) struct Value<'a> {
    pub value: &'a Json,
}

/// The origin of a copy in a queue of dead letters.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetter<'a> {
    pub dead_letter_of: Origin<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Origin<'a> {
    pub queue: &'a Name,
    pub job_id: &'a RunId,
    pub attempt: u32,
    pub error: &'a Json,
    /// The origin of that one, if it was such a copy itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<&'a serde_json::Value>,
}

#[derive(Serialize)]
pub(super) struct Called<'a> {
    pub process: &'a Name,
    pub input: &'a Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered<'a> {
    pub value: &'a Json,
    pub duration_ms: i64,
}

#[derive(Serialize)]
pub(super) struct Failed<'a> {
    pub error: &'a WorkError,
}
