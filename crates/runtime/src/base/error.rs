//! Why a command was rejected or failed, with its stable code.

use riverrun_engine::{Issue, SchemaIssue};
use riverrun_types::{ErrorCode, EventId, Name, RunId, RunStatus, StreamName};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] riverrun_store::Error),
    #[error("{0}")]
    BadDefinition(String),
    /// An object that the server reads has a member twice.
    #[error("{0}")]
    DuplicateMember(String),
    #[error("the flow has {} issue(s)", .0.len())]
    FlowInvalid(Vec<Issue>),
    #[error("there is no flow {id:?}{}", .version.as_ref().map(|v| format!(" in version {v:?}")).unwrap_or_default())]
    FlowNotFound { id: String, version: Option<String> },
    /// Files that name the flow do not load.
    #[error(
        "there is no flow {id:?}, perhaps because {why}: a flow made of processes is registered when all of its files load"
    )]
    FlowNotMade { id: String, why: String },
    #[error("the input breaks the schema{}", first(.0))]
    InputInvalid(Vec<SchemaIssue>),
    #[error("the write breaks the state's schema{}", first(.0))]
    StateInvalid(Vec<SchemaIssue>),
    #[error("the {what} has {bytes} bytes; it may have {limit}")]
    TooLarge {
        what: &'static str,
        bytes: usize,
        limit: usize,
    },
    #[error("the request has {count} {what}; it may have {limit}: send them in several requests")]
    TooMany {
        what: &'static str,
        count: usize,
        limit: usize,
    },
    #[error("the definition has more than {0} values and member names")]
    TooManyValues(usize),
    #[error("a value has {bytes} bytes; one may have {limit} (limits.maxValueBytes)")]
    ValueTooLarge { bytes: usize, limit: usize },
    #[error(
        "the {what} nests deeper than {} levels",
        riverrun_types::Json::MAX_VALUE_DEPTH
    )]
    TooDeep { what: &'static str },
    #[error("{0}")]
    BadEvent(String),
    #[error("{0}")]
    BadKind(String),
    #[error("only the server writes events of the type {0}")]
    ReservedType(String),
    #[error("only the server writes to the stream {}:{}", .0.kind, .0.id)]
    ReservedStream(StreamName),
    #[error("run {run} is {status}: only a run that is paused or has parked visits can be resumed")]
    NotPaused { run: RunId, status: RunStatus },
    /// `last` is the last event after which a step could still run.
    #[error("run {run} had ended at that event: fork from an earlier one{}", .last.map(|event| format!(", such as {event}, the last with a step left to do")).unwrap_or_default())]
    ForkAtEnd { run: RunId, last: Option<EventId> },
    #[error("{0}")]
    BadRequest(String),
    /// Each part is valid alone; together, or at this time, they are rejected.
    #[error("{0}")]
    Unprocessable(String),
    /// One of several jobs cannot be added, so none is.
    #[error("job {at}: {error}")]
    Job { at: usize, error: Box<Error> },
    /// The process exists and cannot be run.
    #[error("{}", .0.message)]
    ProcessBroken(Box<riverrun_protocol::WorkError>),
    #[error("{field}: {rule}")]
    BadField { field: &'static str, rule: String },
    #[error("job {job} is a step's of run {run}, which waits for it: cancel the run")]
    JobOfRun { job: RunId, run: RunId },
    /// Only one runs at a time; it goes on after its caller was answered.
    #[error("dead letters of queue {0:?} are being redriven already")]
    Redriving(String),
    #[error("{0}")]
    BadId(String),
    /// One of the two runs waits for the other, so they can only be exported or imported after that
    /// wait.
    #[error("{0}")]
    Tied(String),
    /// A callback that accepts only signed requests was imported without its secret.
    #[error("callback {0} accepts only signed requests, and the export lacks its secret")]
    SecretMissing(Name),
    #[error("the signature is missing or wrong")]
    BadSignature,
    #[error("the server is shutting down")]
    ShuttingDown,
    /// An expression of the request could not be evaluated now; try again.
    #[error(transparent)]
    ExpressionsUnavailable(riverrun_expr::Error),
    #[error("the run moved faster than this could be decided; try again")]
    Busy,
}

fn is_too_complex(issue: &Issue) -> bool {
    issue.rule == ErrorCode::SchemaTooComplex.as_str()
}

fn first(issues: &[SchemaIssue]) -> String {
    issues
        .first()
        .map(SchemaIssue::described)
        .unwrap_or_default()
}

impl Error {
    /// Rejects a request for too many things at once.
    pub fn check_count(what: &'static str, count: usize) -> Result<()> {
        let limit = super::MAX_ITEMS;
        match count > limit {
            true => Err(Self::TooMany { what, count, limit }),
            false => Ok(()),
        }
    }

    /// Adds which of several jobs the error is about.
    pub(crate) fn of_job(self, at: usize) -> Self {
        match at {
            0 => self,
            _ => Self::Job {
                at,
                error: Box::new(self),
            },
        }
    }

    /// The stable code, as HTTP, CLI and workbench show it.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::BadDefinition(_) => ErrorCode::BadDefinition,
            Self::DuplicateMember(_) => ErrorCode::DuplicateMember,
            Self::FlowInvalid(issues) => match issues.iter().any(is_too_complex) {
                true => ErrorCode::SchemaTooComplex,
                false => ErrorCode::FlowInvalid,
            },
            Self::FlowNotFound { .. } | Self::FlowNotMade { .. } => ErrorCode::FlowNotFound,
            Self::InputInvalid(_) => ErrorCode::InputInvalid,
            Self::StateInvalid(_) => ErrorCode::StateInvalid,
            Self::TooLarge { what: "state", .. } => ErrorCode::StateTooLarge,
            Self::TooLarge { .. } | Self::TooMany { .. } | Self::TooManyValues(_) => {
                ErrorCode::TooLarge
            }
            Self::ValueTooLarge { .. } => ErrorCode::ValueTooLarge,
            Self::TooDeep { .. } => ErrorCode::TooDeep,
            Self::BadEvent(_) => ErrorCode::BadEvent,
            Self::BadKind(_) => ErrorCode::BadKind,
            Self::ReservedType(_) => ErrorCode::ReservedType,
            Self::ReservedStream(_) => ErrorCode::ReservedStream,
            Self::NotPaused { .. } => ErrorCode::RunNotPaused,
            Self::ForkAtEnd { .. } => ErrorCode::ForkAtEnd,
            Self::Job { error, .. } => error.code(),
            Self::BadRequest(_) | Self::BadField { .. } => ErrorCode::BadRequest,
            Self::Unprocessable(_) => ErrorCode::Unprocessable,
            Self::JobOfRun { .. } => ErrorCode::JobOfRun,
            Self::Redriving(_) => ErrorCode::RedriveActive,
            Self::ProcessBroken(_) => ErrorCode::ProcessBroken,
            Self::BadId(_) => ErrorCode::BadId,
            Self::Tied(_) => ErrorCode::RunTied,
            Self::SecretMissing(_) => ErrorCode::SecretMissing,
            Self::BadSignature => ErrorCode::SignatureInvalid,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::ExpressionsUnavailable(error) => error.code(),
            Self::Busy => ErrorCode::Busy,
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;
