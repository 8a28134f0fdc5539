//! Rejects requests in which a header that decides their meaning is missing or repeated.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, Version, header},
};
use riverrun_types::ErrorCode;

use crate::errors::ApiError;

/// Headers of which programs on the way of a request may each look at another one if there are two.
const ONCE: [HeaderName; 7] = [
    header::HOST,
    header::ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
];

/// Rejects requests that are ambiguous, and bodies that the server cannot read.
pub(crate) fn check(request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    // Nearly no request gives any header twice.
    if headers.len() != headers.keys_len() {
        for name in &ONCE {
            if headers.get_all(name).iter().nth(1).is_some() {
                return Err(bad(name, "is given several times"));
            }
        }
    }
    if request.version() == Version::HTTP_11 && !headers.contains_key(header::HOST) {
        return Err(bad(&header::HOST, "is missing: HTTP/1.1 requires it"));
    }
    check_encoding(headers)
}

fn bad(name: &HeaderName, what: &str) -> ApiError {
    let message = format!("the header {name} {what}");
    ApiError::new(ErrorCode::BadHeader, message)
        .details(serde_json::json!({ "header": name.as_str() }))
}

fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(header::CONTENT_ENCODING) else {
        return Ok(());
    };
    let given = given.to_str().unwrap_or("?").trim();
    if given.is_empty() || given.eq_ignore_ascii_case("identity") {
        return Ok(());
    }
    let given: String = given.chars().take(64).collect();
    let message =
        format!("the content encoding {given:?} is not supported: send the body uncompressed");
    Err(ApiError::new(ErrorCode::UnsupportedEncoding, message))
}
