//! The error of a command: a code, what happened, what to do next.

use riverrun_types::{Code, ErrorCode};
use std::fmt;

use crate::output::{paint, visible};

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    /// The run, or the command itself, failed.
    Failed = 1,
    Usage = 2,
    Unreachable = 3,
    Timeout = 4,
}

#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    pub notes: Vec<String>,
    pub next: Vec<String>,
    pub exit: Exit,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            notes: Vec::new(),
            next: Vec::new(),
            exit: Exit::Failed,
        }
    }

    pub fn usage(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self::new(code, message).exit(Exit::Usage)
    }

    /// A file or folder that could not be used.
    pub fn file(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let message = format!("{what} {} cannot be used: {error}", path.display());
        Self::usage(ErrorCode::FileUnusable, message)
    }

    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Adds a line of explanation.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a command or an action to try.
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next.push(next.into());
        self
    }
}

impl Failure {
    /// Without the code and without colours, in one line: for logs.
    pub fn text(&self) -> String {
        let lines = std::iter::once(&self.message).chain(&self.notes);
        let lines: Vec<&str> = lines.flat_map(|text| text.lines()).map(str::trim).collect();
        visible(&lines.join("; ")).into_owned()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bad, bold) = (paint::BAD, paint::BOLD);
        let code = visible(&self.code);
        write!(f, "{bad}error[{code}]{bad:#}{bold}:{bold:#} ")?;
        let mut message = self.message.lines();
        f.write_str(&visible(message.next().unwrap_or_default()))?;
        // Further lines are indented: nothing in a message looks like a line of ours.
        for note in message.chain(self.notes.iter().flat_map(|note| note.lines())) {
            write!(f, "\n  {}", visible(note))?;
        }
        for next in &self.next {
            write!(f, "\n  try: {}", visible(next))?;
        }
        Ok(())
    }
}

impl From<riverrun::Error> for Failure {
    fn from(error: riverrun::Error) -> Self {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let failure = Self::new(error.code(), error.to_string());
        let failure = match (error.code(), cause) {
            (ErrorCode::FlowInvalid, _) => failure,
            (_, Some(cause)) if cause != failure.message => failure.note(cause),
            _ => failure,
        };
        match failure.code.known() {
            Some(ErrorCode::StoreNotBuiltIn) => failure
                .exit(Exit::Usage)
                .note("this version keeps its data in the embedded store, on one machine")
                .next("riverrun serve --store sqlite://"),
            Some(ErrorCode::StoreUnknown) => failure
                .exit(Exit::Usage)
                .next("riverrun serve --store sqlite://"),
            Some(ErrorCode::StoreLocked) => failure
                .note("another server uses this data folder; two servers would corrupt it")
                .next("--data <another folder>"),
            Some(ErrorCode::StoreGone) => failure
                .note("the server wrote nothing after it detected that")
                .next("put the files back, or restore a backup, and start the server again"),
            Some(ErrorCode::StoreReadOnly) => failure
                .note("the server needs write access to it")
                .next("--data <a folder that this user may write>"),
            Some(ErrorCode::DiskFull) => failure
                .note("nothing that was acknowledged is lost")
                .next("df -h"),
            Some(ErrorCode::StoreCorrupt) => failure
                .next("riverrun verify")
                .next("riverrun restore <backup> --data <a new folder>"),
            Some(ErrorCode::StoreDamaged) => {
                failure.next("riverrun restore <backup> --data <a new folder>")
            }
            Some(ErrorCode::NewerSchema) => {
                failure.next("a newer riverrun, or --data <another folder>")
            }
            _ => failure,
        }
    }
}

impl From<riverrun_runtime::Error> for Failure {
    fn from(error: riverrun_runtime::Error) -> Self {
        riverrun::Error::from(error).into()
    }
}
