//! Failures as clients see them: one shape, one table of codes.

mod table;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};

pub use table::{ErrorCode, TABLE, find};

use crate::reply::with_type;

/// A refusal or a failure on its way to the client.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: &'static str,
    message: String,
    details: Option<Value>,
}

impl ApiError {
    /// `code` is one of [`TABLE`].
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        debug_assert!(find(code).is_some(), "{code} is not in the table of errors");
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

    #[cfg(test)]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    pub fn status(&self) -> StatusCode {
        find(self.0.code)
            .and_then(|code| StatusCode::from_u16(code.status?).ok())
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
    code: &'a str,
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
            tracing::error!(code, %message, "a request failed");
        }
        let mut response = with_type(status, "application/json", self.json().to_string());
        if status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
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
        let refused = Self::new(error.code(), error.to_string());
        match error {
            Error::FlowInvalid(issues) => refused.details(json!({ "issues": issues })),
            Error::InputInvalid(issues) | Error::StateInvalid(issues) => {
                refused.details(json!({ "issues": issues }))
            }
            Error::TooLarge { what, bytes, limit } => {
                refused.details(json!({"what": what, "bytes": bytes, "limit": limit}))
            }
            _ => refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word in capitals that stands in quotes where codes are made.
    fn codes(source: &str) -> impl Iterator<Item = &str> {
        source.split('"').filter(|text| {
            text.len() > 3 && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        })
    }

    #[test]
    fn every_code_that_a_user_can_see_is_in_the_table() {
        let sources = [
            include_str!("../../../store/src/error.rs"),
            include_str!("../../../runtime/src/error.rs"),
            include_str!("../../../engine/src/lib.rs"),
            include_str!("../../../expr/src/error.rs"),
        ];
        let found: Vec<&str> = sources.iter().flat_map(|source| codes(source)).collect();
        assert!(found.len() > 40, "the codes were not found: {found:?}");
        let missing: Vec<_> = found.iter().filter(|code| find(code).is_none()).collect();
        assert!(missing.is_empty(), "not in the table: {missing:?}");
    }

    #[test]
    fn every_code_of_a_built_in_handler_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../handlers/src");
        let mut missing = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let Ok(source) = std::fs::read_to_string(&path) else {
                continue;
            };
            let codes = codes(&source).filter(|code| code.contains('_'));
            missing.extend(
                codes
                    .filter(|code| find(code).is_none())
                    .map(|code| format!("{code} in {path:?}")),
            );
        }
        assert!(missing.is_empty(), "not in the table: {missing:?}");
    }

    #[test]
    fn codes_of_refusals_have_a_status() {
        let sources = [
            include_str!("../../../store/src/error.rs"),
            include_str!("../../../runtime/src/error.rs"),
        ];
        for code in sources.iter().flat_map(|source| codes(source)) {
            assert!(
                find(code).is_some_and(|code| code.status.is_some()),
                "{code}"
            );
        }
    }

    #[test]
    fn the_table_is_in_order_and_says_something() {
        for pair in TABLE.windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} {}",
                pair[0].code,
                pair[1].code
            );
        }
        for code in TABLE {
            assert!(
                !code.meaning.is_empty() && !code.remedy.is_empty(),
                "{}",
                code.code
            );
            assert!(
                code.status
                    .is_none_or(|status| (400..600).contains(&status))
            );
        }
    }

    #[test]
    fn a_failure_has_one_shape() {
        let error = ApiError::new("BAD_QUERY", "limit: no").details(json!({"parameter": "limit"}));
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
