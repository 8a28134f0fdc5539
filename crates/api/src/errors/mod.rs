//! Failures as clients get them: one shape for all codes.

mod log;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use riverrun_types::ErrorCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::reply::with_type;

/// A refusal or a failure on its way to the client.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: ErrorCode,
    message: String,
    details: Option<Value>,
}

impl ApiError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            message: message.into(),
            details: None,
        }))
    }

    pub fn details(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The same failure under another code.
    pub fn with_code(mut self, code: ErrorCode) -> Self {
        self.0.code = code;
        self
    }

    pub fn status(&self) -> StatusCode {
        let status = self.0.code.status();
        status
            .and_then(|status| StatusCode::from_u16(status).ok())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The shape in which every failure leaves.
    pub fn json(&self) -> Value {
        json!({ "error": Shape {
            code: self.0.code,
            message: &self.0.message,
            details: self.0.details.as_ref(),
            docs: format!("/api/docs/errors/{}", self.0.code),
        }})
    }
}

#[derive(Serialize)]
struct Shape<'a> {
    code: ErrorCode,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
    docs: String,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() {
            let Parts { code, message, .. } = &*self.0;
            log::failure(status, *code, message);
        }
        let mut response = with_type(status, "application/json", self.json().to_string());
        if status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        let allow = self.0.details.as_ref().and_then(|it| it.get("allow"));
        let allow = allow.and_then(|it| HeaderValue::from_str(it.as_str()?).ok());
        if let Some(allow) = allow.filter(|_| status == StatusCode::METHOD_NOT_ALLOWED) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }
}

impl From<riverrun_store::Error> for ApiError {
    fn from(error: riverrun_store::Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<riverrun_runtime::Error> for ApiError {
    fn from(error: riverrun_runtime::Error) -> Self {
        use riverrun_runtime::Error;
        // What keeps the process from being run, with the code that its file was refused with.
        let code = match &error {
            Error::ProcessBroken(why) => why.code.known().unwrap_or(error.code()),
            error => error.code(),
        };
        let refused = Self::new(code, error.to_string());
        match error {
            Error::FlowInvalid(issues) => refused.details(json!({ "issues": issues })),
            Error::InputInvalid(issues) | Error::StateInvalid(issues) => {
                refused.details(json!({ "issues": issues }))
            }
            Error::Job { at, error } => {
                let mut details = match *error {
                    Error::InputInvalid(issues) => json!({ "issues": issues }),
                    _ => json!({}),
                };
                details["job"] = json!(at);
                refused.details(details)
            }
            Error::TooLarge { what, bytes, limit } => {
                refused.details(json!({"what": what, "bytes": bytes, "limit": limit}))
            }
            Error::ProcessBroken(why) => refused.details(json!({ "error": why })),
            Error::BadField { field, .. } => refused.details(json!({ "field": field })),
            _ => refused,
        }
    }
}

impl From<riverrun_triggers::Error> for ApiError {
    fn from(error: riverrun_triggers::Error) -> Self {
        use riverrun_triggers::Error;
        let refused = Self::new(error.code(), error.to_string());
        match error {
            Error::Runtime(error) => error.into(),
            Error::Invalid { field, .. } | Error::SchemaTooComplex { field, .. } => {
                refused.details(json!({ "field": field }))
            }
            Error::Secret(_) => refused.details(json!({ "field": "config.signature.secretEnv" })),
            Error::Cron { .. } => refused.details(json!({ "field": "config.cron" })),
            Error::TimeZone(_) => refused.details(json!({ "field": "config.timezone" })),
            Error::Body(issues) => refused.details(json!({ "issues": issues })),
            Error::Expression { field, error } => {
                refused.details(json!({ "field": field, "code": error.code() }))
            }
            Error::Changed { found, .. } => refused.details(json!({ "version": found })),
            Error::WrongMethod { allowed, .. } => refused.details(json!({ "allow": allowed })),
            _ => refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_one_shape() {
        let error =
            ApiError::new(ErrorCode::BadQuery, "limit: no").details(json!({"parameter": "limit"}));
        assert_eq!(
            error.json(),
            json!({"error": {
                "code": "BAD_QUERY",
                "message": "limit: no",
                "details": {"parameter": "limit"},
                "docs": "/api/docs/errors/BAD_QUERY",
            }})
        );
        assert_eq!(error.status(), StatusCode::BAD_REQUEST);
        assert_eq!(error.code(), "BAD_QUERY");
    }
}
