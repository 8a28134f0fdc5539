//! New jobs, and the unique names under which a queue has one job at a time.

use std::sync::Arc;

use riverrun_types::{Json, Millis, Name, RunId};

/// A job that is added to a queue. Its first job creates the queue.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Adding the same id again adds no job.
    pub id: RunId,
    /// The caller chose the id: if a job of another queue has it, the commit is rejected.
    pub is_named: bool,
    pub queue: Name,
    /// The queue's name when absent.
    pub name: Option<Name>,
    pub data: Json,
    /// Higher priorities go first, within a key.
    pub priority: i32,
    /// Not before this time.
    pub at_ms: Option<Millis>,
    pub created_ms: Millis,
    /// Jobs of one key share its concurrency and its turn: keys are served in turn.
    pub key: Option<Name>,
    pub unique: Option<Unique>,
    /// The story that the job belongs to, if it is not its own.
    pub correlation: Option<Name>,
    /// All other options of the request, as JSON.
    pub options: Option<Json>,
}

/// Jobs to add, in order, all or none.
pub type NewJobs = Arc<[NewJob]>;

/// A name under which a queue has at most one job at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique {
    pub key: Name,
    pub lasts: Lasts,
    /// A job of that name that is still delayed becomes the new one instead of staying as it is. A
    /// job that has begun does not, even if it failed and waits again.
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

/// The result for a job that was to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    pub id: RunId,
    /// False: a job of this id or unique name existed; `id` is that job's.
    pub created: bool,
}
