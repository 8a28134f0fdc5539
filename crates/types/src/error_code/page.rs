//! The attributes of a code: where people meet it, what to do next, and its page.

use std::fmt;

use serde::{Serialize, Serializer};

use super::ErrorCode;

/// Where people meet a code first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// In the answer to a request, with this HTTP status. The command line shows it too.
    Request(u16),
    /// In the error of a run, a step or a job.
    Run,
    /// On the command line, or as an error of the library that opens a server.
    Command,
}

impl Seen {
    pub fn sentence(self) -> String {
        match self {
            Self::Request(status) => {
                format!("The server answers the request with status {status}.")
            }
            Self::Run => "The error of a run, a step or a job has this code.".to_owned(),
            Self::Command => {
                "The command line prints it, or the library returns it when it opens a server."
                    .to_owned()
            }
        }
    }

    /// In a word, for tables.
    pub fn word(self) -> String {
        match self {
            Self::Request(status) => status.to_string(),
            Self::Run => "in runs".to_owned(),
            Self::Command => "command line".to_owned(),
        }
    }
}

/// The effect on failed work, unless the error itself sets whether it is retriable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Run the work again elsewhere or later without counting an attempt: the work is not the
    /// cause.
    Release,
    /// Try again: the same request or attempt may succeed later.
    Retry,
    /// Change something first: the same request or attempt fails again.
    Reject,
    /// Stop: it has ended, or only an operator can continue.
    GiveUp,
}

impl Disposition {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Release => {
                "Release: the work runs again elsewhere or later, and no attempt is counted."
            }
            Self::Retry => "Retry: the same request or attempt may succeed later.",
            Self::Reject => "Reject: the same request or attempt fails again until it is changed.",
            Self::GiveUp => "Give up: it has ended, or it needs a person.",
        }
    }
}

impl ErrorCode {
    /// The HTTP status of a request that fails with it.
    pub const fn status(self) -> Option<u16> {
        match self.seen() {
            Seen::Request(status) => Some(status),
            Seen::Run | Seen::Command => None,
        }
    }

    /// The page about the code, in Markdown: `docs/errors/<CODE>.md` is this.
    pub fn markdown(self) -> String {
        format!(
            "# {self}\n\n## What happened\n\n{}\n\n## Why\n\n{}\n\n## What to do\n\n{}\n\n\
             ## For programs\n\n- {}\n- {}\n",
            self.what(),
            self.why(),
            self.fix(),
            self.seen().sentence(),
            self.disposition().sentence()
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Tests and clients compare the text on the wire.
impl PartialEq<&str> for ErrorCode {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<ErrorCode> for String {
    fn from(code: ErrorCode) -> Self {
        code.as_str().to_owned()
    }
}
