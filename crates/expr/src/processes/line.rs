//! The queue of evaluations that wait for a child, and of supervisors that wait for evaluations.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Job;

/// Evaluations that one child is given at once, so that a round trip is paid for all of them.
const MAX_BATCH: usize = 32;
const MAX_BATCH_BYTES: usize = 256 << 10;

/// A child that had nothing to do for this long is ended.
const IDLE: Duration = Duration::from_secs(60);

pub(super) struct Line {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// For supervisors that wait for time to pass: they must not swallow news of a job.
    closing: Condvar,
    max_supervisors: usize,
}

#[derive(Default)]
struct Inner {
    jobs: VecDeque<Job>,
    supervisors: usize,
    /// Supervisors that wait for a job.
    idle: usize,
    closed: bool,
}

/// Whether somebody is there for a job that was added.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    Taken,
    /// The caller has to start a supervisor, which is counted already.
    NeedsSupervisor,
}

impl Line {
    pub(super) fn new(max_supervisors: usize) -> Line {
        Line {
            inner: Mutex::default(),
            changed: Condvar::new(),
            closing: Condvar::new(),
            max_supervisors,
        }
    }

    pub(super) fn add(&self, job: Job) -> Added {
        let mut inner = self.inner.lock();
        inner.jobs.push_back(job);
        if inner.idle >= inner.jobs.len() {
            self.changed.notify_one();
        } else if inner.supervisors < self.max_supervisors {
            inner.supervisors += 1;
            return Added::NeedsSupervisor;
        }
        Added::Taken
    }

    /// Puts evaluations that were not made back to the front, in their order.
    pub(super) fn put_back(&self, jobs: impl DoubleEndedIterator<Item = Job>) {
        let mut inner = self.inner.lock();
        for job in jobs.rev() {
            inner.jobs.push_front(job);
        }
        self.changed.notify_all();
    }

    /// The next evaluations for one child: its share of those that wait. Waits for them; `None` ends
    /// the supervisor, which is not counted any more.
    pub(super) fn take(&self) -> Option<Vec<Job>> {
        let mut inner = self.inner.lock();
        loop {
            // Callers that went away have dropped the other end.
            while inner.jobs.front().is_some_and(|job| job.reply.is_closed()) {
                inner.jobs.pop_front();
            }
            if inner.closed {
                inner.supervisors -= 1;
                return None;
            }
            let batch = self.batch(&mut inner.jobs);
            if !batch.is_empty() {
                return Some(batch);
            }
            inner.idle += 1;
            let waited = self.changed.wait_for(&mut inner, IDLE);
            inner.idle -= 1;
            if waited.timed_out() && inner.jobs.is_empty() {
                inner.supervisors -= 1;
                return None;
            }
        }
    }

    fn batch(&self, jobs: &mut VecDeque<Job>) -> Vec<Job> {
        let share = jobs.len().div_ceil(self.max_supervisors).min(MAX_BATCH);
        let mut batch: Vec<Job> = Vec::with_capacity(share);
        let mut bytes = 0;
        while batch.len() < share
            && let Some(job) = jobs.front()
        {
            bytes += job.request.len() + job.expr.source().len();
            // One that may have killed a child is sent alone, so that it harms no other.
            if !batch.is_empty() && (job.suspect || bytes > MAX_BATCH_BYTES) {
                break;
            }
            let suspect = job.suspect;
            batch.extend(jobs.pop_front());
            if suspect {
                break;
            }
        }
        batch
    }

    /// Takes out the evaluations that have waited for too long.
    pub(super) fn late(&self) -> Vec<Job> {
        let mut inner = self.inner.lock();
        let jobs = std::mem::take(&mut inner.jobs);
        let (late, rest): (Vec<_>, Vec<_>) = jobs.into_iter().partition(Job::is_late);
        inner.jobs = rest.into();
        late
    }

    /// A supervisor could not be started. Removes the evaluations that no other supervisor can take.
    pub(super) fn give_up(&self) -> Vec<Job> {
        let mut inner = self.inner.lock();
        inner.supervisors -= 1;
        match inner.supervisors {
            0 => inner.jobs.drain(..).collect(),
            _ => Vec::new(),
        }
    }

    /// Since when the evaluation at the front waits.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.inner.lock().jobs.front().map(|job| job.asked_at)
    }

    /// Waits for a while, or until the line is closed.
    pub(super) fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut inner = self.inner.lock();
        while !inner.closed && !self.closing.wait_until(&mut inner, until).timed_out() {}
    }

    /// Ends the supervisors and the evaluations that still wait.
    pub(super) fn close(&self) {
        let mut inner = self.inner.lock();
        inner.closed = true;
        inner.jobs.clear();
        self.changed.notify_all();
        self.closing.notify_all();
    }
}
