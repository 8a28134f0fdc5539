//! Reads a response within its limit and makes an outcome of it.

use jiff::fmt::rfc2822;
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER, SET_COOKIE},
};
use riverrun_engine::{Failure, Outcome};
use riverrun_types::{ErrorCode, Json, Millis};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::exchange::{broken, origin};

/// How much of the body of an unsuccessful response is kept as an explanation.
const MAX_ERROR_BYTES: usize = 16 << 10;

/// No server makes a run wait for longer than this.
const MAX_RETRY_AFTER_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) struct Answer {
    pub status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    truncated: bool,
}

#[derive(Serialize)]
struct Output {
    status: u16,
    headers: Map<String, Value>,
    body: Json,
}

/// Reads the body. Beyond the limit an expected response is an error and any other is cut.
pub(super) async fn read(
    mut response: Response,
    expected: bool,
    limit: usize,
) -> Result<Answer, Failure> {
    let keep = if expected {
        limit
    } else {
        limit.min(MAX_ERROR_BYTES)
    };
    let announced = response.content_length().unwrap_or(0);
    // A HEAD announces what a GET would send, and sends nothing.
    let mut body = Vec::with_capacity(
        keep.min(usize::try_from(announced).unwrap_or(keep))
            .min(64 << 10),
    );
    let mut truncated = false;
    let from = origin(response.url());
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| broken(&error, &from))?
    {
        let room = keep - body.len();
        if chunk.len() > room {
            if expected {
                return Err(too_large(limit));
            }
            body.extend_from_slice(&chunk[..room]);
            truncated = true;
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status: response.status(),
        headers: std::mem::take(response.headers_mut()),
        body,
        truncated,
    })
}

fn too_large(limit: usize) -> Failure {
    let message = format!("the response has more than {limit} bytes (maxResponseBytes)");
    Failure::new(ErrorCode::ResponseTooLarge, message).permanent()
}

impl Answer {
    pub fn success(&self) -> Result<Outcome, Failure> {
        let body = self.body_json().map_err(|message| {
            let details = json!({"status": self.status.as_u16(), "body": self.text()});
            Failure::new(ErrorCode::HttpError, message)
                .details(details)
                .permanent()
        })?;
        let output = Output {
            status: self.status.as_u16(),
            headers: self.header_values(),
            body,
        };
        Ok(Outcome::success(Json::of(&output)))
    }

    pub fn failure(&self, retriable: bool, now_ms: Millis) -> Failure {
        // What is written down of a failure is read by many: no session of anybody's.
        let mut headers = self.header_values();
        headers.remove(SET_COOKIE.as_str());
        let output = Output {
            status: self.status.as_u16(),
            headers,
            body: self
                .body_json()
                .unwrap_or_else(|_| Json::from(&*self.text())),
        };
        let reason = self.status.canonical_reason().unwrap_or_default();
        let message = format!("{} {reason}", self.status.as_u16());
        let mut failure =
            Failure::new(ErrorCode::HttpError, message.trim_end()).details(Json::of(&output));
        failure.retriable = Some(retriable);
        failure.retry_after_ms = self.retry_after_ms(now_ms).filter(|_| retriable);
        failure
    }

    /// JSON as it came where the response says that it is JSON, else text; nothing is null.
    fn body_json(&self) -> Result<Json, String> {
        if self.body.is_empty() {
            return Ok(Json::null());
        }
        if !self.is_json() || self.truncated {
            return Ok(Json::from(&*self.text()));
        }
        let text = self.text();
        let text = text.trim_start_matches('\u{feff}').trim().to_owned();
        Json::parse_text(text)
            .map_err(|error| format!("the response is not the JSON that it says to be: {error}"))
    }

    fn is_json(&self) -> bool {
        let content_type = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let media = content_type
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        let media = media.trim().to_ascii_lowercase();
        media == "application/json" || media.ends_with("+json")
    }

    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Values of a repeated header are joined by a comma, as in `fetch`.
    fn header_values(&self) -> Map<String, Value> {
        let mut values = Map::new();
        for name in self.headers.keys() {
            let all = self.headers.get_all(name).iter();
            let all = all.map(|value| String::from_utf8_lossy(value.as_bytes()));
            let all = all.collect::<Vec<_>>().join(", ");
            values.insert(name.to_string(), Value::from(all));
        }
        values
    }

    /// Seconds, or a date.
    fn retry_after_ms(&self, now_ms: Millis) -> Option<u64> {
        let text = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        let ms = match text.parse::<u64>() {
            Ok(seconds) => seconds.saturating_mul(1000),
            Err(_) => {
                let date = rfc2822::parse(text).ok()?.timestamp().as_millisecond();
                u64::try_from(date.saturating_sub(now_ms)).unwrap_or(0)
            }
        };
        Some(ms.min(MAX_RETRY_AFTER_MS))
    }
}
