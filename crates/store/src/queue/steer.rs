//! Actions of people on jobs, on one or on many.

use riverrun_types::{ErrorCode, Json, Millis, Name};
use serde_json::json;

use super::JobState;

/// An action on a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Steer {
    /// A delayed or parked job may be claimed now.
    Promote,
    /// A failed, cancelled or completed job waits again, from its first attempt on. A job that did
    /// not complete keeps its checkpoint. A parked one goes on as with `Promote`, at a time.
    Retry {
        at_ms: Millis,
    },
    /// A job that is not active is removed.
    Remove,
    /// A job that has not begun ends; the holder of a running job is notified, and the reason is
    /// the message of the error that it ends with.
    Cancel {
        reason: Option<String>,
    },
    /// A job that has not ended is set aside until it is released; its holder loses it.
    Park {
        error: Json,
    },
    Priority(i32),
    /// A waiting or delayed job begins not before this time.
    Delay {
        at_ms: Millis,
    },
}

impl Steer {
    /// The error of a job that is cancelled before it has begun.
    pub fn cancelled(reason: Option<&str>) -> Json {
        Json::of(&json!({"code": ErrorCode::Cancelled, "message": reason.unwrap_or("cancelled")}))
    }
}

/// A job that was steered.
#[derive(Clone, Debug, PartialEq)]
pub struct Steered {
    pub queue: Name,
    /// Its state before.
    pub state: JobState,
    /// Attempts begun before.
    pub attempt: u32,
}

/// Which jobs of a queue are removed together.
#[derive(Clone, Debug)]
pub struct Purge {
    pub queue: Name,
    pub state: JobState,
    /// Ended, or added if they have not, at or before this time.
    pub before_ms: Millis,
    /// Jobs that have not ended stay if their options have this member.
    pub spare: Option<&'static str>,
    pub limit: usize,
}
