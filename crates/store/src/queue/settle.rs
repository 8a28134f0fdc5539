//! Results of claimed jobs: outcomes, and the data that an attempt stores while it runs.

use riverrun_types::{Json, Millis};

use super::JobLease;
use crate::Change;

/// The outcome of an attempt.
#[derive(Clone, Debug)]
pub struct Settle {
    pub lease: JobLease,
    pub now_ms: Millis,
    /// Holds only if the lease has expired by now: recorded by a task other than its holder.
    pub if_expired: bool,
    pub outcome: Settled,
}

impl Settle {
    /// The report of the lease's holder about its attempt.
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
    /// Tried again at a time. A job that was cancelled meanwhile ends as cancelled instead: the
    /// decision on another attempt was made without knowing that.
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
    /// Set aside until it is released. Cancelled as above.
    Parked {
        error: Json,
    },
    /// Failed, without a dead letter: the job is removed.
    Dropped,
    /// Was not begun, or ended without a fault of its own: waits again, and the attempt does not
    /// count. Cancelled as above, in that attempt.
    Released,
}

/// Data that an attempt stores while it runs.
#[derive(Clone, Debug)]
pub struct Note {
    pub lease: JobLease,
    pub now_ms: Millis,
    pub progress: Option<Json>,
    /// For the next attempt, if there is one.
    pub checkpoint: Option<Json>,
}

impl Note {
    /// Stores nothing by itself, but fences the changes of its commit with the lease.
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
