//! Jobs of queues: which outcomes count, and which requests each state of a job allows.

use foldhash::HashMap;
use riverrun_types::{Millis, Name, RunId};

use super::{Judging, NameHold, Read, Rows, Write, refuse};
use crate::{Error, JobLease, JobState, NewJobs, Note, Settle, Steer};

/// The part of a job's row that the rules read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobRow {
    pub place: i64,
    /// Its queue and the lane of its key, as the adapter numbers them.
    pub queue: i64,
    pub lane: i64,
    pub state: JobState,
    /// How it holds its unique name.
    pub name: NameHold,
    /// It runs and is asked to stop.
    pub cancel: Cancel,
    /// Its data is kept apart from its row.
    pub is_large: bool,
    /// It may have a stream of its own.
    pub has_stream: bool,
}

/// Whether a running job is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cancel {
    No,
    Yes,
    /// With a reason, which its row holds as the error that it ends with.
    WithReason,
}

/// The rows of jobs.
pub trait JobRows: Read {
    /// The job that is active under a lease.
    fn job_under(&mut self, lease: &JobLease) -> Result<Option<JobRow>, Self::Error>;

    fn job(&mut self, id: &RunId) -> Result<Option<JobRow>, Self::Error>;

    /// The queue of the job with this id.
    fn queue_of_job(&mut self, id: &RunId) -> Result<Option<Name>, Self::Error>;

    /// When a lease of jobs expires.
    fn lease_end(&mut self, token: u64) -> Result<Option<Millis>, Self::Error>;
}

/// The jobs that a commit has changed so far; none is a job that it has removed.
#[derive(Default)]
pub(super) struct Changed(HashMap<RunId, Option<JobRow>>);

impl Steer {
    /// The states that allow it, and the error message in others.
    fn states(&self) -> (&'static [JobState], &'static str) {
        use JobState::{Active, Cancelled, Completed, Delayed, Failed, Parked, Waiting};
        match self {
            Self::Promote => (
                &[Delayed, Parked],
                "only a delayed or parked job can be promoted",
            ),
            Self::Retry { .. } => (
                &[Parked, Completed, Failed, Cancelled],
                "only a job that has ended or is parked can be tried again",
            ),
            Self::Park { .. } => (
                &[Waiting, Delayed, Active],
                "only a job that has not ended can be parked",
            ),
            Self::Remove => (
                &[Parked, Waiting, Delayed, Completed, Failed, Cancelled],
                "cancel it first, then remove it",
            ),
            Self::Cancel { .. } => (
                &[Parked, Waiting, Delayed, Active],
                "there is nothing to cancel",
            ),
            Self::Priority(_) => (
                &[Waiting, Delayed],
                "only a job that has not begun has a priority",
            ),
            Self::Delay { .. } => (
                &[Waiting, Delayed],
                "only a job that has not begun can be delayed",
            ),
        }
    }
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    /// Rejects requested ids that belong to jobs of other queues.
    pub(super) fn enqueue(&mut self, jobs: &'a NewJobs) -> Result<(), R::Error> {
        for job in jobs.iter().filter(|job| job.is_named) {
            let queue = self.rows.queue_of_job(&job.id)?;
            if let Some(queue) = queue.filter(|queue| *queue != job.queue) {
                let id = job.id.clone();
                return refuse(Error::JobElsewhere { id, queue });
            }
        }
        self.write(Write::AddJobs(jobs))
    }

    pub(super) fn settle(&mut self, settle: &'a Settle) -> Result<(), R::Error> {
        let job = self.job_under(&settle.lease)?;
        if settle.if_expired {
            let end = self.rows.lease_end(settle.lease.token)?;
            if end.is_some_and(|until_ms| until_ms > settle.now_ms) {
                return refuse(Error::JobLost(settle.lease.id.clone()));
            }
        }
        if self.is_followed() {
            let effect = settle.effect(job.cancel);
            self.set_job(&settle.lease.id, job.after(&effect));
        }
        self.write(Write::SettleJob { settle, job })
    }

    pub(super) fn note(&mut self, note: &'a Note) -> Result<(), R::Error> {
        self.job_under(&note.lease)?;
        self.write(Write::NoteJob(note))
    }

    pub(super) fn steer(
        &mut self,
        job: &'a RunId,
        steer: &'a Steer,
        now_ms: Millis,
    ) -> Result<(), R::Error> {
        let Some(row) = self.job(job)? else {
            return refuse(Error::JobNotFound(job.clone()));
        };
        let (states, hint) = steer.states();
        if !states.contains(&row.state) {
            return refuse(Error::JobState {
                id: job.clone(),
                state: row.state.as_str(),
                hint,
            });
        }
        if self.is_followed() {
            let effect = steer.effect(&row, now_ms);
            self.set_job(job, row.after(&effect));
        }
        self.write(Write::SteerJob { job, steer, now_ms })
    }

    pub(super) fn abandon(&mut self, job: &'a RunId) -> Result<(), R::Error> {
        if self.is_followed() {
            let row = self.job(job)?;
            self.set_job(job, row.and_then(|row| row.after(&row.abandoned())));
        }
        self.write(Write::AbandonJob { job })
    }

    pub(super) fn drop_job(&mut self, job: &'a RunId) -> Result<(), R::Error> {
        self.set_job(job, None);
        self.write(Write::RemoveJob(job))
    }

    /// The job as the commit has left it so far.
    fn job(&mut self, id: &RunId) -> Result<Option<JobRow>, R::Error> {
        match self.changed.jobs.0.get(id) {
            Some(row) => Ok(*row),
            None => self.rows.job(id),
        }
    }

    fn set_job(&mut self, id: &RunId, row: Option<JobRow>) {
        if self.is_followed() {
            self.changed.jobs.0.insert(id.clone(), row);
        }
    }

    /// The job that is active under a lease; rejects the commit if none is.
    fn job_under(&mut self, lease: &JobLease) -> Result<JobRow, R::Error> {
        let changed = self.changed.jobs.0.get(&lease.id).copied();
        // An earlier change may have taken the lease away; no change gives it back.
        let is_taken =
            changed.is_some_and(|row| row.is_none_or(|row| row.state != JobState::Active));
        let stored = match is_taken {
            true => None,
            false => self.rows.job_under(lease)?,
        };
        let Some(stored) = stored else {
            return refuse(Error::JobLost(lease.id.clone()));
        };
        let cancel = changed.flatten().map_or(stored.cancel, |row| row.cancel);
        Ok(JobRow { cancel, ..stored })
    }
}
