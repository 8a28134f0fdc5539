//! SQLite's errors as decisions for the caller.

use riverrun_store::{Error, judge::Refused};
use rusqlite::ErrorCode;

/// Why work in the writer failed.
pub(crate) enum Failure {
    /// The work was judged and rejected before it changed anything.
    Refused(Error),
    /// SQLite failed: the transaction is void.
    Sql(Error),
}

pub(crate) type Worked<T> = std::result::Result<T, Failure>;

impl From<Refused> for Failure {
    fn from(Refused(error): Refused) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(translate(error))
    }
}

/// The only place in the crate that interprets SQLite's errors.
pub(crate) fn translate(error: rusqlite::Error) -> Error {
    let text = error.to_string();
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => Error::Full(text),
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Error::ReadOnly(text),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Error::Corrupt(text),
            _ => Error::Unavailable(text),
        },
        // A column holds a value that this program never writes there.
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => Error::Corrupt(text),
        _ => Error::Unavailable(text),
    }
}

pub(crate) fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::Corrupt(what.to_string())
}
