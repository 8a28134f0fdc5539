//! Jobs that are added: their first state, and the unique names under which a queue has one at a time.

use riverrun_types::{Millis, Name, time::NEVER};

use super::QueueRow;
use crate::{ClaimedJob, JobLease, JobState, Lasts, NewJob, TakeJobs, Unique};

impl NewJob {
    /// When it may begin: not before it exists.
    pub fn ready_ms(&self) -> Millis {
        self.at_ms
            .map_or(self.created_ms, |at_ms| at_ms.max(self.created_ms))
    }

    /// The state of a job that does not begin where it is added.
    pub fn state(&self) -> JobState {
        waits_until(self.ready_ms(), self.created_ms)
    }

    /// The job as it is claimed where it is added.
    pub fn begun(&self, place: i64, token: u64) -> ClaimedJob {
        ClaimedJob {
            lease: JobLease {
                id: self.id.clone(),
                queue: self.queue.clone(),
                attempt: 1,
                place,
                token,
            },
            name: self.name.clone(),
            data: self.data.clone(),
            key: self.key.clone(),
            attempt: 1,
            losses: 0,
            losses_in_row: 0,
            created_ms: self.created_ms,
            ready_ms: self.ready_ms(),
            options: self.options.clone(),
            checkpoint: None,
            has_stream: false,
        }
    }
}

/// The state of a job that may begin at a time.
pub(super) fn waits_until(at_ms: Millis, now_ms: Millis) -> JobState {
    match at_ms > now_ms {
        true => JobState::Delayed,
        false => JobState::Waiting,
    }
}

/// The room that a commit brings for the jobs that it adds.
#[derive(Debug)]
pub struct Takes<'a> {
    pub token: u64,
    pub now_ms: Millis,
    /// The queues, and the jobs for which there is still room.
    rooms: Vec<(&'a Name, usize, Option<u32>)>,
}

impl<'a> Takes<'a> {
    /// `until_ms`: when the lease expires, if it exists. None if it has expired.
    pub fn of(take: &'a TakeJobs, until_ms: Option<Millis>) -> Option<Self> {
        let is_held = until_ms.is_some_and(|until_ms| until_ms > take.now_ms);
        is_held.then(|| Self {
            token: take.token,
            now_ms: take.now_ms,
            rooms: take
                .rooms
                .iter()
                .map(|room| (&room.queue, room.jobs, room.concurrency))
                .collect(),
        })
    }

    /// Whether a job begins where it is added: it is due, and there is room for it.
    pub fn has_room(&self, job: &NewJob, queue: &QueueRow) -> bool {
        let mut rooms = self.rooms.iter();
        job.ready_ms() <= job.created_ms
            && rooms.any(|(name, jobs, concurrency)| {
                **name == job.queue && *jobs > 0 && queue.begins_at_once(*concurrency)
            })
    }

    /// A job has begun.
    pub fn use_one(&mut self, queue: &Name) {
        let mut rooms = self.rooms.iter_mut();
        if let Some((_, jobs, _)) = rooms.find(|(name, jobs, _)| *name == queue && *jobs > 0) {
            *jobs -= 1;
        }
    }
}

/// How a job holds its unique name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameHold {
    /// The job has no unique name.
    None,
    UntilEnd,
    /// For a time, or as long as the job is known.
    ForLonger,
    /// Again until it ends, since it was tried again. No job replaces such a job.
    TakenBack,
}

/// The effect of a job's end on its unique name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFate {
    Stays,
    /// Another job may take it. The store remembers the last job that had it, which takes it back
    /// if it is tried again before that.
    Free,
    Forgotten,
}

impl NameHold {
    pub fn of(unique: Option<&Unique>) -> Self {
        match unique.map(|unique| &unique.lasts) {
            None => Self::None,
            Some(Lasts::UntilEnd) => Self::UntilEnd,
            Some(Lasts::Always | Lasts::Until(_)) => Self::ForLonger,
        }
    }

    /// Whether the job gives its name up when it ends, and takes it back when it is tried again.
    pub fn is_until_end(self) -> bool {
        matches!(self, Self::UntilEnd | Self::TakenBack)
    }

    /// The effect on the name of a job that has ended in a state.
    pub fn after(self, end: JobState) -> NameFate {
        match (self.is_until_end(), end) {
            (true, JobState::Completed) => NameFate::Forgotten,
            (true, _) => NameFate::Free,
            (false, _) => NameFate::Stays,
        }
    }
}

/// A known unique name, and the job that has it or had it last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameRow {
    pub until_ms: Millis,
    /// None: the job was removed, and its name stays taken for a while.
    pub state: Option<JobState>,
    /// Attempts begun.
    pub attempt: u32,
    pub hold: NameHold,
}

/// The decision about a new job whose unique name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameVerdict {
    /// It is added and takes the name.
    Free,
    /// It is not added: the other job has the name.
    Taken,
    /// The other job becomes the new one.
    Replaces,
}

impl Unique {
    /// Until when a new job has the name, unless its own end frees it earlier.
    pub fn until_ms(&self) -> Millis {
        match self.lasts {
            Lasts::UntilEnd | Lasts::Always => NEVER,
            Lasts::Until(ms) => ms,
        }
    }

    pub fn judge(&self, known: &NameRow, created_ms: Millis) -> NameVerdict {
        // A job that failed and waits for its next attempt has begun, as has one that is tried
        // again.
        let has_begun = known.attempt > 0 || known.hold != NameHold::UntilEnd;
        let is_delayed = known.state == Some(JobState::Delayed);
        match self.replace {
            true if is_delayed && !has_begun => NameVerdict::Replaces,
            true => NameVerdict::Free,
            false if known.until_ms > created_ms => NameVerdict::Taken,
            false => NameVerdict::Free,
        }
    }
}
