//! Answers: JSON that is serialised once, straight into the body.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use riverrun_types::ErrorCode;
use serde::Serialize;

use crate::errors::ApiError;

pub(crate) type Answer = Result<Response, ApiError>;

/// A JSON answer.
pub(crate) fn json<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Answer {
    let mut text = Vec::with_capacity(128);
    serde_json::to_writer(&mut text, value).map_err(|error| {
        ApiError::new(
            ErrorCode::Internal,
            format!("the answer is no JSON: {error}"),
        )
    })?;
    Ok(with_type(status, "application/json", text))
}

pub(crate) fn ok<T: Serialize + ?Sized>(value: &T) -> Answer {
    json(StatusCode::OK, value)
}

/// A page that needs nothing from anywhere and may load nothing.
pub(crate) fn html(text: String) -> Response {
    let mut response = with_type(StatusCode::OK, "text/html; charset=utf-8", text);
    response.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    );
    response
}

pub(crate) fn with_type(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = (status, body.into()).into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
