//! Jobs that are added, and the names under which a queue has one at a time.

use std::sync::Arc;

use riverrun_types::{Json, Millis, Name, RunId};

/// A job that is added to a queue. The queue is made by its first job.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The same id again is the same job: nothing is added.
    pub id: RunId,
    /// Somebody chose the id: if a job of another queue has it, the commit is refused.
    pub is_named: bool,
    pub queue: Name,
    /// The queue's name when absent.
    pub name: Option<Name>,
    pub data: Json,
    /// Higher goes first, within a key.
    pub priority: i32,
    /// Not before this time.
    pub at_ms: Option<Millis>,
    pub created_ms: Millis,
    /// Jobs of one key share its concurrency and its turn: keys are served in turn.
    pub key: Option<Name>,
    pub unique: Option<Unique>,
    /// The story that it belongs to, if that is not its own.
    pub correlation: Option<Name>,
    /// Everything else that was asked for, as JSON.
    pub options: Option<Json>,
}

/// Jobs to add, in order, all or none.
pub type NewJobs = Arc<[NewJob]>;

/// A name under which a queue has at most one job at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique {
    pub key: Name,
    pub lasts: Lasts,
    /// A job of that name that is still delayed becomes the new one instead of staying as it is;
    /// one that has begun, be it only to fail and wait again, does not count.
    pub replace: bool,
}

/// How long the name is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until the job ends.
    UntilEnd,
    /// As long as the job is known.
    Always,
    Until(Millis),
}

/// What became of a job that was to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    pub id: RunId,
    /// False: a job of this id or unique name was there; `id` is that job's.
    pub created: bool,
}
