//! Errors of the library, with the codes that people see.

use riverrun_types::ErrorCode;

/// What a call on [`Riverrun`](crate::Riverrun) can answer instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Runtime(#[from] riverrun_runtime::Error),
    #[error(transparent)]
    Trigger(riverrun_triggers::Error),
    /// Give another URL.
    #[error("{url:?} is not a store: use sqlite://, sqlite:///folder or memory:")]
    UnknownStore { url: String },
    /// Use the embedded store until this one is there.
    #[error("the {scheme} store is not built in yet")]
    StoreNotBuiltIn { scheme: String },
    /// A handler does not end; time that a test moves stands still.
    #[error(transparent)]
    Unsettled(#[from] riverrun_runtime::Unsettled),
    #[error("the threads for expressions could not be started")]
    Sandbox(#[source] std::io::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The stable code that people see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Trigger(error) => error.code(),
            Self::UnknownStore { .. } => ErrorCode::StoreUnknown,
            Self::StoreNotBuiltIn { .. } => ErrorCode::StoreNotBuiltIn,
            Self::Unsettled(_) => ErrorCode::ClockUnsettled,
            Self::Sandbox(_) => ErrorCode::SandboxFailed,
        }
    }
}

impl From<riverrun_triggers::Error> for Error {
    fn from(error: riverrun_triggers::Error) -> Self {
        match error {
            riverrun_triggers::Error::Runtime(error) => Self::Runtime(error),
            error => Self::Trigger(error),
        }
    }
}

impl From<riverrun_store::Error> for Error {
    fn from(error: riverrun_store::Error) -> Self {
        Self::Runtime(error.into())
    }
}
