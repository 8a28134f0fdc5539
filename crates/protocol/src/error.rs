//! Why work failed.

use riverrun_types::{Code, ErrorCode, Json};
use serde::{Deserialize, Serialize};

use crate::{RpcError, code};

/// Why work failed: what a handler says, and what riverrun says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Received")]
pub struct WorkError {
    pub code: Code,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<Box<str>>,
    /// Whether another try makes sense.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retriable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
}

/// The forms in which an error arrives.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received {
    #[serde(default)]
    code: Code,
    #[serde(default)]
    message: String,
    name: Option<Box<str>>,
    stack: Option<Box<str>>,
    retriable: Option<bool>,
    /// FlowMonkey's name for it. An error that was passed on may have both; `retriable` counts.
    retryable: Option<bool>,
    retry_after_ms: Option<u64>,
    details: Option<Json>,
}

impl From<Received> for WorkError {
    fn from(received: Received) -> Self {
        Self {
            code: received.code,
            message: received.message,
            name: received.name,
            stack: received.stack,
            retriable: received.retriable.or(received.retryable),
            retry_after_ms: received.retry_after_ms,
            details: received.details,
        }
    }
}

/// Errors after which the server records nothing more of an execution.
const ENDS_EXECUTION: [ErrorCode; 11] = [
    ErrorCode::LeaseLost,
    ErrorCode::JobLost,
    ErrorCode::InvocationEnded,
    ErrorCode::RunEnded,
    ErrorCode::ShuttingDown,
    ErrorCode::Busy,
    ErrorCode::DiskFull,
    ErrorCode::StoreReadOnly,
    ErrorCode::StoreGone,
    ErrorCode::StoreUnavailable,
    ErrorCode::StoreClosed,
];

impl WorkError {
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// As a handler said it: without a code of its own it is `HANDLER_ERROR`.
    pub fn of_handler(mut self) -> Self {
        if self.code.is_empty() {
            self.code = ErrorCode::HandlerError.into();
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
        self.code == ErrorCode::Cancelled
    }

    /// The answer to a request of a handler. It says whether the execution is over: then the SDK
    /// stops the code, because a `catch` that undoes earlier effects would run for nothing. The
    /// error of a `call` is that of another handler, so its code says nothing about this one.
    pub fn answer_to(self, method: &str) -> RpcError {
        let is_over = method != "call"
            && self
                .code
                .known()
                .is_some_and(|code| ENDS_EXECUTION.contains(&code));
        let mut answer = RpcError::from(self);
        if is_over {
            answer.code = code::EXECUTION_OVER;
        }
        answer
    }
}

impl From<WorkError> for RpcError {
    fn from(error: WorkError) -> Self {
        let code = match error.is_cancelled() {
            true => code::CANCELLED,
            false => code::FAILED,
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

impl From<RpcError> for WorkError {
    fn from(error: RpcError) -> Self {
        let said: Option<Self> = error.data.as_ref().and_then(|data| data.read().ok());
        let mut work = said.unwrap_or_default();
        if work.message.is_empty() {
            work.message = error.message;
        }
        if work.code.is_empty() && error.code == code::CANCELLED {
            work.code = ErrorCode::Cancelled.into();
        }
        work.of_handler()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_handlers_keep_what_they_say() {
        let said = WorkError {
            code: "CARD".into(),
            message: "declined".to_owned(),
            retriable: Some(false),
            retry_after_ms: Some(5),
            ..WorkError::default()
        };
        let rpc = RpcError::from(said.clone());
        assert_eq!(rpc.code, code::FAILED);
        assert_eq!(WorkError::from(rpc), said);
        let bare = RpcError {
            code: code::CANCELLED,
            message: "asked to stop".to_owned(),
            data: None,
        };
        assert!(WorkError::from(bare).is_cancelled());
    }

    #[test]
    fn the_older_name_of_retriable_is_read_and_never_written() {
        for retriable in [
            r#""retryable":false"#,
            r#""retriable":false,"retryable":true"#,
            r#""retryable":true,"retriable":false"#,
            r#""retriable":null,"retryable":false"#,
        ] {
            let said = format!(r#"{{"code":"E","message":"m",{retriable}}}"#);
            let read: WorkError = Json::parse_text(said).unwrap().read().unwrap();
            assert_eq!(read.retriable, Some(false), "{retriable}");
            let written = Json::of(&read);
            assert_eq!(
                written.as_str(),
                r#"{"code":"E","message":"m","retriable":false}"#
            );
        }
    }

    #[test]
    fn an_answer_says_whether_the_execution_is_over() {
        let code = |code: &str, method: &str| WorkError::new(code, "no").answer_to(method).code;
        assert_eq!(code("LEASE_LOST", "memo"), code::EXECUTION_OVER);
        assert_eq!(code("DISK_FULL", "state.set"), code::EXECUTION_OVER);
        assert_eq!(code("STATE_INVALID", "state.set"), code::FAILED);
        assert_eq!(code("BUSY", "call"), code::FAILED);
    }
}
