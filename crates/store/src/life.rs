//! The life of a job as events.
//!
//! A job's row holds when it was added, when its latest attempt began and how it ended, so these
//! events are not stored again: a read of the job's stream derives them and appends them to the
//! stream's end. They are stored only when another event is appended after them: the append first
//! stores the events that the row held until then. So an event has one id for ever, whether it was
//! read before or after that.

use riverrun_types::{Draft, EventType, Json, Millis, Name, time::iso};
use serde::Serialize;

use crate::JobState;

/// How much of a job's life its stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LifeStage {
    #[default]
    Nothing,
    Added,
    /// The latest attempt has begun.
    Active,
    Ended,
}

impl LifeStage {
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The stored number as a value; an unknown number is the most.
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Nothing,
            1 => Self::Added,
            2 => Self::Active,
            _ => Self::Ended,
        }
    }
}

/// The events of a job's life in its row.
#[derive(Clone, Debug)]
pub struct Life {
    pub queue: Name,
    pub name: Option<Name>,
    pub state: JobState,
    /// Attempts begun.
    pub attempt: u32,
    pub created_ms: Millis,
    /// Of the latest attempt.
    pub started_ms: Option<Millis>,
    pub ended_ms: Option<Millis>,
    pub result: Option<Json>,
    pub error: Option<Json>,
    pub recorded: LifeStage,
}

impl Life {
    /// The events that the row holds and the stream does not, in order.
    pub fn unrecorded(&self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        if self.recorded < LifeStage::Added {
            drafts.push(added(self.created_ms, &self.queue, self.name.as_ref()));
        }
        if self.recorded < LifeStage::Active
            && self.attempt > 0
            && let Some(started_ms) = self.started_ms
        {
            drafts.push(active(started_ms, &self.queue, self.attempt));
        }
        if self.recorded < LifeStage::Ended
            && let Some(ended_ms) = self.ended_ms
        {
            drafts.extend(self.end(ended_ms));
        }
        drafts
    }

    /// How much the stream holds once those events are stored.
    pub fn stage(&self) -> LifeStage {
        match (self.ended_ms, self.attempt) {
            (Some(_), _) => LifeStage::Ended,
            (None, 0) => self.recorded.max(LifeStage::Added),
            (None, _) => LifeStage::Active,
        }
    }

    fn end(&self, ms: Millis) -> Option<Draft> {
        let (queue, attempt) = (&self.queue, self.attempt);
        let error = self.error.as_ref();
        match self.state {
            JobState::Completed => Some(completed(ms, queue, attempt, self.result.as_ref())),
            JobState::Failed => Some(failed(ms, queue, attempt, error)),
            JobState::Cancelled => Some(cancelled(ms, queue, attempt, error)),
            _ => None,
        }
    }
}

/// Gives each draft a time that is not before the one before it, as a store does.
pub fn in_order(drafts: &mut [Draft], floor_ms: Millis) {
    let mut last_ms = floor_ms;
    for draft in drafts {
        last_ms = last_ms.max(draft.ms);
        draft.ms = last_ms;
    }
}

/// Why a job waits again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// An attempt failed, and there is another.
    Retry,
    /// The attempt was lost with its worker, which does not count, and there is another.
    Stalled,
    /// It was set aside, and waits until it is released.
    Parked,
    /// The server that ran it shut down before it had ended, or its process ended while others ran
    /// in it. The attempt does not count.
    Released,
    /// A job that had ended was restarted.
    Redriven,
    /// A delayed job was promoted to begin now.
    Promoted,
    /// It was delayed to a later time.
    Delayed,
}

/// A job that waits again, and why.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waits<'a> {
    pub queue: &'a Name,
    pub reason: Reason,
    /// The attempt that is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a Json>,
    /// When it may begin, if not now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<String>,
}

impl<'a> Waits<'a> {
    pub fn new(queue: &'a Name, reason: Reason) -> Self {
        Self {
            queue,
            reason,
            attempt: None,
            error: None,
            retry_at: None,
        }
    }

    pub fn at(mut self, ms: Option<Millis>) -> Self {
        self.retry_at = ms.map(iso);
        self
    }

    pub fn draft(&self, ms: Millis) -> Draft {
        Draft::new(ms, EventType::JobWaiting).data(self)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    queue: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a Json>,
}

impl<'a> Said<'a> {
    fn of(queue: &'a Name) -> Self {
        Self {
            queue,
            name: None,
            attempt: None,
            result: None,
            error: None,
            progress: None,
        }
    }

    fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = Some(attempt);
        self
    }
}

pub(crate) fn added(ms: Millis, queue: &Name, name: Option<&Name>) -> Draft {
    let said = Said {
        name,
        ..Said::of(queue)
    };
    Draft::new(ms, EventType::JobAdded).data(said)
}

pub(crate) fn active(ms: Millis, queue: &Name, attempt: u32) -> Draft {
    Draft::new(ms, EventType::JobActive).data(Said::of(queue).attempt(attempt))
}

/// The state of a job as far as its life matters.
pub fn progress(ms: Millis, queue: &Name, progress: &Json) -> Draft {
    let said = Said {
        progress: Some(progress),
        ..Said::of(queue)
    };
    Draft::new(ms, EventType::JobProgress).data(said)
}

pub(crate) fn completed(ms: Millis, queue: &Name, attempt: u32, result: Option<&Json>) -> Draft {
    let said = Said {
        result,
        ..Said::of(queue).attempt(attempt)
    };
    Draft::new(ms, EventType::JobCompleted).data(said)
}

pub(crate) fn failed(ms: Millis, queue: &Name, attempt: u32, error: Option<&Json>) -> Draft {
    let said = Said {
        error,
        ..Said::of(queue).attempt(attempt)
    };
    Draft::new(ms, EventType::JobFailed).data(said)
}

pub(crate) fn cancelled(ms: Millis, queue: &Name, attempt: u32, error: Option<&Json>) -> Draft {
    let said = Said {
        error,
        ..Said::of(queue).attempt(attempt)
    };
    Draft::new(ms, EventType::JobCancelled).data(said)
}

pub(crate) fn removed(ms: Millis, queue: &Name) -> Draft {
    Draft::new(ms, EventType::JobRemoved).data(Said::of(queue))
}
