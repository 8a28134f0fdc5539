//! JSON-RPC 2.0 in one line.

use std::borrow::Cow;

use memchr::memchr2;
use riverrun_types::{ErrorCode, Json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::WorkError;

/// Codes of JSON-RPC errors; what they mean here is in `data.code`.
pub mod code {
    pub const UNKNOWN_METHOD: i64 = -32601;
    pub const BAD_PARAMS: i64 = -32602;
    /// An error of riverrun or of a handler.
    pub const FAILED: i64 = -32000;
    /// A handler that stopped because it was asked to.
    pub const CANCELLED: i64 = -32001;
    /// The server accepts nothing more from this execution: its code must not continue.
    pub const EXECUTION_OVER: i64 = -32002;
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Request {
        id: u64,
        method: String,
        params: Json,
    },
    Notification {
        method: String,
        params: Json,
    },
    Response {
        id: u64,
        outcome: Result<Json, RpcError>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadMessage {
    #[error("not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("neither a request nor a notification nor a response")]
    Shapeless,
}

#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(
        borrow,
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    result: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

/// What is there is there, even if it is null.
fn present<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

impl Message {
    pub fn request(id: u64, method: &str, params: &impl Serialize) -> Self {
        Self::Request {
            id,
            method: method.to_owned(),
            params: Json::of(params),
        }
    }

    pub fn notification(method: &str, params: &impl Serialize) -> Self {
        Self::Notification {
            method: method.to_owned(),
            params: Json::of(params),
        }
    }

    pub fn response(id: u64, outcome: Result<Json, RpcError>) -> Self {
        Self::Response { id, outcome }
    }

    /// Reads a line. A response whose result cannot be read becomes a failed one, so that the request
    /// gets an error instead of no answer.
    pub fn read(line: &[u8]) -> Result<Self, BadMessage> {
        let wire: Wire<'_> = serde_json::from_slice(line)?;
        let json = |raw: Option<&RawValue>| {
            raw.map_or_else(|| Ok(Json::null()), |raw| raw.to_owned().try_into())
        };
        Ok(match wire {
            Wire {
                id: Some(id),
                method: Some(method),
                params,
                ..
            } => Self::Request {
                id,
                method: method.into_owned(),
                params: json(params)?,
            },
            Wire {
                id: None,
                method: Some(method),
                params,
                ..
            } => Self::Notification {
                method: method.into_owned(),
                params: json(params)?,
            },
            Wire {
                id: Some(id),
                error: Some(error),
                ..
            } => Self::response(id, Err(error)),
            Wire {
                id: Some(id),
                result: Some(result),
                ..
            } => Self::response(id, json(Some(result)).map_err(unreadable)),
            _ => return Err(BadMessage::Shapeless),
        })
    }

    /// Adds the message to `bytes`, with its line end.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let mut wire = Wire {
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
        };
        match self {
            Self::Request { id, method, params } => {
                wire.id = Some(*id);
                wire.method = Some(Cow::Borrowed(method));
                wire.params = Some(params.raw());
            }
            Self::Notification { method, params } => {
                wire.method = Some(Cow::Borrowed(method));
                wire.params = Some(params.raw());
            }
            Self::Response { id, outcome } => {
                wire.id = Some(*id);
                match outcome {
                    Ok(result) => wire.result = Some(result.raw()),
                    Err(error) => wire.error = Some(error.clone()),
                }
            }
        }
        write_line(bytes, &wire);
    }

    /// Adds a request to `bytes` without making a message of it first: params are copied once.
    pub fn write_request(bytes: &mut Vec<u8>, id: u64, method: &str, params: &impl Serialize) {
        write_line(bytes, &Straight { id, method, params });
    }
}

#[derive(Serialize)]
struct Straight<'a, T> {
    id: u64,
    method: &'a str,
    params: &'a T,
}

fn write_line(bytes: &mut Vec<u8>, wire: &impl Serialize) {
    let begin = bytes.len();
    if let Err(error) = serde_json::to_writer(&mut *bytes, wire) {
        // Strings and JSON always serialise; a half-written line must not stay all the same.
        bytes.truncate(begin);
        debug_assert!(false, "{error}");
        return;
    }
    // Payloads are kept as they came and may hold line breaks between their tokens.
    let mut line = &mut bytes[begin..];
    while let Some(at) = memchr2(b'\n', b'\r', line) {
        line[at] = b' ';
        line = &mut line[at + 1..];
    }
    bytes.push(b'\n');
}

fn unreadable(error: serde_json::Error) -> RpcError {
    let message = format!("the result cannot be read: {error}");
    WorkError::new(ErrorCode::HandlerError, message)
        .permanent()
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_read_back_from_their_lines() {
        let error = RpcError {
            code: code::FAILED,
            message: "no\nluck".to_owned(),
            data: Some(Json::of(&json!({"code": "X"}))),
        };
        for message in [
            Message::request(7, "invoke", &json!({"input": [1, 2]})),
            Message::notification("log", &json!({"message": "a\nb"})),
            Message::response(7, Ok(Json::null())),
            Message::response(8, Err(error)),
        ] {
            let mut bytes = Vec::new();
            message.write(&mut bytes);
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!((lines, bytes.last()), (1, Some(&b'\n')));
            assert_eq!(Message::read(&bytes[..bytes.len() - 1]).unwrap(), message);
        }
        let mut straight = Vec::new();
        Message::write_request(&mut straight, 7, "load", &json!({"file": "a"}));
        let mut whole = Vec::new();
        Message::request(7, "load", &json!({"file": "a"})).write(&mut whole);
        assert_eq!(straight, whole);
    }

    #[test]
    fn payloads_with_line_breaks_stay_one_line() {
        let pretty = Json::parse_text("{\n  \"a\": 1\n}".to_owned()).unwrap();
        let mut bytes = Vec::new();
        Message::response(1, Ok(pretty)).write(&mut bytes);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\"id\":1,\"result\":{   \"a\": 1 }}\n"
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"id\":1}",
            "{\"id\":-1,\"method\":\"x\"}",
            "nope",
            "{\"result\":1}",
            "{\"id\":1,\"method\":\"x\",\"params\":[1e999]}",
            r#"{"method":"x","params":{"\ud800":1}}"#,
        ] {
            assert!(Message::read(text.as_bytes()).is_err(), "{text}");
        }
        let answer = Message::read(br#"{"id":1,"result":{"value":"\ud800"}}"#).unwrap();
        assert!(matches!(
            answer,
            Message::Response {
                id: 1,
                outcome: Err(_)
            }
        ));
        let unknown = br#"{"jsonrpc":"2.0","id":1,"result":null,"more":[]}"#;
        assert_eq!(
            Message::read(unknown).unwrap(),
            Message::response(1, Ok(Json::null()))
        );
    }
}
