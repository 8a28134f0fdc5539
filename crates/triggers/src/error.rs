//! Why a trigger was rejected or did not start a run, with the code that people see.

use jiff::{Span, SpanRound, Unit};
use riverrun_engine::SchemaIssue;
use riverrun_types::{ErrorCode, Millis, Name, RunStatus, time::iso};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Runtime(#[from] riverrun_runtime::Error),
    #[error("{field}: {message}")]
    Invalid { field: String, message: String },
    /// The server's environment lacks what the definition names, which is not the definition's fault.
    #[error("config.signature.secretEnv: {0}")]
    Secret(String),
    #[error("config.cron: {cron:?} is not a cron pattern: {message}")]
    Cron { cron: String, message: String },
    #[error("config.timezone: there is no time zone {0:?}: use a name such as Europe/Berlin")]
    TimeZone(String),
    #[error("trigger {id:?} is in version {found}, not {expected}: another request changed it")]
    Changed { id: Name, expected: u64, found: u64 },
    #[error(
        "there is a trigger {0:?}: change it (PATCH /api/triggers/{0}), remove it first, or choose another id"
    )]
    Exists(Name),
    #[error("trigger {0:?} is disabled")]
    Disabled(Name),
    /// It is kept, and cannot be used as it stands.
    #[error("trigger {id:?} cannot be used: {reason}")]
    Broken { id: Name, reason: String },
    #[error("there are {0} triggers already")]
    TooMany(usize),
    #[error("trigger {id:?} is of type {kind}, and has no due times")]
    NoSchedule { id: Name, kind: &'static str },
    /// Runs are deleted when their retention is over, and with them goes that they were there.
    #[error(
        "it is unknown whether the due time {} has run: {status} runs are kept for {} (retention.{status}), so start at {} or later",
        iso(*.due_ms), span(*.kept_ms), iso(*.known_ms)
    )]
    Forgotten {
        due_ms: Millis,
        status: RunStatus,
        kept_ms: Millis,
        known_ms: Millis,
    },
    #[error("no trigger takes {method} {path}")]
    NoRoute { method: String, path: String },
    #[error("{path} has no method {method}, but {allowed}")]
    WrongMethod {
        method: String,
        path: String,
        allowed: String,
    },
    /// A schema of a trigger could take too long to evaluate.
    #[error("{field}: {message}")]
    SchemaTooComplex { field: String, message: String },
    #[error("{0}")]
    Signature(&'static str),
    #[error("the body is not JSON: {0}")]
    BadJson(String),
    #[error("the content type {0:?} is not supported: send JSON, a form or plain text")]
    MediaType(String),
    #[error("the body breaks the trigger's schema{}", first(.0))]
    Body(Vec<SchemaIssue>),
    #[error(
        "the event is at the end of a chain of {0} runs, each started by an event of the one before: does a flow start itself?"
    )]
    Chain(u32),
    /// Of an expression of the trigger.
    #[error("{field}: {error}")]
    Expression {
        field: &'static str,
        error: riverrun_expr::Error,
    },
}

fn first(issues: &[SchemaIssue]) -> String {
    issues
        .first()
        .map(SchemaIssue::described)
        .unwrap_or_default()
}

/// Milliseconds as people say them: `7d`, `1h 30m`.
fn span(ms: Millis) -> String {
    let days = SpanRound::new().largest(Unit::Day).days_are_24_hours();
    let span = Span::new().try_milliseconds(ms);
    let span = span.and_then(|span| span.round(days));
    span.map_or_else(|_| format!("{ms}ms"), |span| format!("{span:#}"))
}

impl Error {
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The stable code that people see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Invalid { .. } | Self::Secret(_) => ErrorCode::TriggerInvalid,
            Self::Cron { .. } => ErrorCode::CronInvalid,
            Self::TimeZone(_) => ErrorCode::TimeZoneUnknown,
            Self::Changed { .. } => ErrorCode::TriggerMoved,
            Self::Exists(_) => ErrorCode::TriggerExists,
            Self::Disabled(_) => ErrorCode::TriggerDisabled,
            Self::Broken { .. } => ErrorCode::TriggerBroken,
            Self::TooMany(_) => ErrorCode::TriggerLimit,
            Self::NoSchedule { .. } => ErrorCode::TriggerNoSchedule,
            Self::Forgotten { .. } => ErrorCode::DueTimeForgotten,
            Self::NoRoute { .. } => ErrorCode::NotFound,
            Self::WrongMethod { .. } => ErrorCode::MethodNotAllowed,
            Self::SchemaTooComplex { .. } => ErrorCode::SchemaTooComplex,
            Self::Signature(_) => ErrorCode::SignatureInvalid,
            Self::BadJson(_) => ErrorCode::BadJson,
            Self::MediaType(_) => ErrorCode::UnsupportedMediaType,
            Self::Body(_) => ErrorCode::InputInvalid,
            Self::Chain(_) => ErrorCode::TriggerChain,
            Self::Expression { error, .. } if error.is_retriable() => error.code(),
            Self::Expression { .. } => ErrorCode::TriggerExpression,
        }
    }

    /// Whether the store or the server was not able, which says nothing about the trigger: it is
    /// to be tried again.
    pub(crate) fn is_passing(&self) -> bool {
        use riverrun_runtime::Error as Runtime;
        match self {
            Self::Runtime(error) => matches!(
                error,
                Runtime::Store(_) | Runtime::ShuttingDown | Runtime::Busy
            ),
            Self::Expression { error, .. } => error.is_retriable(),
            _ => false,
        }
    }
}

impl From<riverrun_store::Error> for Error {
    fn from(error: riverrun_store::Error) -> Self {
        Self::Runtime(error.into())
    }
}
