//! Effects on the row of a job, from an outcome or from a request to steer it.

use std::borrow::Cow;

use riverrun_types::{Json, Millis};

use super::{Cancel, JobRow, added::waits_until};
use crate::{JobState, Settle, Settled, Steer};

/// An effect on the row of a job. A job that is not active has no lease.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEffect<'a> {
    /// It ends: its lane stops counting it, its unique name becomes what
    /// [`NameHold::after`](super::NameHold::after) returns, and its cancel flag is cleared.
    Ends {
        state: JobState,
        ended_ms: Millis,
        error: ErrorChange<'a>,
        result: Option<&'a Json>,
        losses: Losses,
    },
    /// It waits, is delayed or is set aside; its attempts continue from here.
    Waits {
        state: JobState,
        /// When it may begin; for a parked job, since when it is parked.
        at_ms: Millis,
        error: ErrorChange<'a>,
        losses: Losses,
        /// The attempt that is over does not count.
        is_uncounted: bool,
    },
    /// A job that had ended begins again with its first attempt: its attempts, losses, progress,
    /// result and times are forgotten, and its stream holds at most that it was added. It joins the
    /// lane of its key, and has its unique name back unless another job has had it since.
    BeginsAnew {
        state: JobState,
        at_ms: Millis,
        keeps_checkpoint: bool,
    },
    /// Its holder is asked to stop it, and it ends with this error.
    Stops {
        cancel: Cancel,
        error: ErrorChange<'a>,
    },
    /// It gets this priority.
    Ranks(i32),
    /// It is removed, with its data, its name and its stream.
    Removed,
}

/// The effect on the error in a job's row.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorChange<'a> {
    Keep,
    Clear,
    Set(Cow<'a, Json>),
}

impl ErrorChange<'_> {
    pub fn keeps(&self) -> bool {
        *self == Self::Keep
    }

    pub fn value(&self) -> Option<&Json> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Set(error) => Some(error),
        }
    }
}

/// The effect on the count of a job's losses, and on that of losses in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    OneMore,
    /// It was no loss: the row of losses is over.
    Ended,
    AsBefore,
}

impl Settle {
    /// The effect of the outcome on the job, which is active under its lease.
    pub fn effect(&self, cancel: Cancel) -> JobEffect<'_> {
        let now_ms = self.now_ms;
        let ends = |state, error, result| JobEffect::Ends {
            state,
            ended_ms: now_ms,
            error,
            result,
            losses: Losses::AsBefore,
        };
        let (at_ms, error, losses) = match &self.outcome {
            // Earlier failures are forgotten: the stream has them.
            Settled::Completed { result } => {
                return ends(JobState::Completed, ErrorChange::Clear, Some(result));
            }
            Settled::Failed { error } => {
                return ends(JobState::Failed, set(error), None);
            }
            Settled::Cancelled { error } => {
                let error = match cancel {
                    Cancel::WithReason => ErrorChange::Keep,
                    Cancel::No | Cancel::Yes => set(error),
                };
                return ends(JobState::Cancelled, error, None);
            }
            Settled::Dropped => return JobEffect::Removed,
            Settled::Retry { at_ms, error } => (*at_ms, set(error), Losses::Ended),
            Settled::Lost { error } | Settled::Parked { error } => {
                (now_ms, set(error), Losses::OneMore)
            }
            Settled::Released => (now_ms, ErrorChange::Keep, Losses::AsBefore),
        };
        if cancel != Cancel::No {
            // The decision to try it again was made without knowing that it was cancelled.
            return JobEffect::Ends {
                state: JobState::Cancelled,
                ended_ms: now_ms,
                error: cancelled(cancel, None),
                result: None,
                losses,
            };
        }
        let state = match &self.outcome {
            Settled::Parked { .. } => JobState::Parked,
            _ => waits_until(at_ms, now_ms),
        };
        JobEffect::Waits {
            state,
            at_ms,
            is_uncounted: error.keeps(),
            error,
            losses,
        }
    }
}

impl Steer {
    /// The effect on a job in a state that allows it.
    pub fn effect(&self, job: &JobRow, now_ms: Millis) -> JobEffect<'_> {
        let is_parked = job.state == JobState::Parked;
        let waits = |at_ms: Millis| JobEffect::Waits {
            state: waits_until(at_ms, now_ms),
            at_ms: at_ms.max(now_ms),
            error: match is_parked {
                true => ErrorChange::Clear,
                false => ErrorChange::Keep,
            },
            losses: match is_parked {
                true => Losses::Ended,
                false => Losses::AsBefore,
            },
            is_uncounted: false,
        };
        match self {
            Self::Promote => waits(now_ms),
            Self::Delay { at_ms } => waits(*at_ms),
            Self::Retry { at_ms } if is_parked => waits(*at_ms),
            Self::Retry { at_ms } => JobEffect::BeginsAnew {
                state: waits_until(*at_ms, now_ms),
                at_ms: (*at_ms).max(now_ms),
                keeps_checkpoint: job.state != JobState::Completed,
            },
            Self::Park { error } => JobEffect::Waits {
                state: JobState::Parked,
                at_ms: now_ms,
                error: set(error),
                // The attempt of a running job is lost.
                losses: match job.state {
                    JobState::Active => Losses::OneMore,
                    _ => Losses::AsBefore,
                },
                is_uncounted: false,
            },
            Self::Cancel { reason } if job.state == JobState::Active => JobEffect::Stops {
                cancel: job.cancel.max(match reason {
                    Some(_) => Cancel::WithReason,
                    None => Cancel::Yes,
                }),
                error: match reason {
                    Some(reason) => ErrorChange::Set(Cow::Owned(Self::cancelled(Some(reason)))),
                    None => ErrorChange::Keep,
                },
            },
            Self::Cancel { reason } => JobEffect::Ends {
                state: JobState::Cancelled,
                ended_ms: now_ms,
                error: cancelled(job.cancel, reason.as_deref()),
                result: None,
                losses: Losses::AsBefore,
            },
            Self::Priority(priority) => JobEffect::Ranks(*priority),
            Self::Remove => JobEffect::Removed,
        }
    }
}

impl JobRow {
    /// The effect on an obsolete job: a running one is asked to stop.
    pub fn abandoned(&self) -> JobEffect<'static> {
        match self.state {
            JobState::Active => JobEffect::Stops {
                cancel: self.cancel.max(Cancel::Yes),
                error: ErrorChange::Keep,
            },
            _ => JobEffect::Removed,
        }
    }

    /// The row after an effect; none if the job is removed.
    pub(super) fn after(self, effect: &JobEffect<'_>) -> Option<Self> {
        Some(match effect {
            JobEffect::Ends { state, .. } => Self {
                state: *state,
                cancel: Cancel::No,
                ..self
            },
            JobEffect::Waits { state, .. } | JobEffect::BeginsAnew { state, .. } => Self {
                state: *state,
                ..self
            },
            JobEffect::Stops { cancel, .. } => Self {
                cancel: *cancel,
                ..self
            },
            JobEffect::Ranks(_) => self,
            JobEffect::Removed => return None,
        })
    }
}

fn set(error: &Json) -> ErrorChange<'_> {
    ErrorChange::Set(Cow::Borrowed(error))
}

/// The error of a job that ends as cancelled: the reason that its row holds, or this one.
fn cancelled(cancel: Cancel, reason: Option<&str>) -> ErrorChange<'static> {
    match cancel {
        Cancel::WithReason => ErrorChange::Keep,
        Cancel::No | Cancel::Yes => ErrorChange::Set(Cow::Owned(Steer::cancelled(reason))),
    }
}
