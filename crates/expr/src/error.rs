//! Errors of expressions. `Closed` and `Unavailable` are not caused by the expression; all others
//! occur again if the same expression gets the same arguments.

use riverrun_types::ErrorCode;

/// Why an expression could not be compiled or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The source is not one JavaScript expression or function. Lines and columns count from 1.
    #[error("expression does not parse at {line}:{column}: {message}")]
    Syntax {
        message: String,
        line: u32,
        column: u32,
    },
    /// The expression threw, e.g. `TypeError: cannot read property 'id' of undefined`.
    #[error("expression threw: {message}")]
    Thrown { message: String },
    #[error("expression ran longer than its {ms} ms")]
    Timeout { ms: u64 },
    #[error("expression needed more than its {bytes} bytes of memory")]
    Memory { bytes: usize },
    /// The source or the result is longer than allowed.
    #[error("expression {what} has {bytes} bytes, the limit is {limit_bytes}")]
    TooLarge {
        what: &'static str,
        bytes: usize,
        limit_bytes: usize,
    },
    /// The result has no JSON form: a function, a symbol, a bigint, a cycle.
    #[error("expression result is not JSON: {message}")]
    NotJson { message: String },
    /// The expression is an async function, answered with a promise, or left one unsettled.
    #[error("expression is asynchronous: expressions answer at once and cannot await")]
    Async,
    /// The engine crashed, twice in a row, each time in a process of its own.
    #[error("expression crashed the engine")]
    Crashed,
    /// The sandbox stopped before it could answer.
    #[error("expression sandbox is closed")]
    Closed,
    /// No engine could take the expression up in time: try again later.
    #[error("expression sandbox is unavailable: {reason}")]
    Unavailable { reason: String },
}

impl Error {
    /// The stable code shown by every edge.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::Syntax { .. } => ErrorCode::ExprSyntax,
            Error::Thrown { .. } => ErrorCode::ExprThrown,
            Error::Timeout { .. } => ErrorCode::ExprTimeout,
            Error::Memory { .. } => ErrorCode::ExprMemory,
            Error::TooLarge { .. } => ErrorCode::ExprTooLarge,
            Error::NotJson { .. } => ErrorCode::ExprNotJson,
            Error::Async => ErrorCode::ExprAsync,
            Error::Crashed => ErrorCode::ExprCrashed,
            Error::Closed => ErrorCode::ExprClosed,
            Error::Unavailable { .. } => ErrorCode::ExprUnavailable,
        }
    }

    /// Whether the same evaluation may succeed later.
    pub fn is_retriable(&self) -> bool {
        matches!(self, Error::Closed | Error::Unavailable { .. })
    }

    pub(crate) fn thrown(message: impl Into<String>) -> Error {
        Error::Thrown {
            message: message.into(),
        }
    }

    /// The caller bound something that is not JSON text. Native and sandboxed evaluation agree on
    /// this error, though a native path may never look at the broken document.
    pub(crate) fn bad_argument(name: &str) -> Error {
        Error::thrown(format!("SyntaxError: argument `{name}` is not valid JSON"))
    }
}
