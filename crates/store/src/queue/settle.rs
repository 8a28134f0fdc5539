//! What comes of a claimed job: outcomes, and what an attempt stores while it runs.

use riverrun_types::{Json, Millis};

use super::JobLease;
use crate::Change;

/// The outcome of an attempt.
#[derive(Clone, Debug)]
pub struct Settle {
    pub lease: JobLease,
    pub now_ms: Millis,
    /// Holds only if the lease has run out by now: said by somebody other than its holder.
    pub if_expired: bool,
    pub outcome: Settled,
}

impl Settle {
    /// What the holder of the lease says of its attempt.
    pub fn new(lease: &JobLease, outcome: Settled, now_ms: Millis) -> Self {
        Self {
            lease: lease.clone(),
            now_ms,
            if_expired: false,
            outcome,
        }
    }
}

impl From<Settle> for Change {
    fn from(settle: Settle) -> Self {
        Self::Settle(Box::new(settle))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    Completed {
        result: Json,
    },
    /// Again at a time. A job that somebody has cancelled meanwhile ends as cancelled instead: who
    /// decided on another attempt did not know.
    Retry {
        at_ms: Millis,
        error: Json,
    },
    Failed {
        error: Json,
    },
    Cancelled {
        error: Json,
    },
    /// The attempt was lost with its worker: waits again, and its retry policy does not count it.
    /// Losses are counted apart. Cancelled as above.
    Lost {
        error: Json,
    },
    /// Set aside until somebody releases it. Cancelled as above.
    Parked {
        error: Json,
    },
    /// Failed, and nobody wants to know: the job is removed.
    Dropped,
    /// Was not begun, or came to nothing by no fault of its own: waits again, and the attempt does
    /// not count. Cancelled as above, in that attempt.
    Released,
}

/// Something that an attempt stores while it runs.
#[derive(Clone, Debug)]
pub struct Note {
    pub lease: JobLease,
    pub now_ms: Millis,
    pub progress: Option<Json>,
    /// For the next attempt, if there is one.
    pub checkpoint: Option<Json>,
}

impl Note {
    /// Stores nothing by itself, but whatever is committed with it counts only under the lease.
    pub fn new(lease: &JobLease, now_ms: Millis) -> Self {
        Self {
            lease: lease.clone(),
            now_ms,
            progress: None,
            checkpoint: None,
        }
    }
}

impl From<Note> for Change {
    fn from(note: Note) -> Self {
        Self::Note(Box::new(note))
    }
}
