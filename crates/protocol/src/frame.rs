//! Notifications of an invocation: logs, progress, partial results.

use riverrun_types::{Json, json::strict::Strict};
use serde::{Deserialize, Serialize};

use crate::Message;

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
    /// Reads a notification of an invocation; `None` for other methods. An invalid one becomes a
    /// warning in the log of the invocation.
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
                let read = serde_path_to_error::deserialize::<_, Params>(Strict::new(&mut text));
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

    /// Its method, and what stands in its params beside whose it is.
    pub fn parts(&self) -> (&'static str, FrameParams<'_>) {
        let mut params = FrameParams::default();
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
        (method, params)
    }

    /// The notification of an invocation that says it.
    pub fn message(&self, invocation: u64) -> Message {
        #[derive(Serialize)]
        struct Params<'a> {
            invocation: u64,
            #[serde(flatten)]
            frame: FrameParams<'a>,
        }
        let (method, frame) = self.parts();
        Message::notification(method, &Params { invocation, frame })
    }
}

/// What a frame says; each kind has its own part of it. Payloads keep their text.
#[derive(Default, Serialize)]
pub struct FrameParams<'a> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
            let Message::Notification { method, params } = frame.message(7) else {
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
