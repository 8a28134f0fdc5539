//! Jobs and queues as lists show them.

use riverrun_types::{Json, Millis, Name, RunId};

use super::JobState;

/// A job as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    pub id: RunId,
    pub queue: Name,
    pub name: Option<Name>,
    pub state: JobState,
    pub data: Json,
    pub priority: i32,
    pub key: Option<Name>,
    /// Attempts begun.
    pub attempt: u32,
    pub created_ms: Millis,
    /// Of a delayed job, when it may begin; of a parked one, since when it is.
    pub at_ms: Option<Millis>,
    /// Of the latest attempt.
    pub started_ms: Option<Millis>,
    pub ended_ms: Option<Millis>,
    /// The holder is asked to stop it.
    pub cancelling: bool,
    pub options: Option<Json>,
    pub progress: Option<Json>,
    pub checkpoint: Option<Json>,
    pub result: Option<Json>,
    /// Of the latest attempt that failed; none once one has succeeded. Of a job that is to stop,
    /// the reason.
    pub error: Option<Json>,
    pub owner: Option<Name>,
    pub until_ms: Option<Millis>,
}

impl JobRecord {
    /// The bytes of its payloads.
    pub fn payload_bytes(&self) -> usize {
        let optional = [&self.progress, &self.checkpoint, &self.result, &self.error];
        let optional = optional.into_iter().flatten().map(Json::bytes);
        self.data.bytes() + optional.sum::<usize>()
    }
}

/// Which jobs to list: of one state in the order in which they will begin or have ended (newest
/// first), or of all states, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFilter {
    pub queue: Name,
    pub states: Vec<JobState>,
    /// A list with further conditions reads a bounded number of jobs: a page may then hold fewer
    /// than `limit`, even none, although more follow.
    pub wanted: Wanted,
    /// Rows a page: at least 1.
    pub limit: usize,
    pub cursor: Option<String>,
}

/// The further conditions on a job, all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The code of its error.
    pub code: Option<String>,
    /// Its name; a job without one has its queue's.
    pub name: Option<String>,
    pub key: Option<String>,
    /// Each of these is among the `tags` in its options.
    pub tags: Vec<String>,
    /// Ended, or added if it has not, at or before this time.
    pub before_ms: Option<Millis>,
    /// The same, at or after.
    pub after_ms: Option<Millis>,
}

impl Wanted {
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    pub fn fits(&self, job: &JobRecord) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|text| found == Some(text))
        };
        let ms = job.ended_ms.unwrap_or(job.created_ms);
        is(&self.name, Some(job.name.as_ref().unwrap_or(&job.queue)))
            && is(&self.key, job.key.as_deref())
            && self.before_ms.is_none_or(|before| ms <= before)
            && self.after_ms.is_none_or(|after| ms >= after)
            && self.has_code(job)
            && self.has_tags(job)
    }

    fn has_code(&self, job: &JobRecord) -> bool {
        let Some(code) = &self.code else {
            return true;
        };
        let found = job.error.as_ref().and_then(|error| error.get("code"));
        found.is_some_and(|found| found.as_text() == code.as_str())
    }

    fn has_tags(&self, job: &JobRecord) -> bool {
        if self.tags.is_empty() {
            return true;
        }
        let tags = job.options.as_ref().and_then(|options| options.get("tags"));
        let tags = tags.and_then(|tags| tags.read::<Vec<String>>().ok());
        tags.is_some_and(|tags| self.tags.iter().all(|tag| tags.contains(tag)))
    }
}

/// A queue and how many jobs it has in each state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueRecord {
    pub name: Name,
    pub paused: bool,
    pub created_ms: Millis,
    pub waiting: u64,
    pub delayed: u64,
    pub active: u64,
    pub parked: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Since when the oldest waiting job has waited: since it was added, or since its delay was
    /// over.
    pub oldest_ms: Option<Millis>,
    /// The latest window in which jobs were counted, if the queue has been claimed from under a
    /// rate. It may be over.
    pub rate: Option<RateWindow>,
}

impl QueueRecord {
    pub fn count(&self, state: JobState) -> u64 {
        match state {
            JobState::Waiting => self.waiting,
            JobState::Delayed => self.delayed,
            JobState::Active => self.active,
            JobState::Parked => self.parked,
            JobState::Completed => self.completed,
            JobState::Failed => self.failed,
            JobState::Cancelled => self.cancelled,
        }
    }
}

/// A window of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateWindow {
    pub from_ms: Millis,
    /// Jobs begun in it.
    pub begun: u64,
}
