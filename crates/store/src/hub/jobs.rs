//! Live events of jobs: to the channels of their queues and the readers of a job's stream.

use std::sync::{Arc, atomic::Ordering};

use riverrun_types::{Draft, EventType, Millis, Name, RunId, StreamName};

use super::{Batch, Hub};
use crate::{ClaimedJob, Hint, JobState};

impl Hub {
    /// Notifies listeners that jobs of a queue have begun. Commits before the claim are published
    /// first: a job begins after it was added.
    pub async fn claimed(&self, queue: &Name, jobs: &[ClaimedJob], now_ms: Millis) {
        if jobs.is_empty() {
            return;
        }
        if self.channels.has(queue) {
            self.catch_up().await;
            self.channels.claimed(queue, jobs, now_ms);
        }
        for job in jobs {
            self.job_for_all(&job.lease.id);
        }
    }

    /// Notifies listeners that a job began where it was added.
    pub(super) fn taken(&self, job: &ClaimedJob) {
        if !self.channels.is_silent() {
            let queue = &job.lease.queue;
            self.channels
                .claimed(queue, std::slice::from_ref(job), job.ready_ms);
        }
        self.job_for_all(&job.lease.id);
    }

    /// Notifies listeners that jobs of a queue were removed together.
    pub fn purged(&self, queue: &Name, state: JobState, removed: u64, now_ms: Millis) {
        self.look_everywhere();
        self.send(|| Hint::JobsRemoved);
        if removed > 0 && !self.channels.is_silent() {
            let data = serde_json::json!({"queue": queue, "state": state, "removed": removed});
            let kind = EventType::parse("queue.purged");
            self.channels
                .said(queue, Draft::new(now_ms, kind).data(data));
        }
    }

    /// Notifies the readers of job streams, which check whether their job still exists.
    pub fn look_everywhere(&self) {
        if self.jobs.load(Ordering::Acquire) == 0 {
            return;
        }
        for entry in &self.streams {
            if entry.key().is_job() {
                let _ = entry.value().send(Arc::new(Batch::new(Vec::new(), None)));
            }
        }
    }

    /// Notifies the readers of a job's stream that its row has moved.
    pub(super) fn look(&self, job: &RunId) {
        if self.jobs.load(Ordering::Acquire) == 0 {
            return;
        }
        self.reread(&StreamName::job(job));
    }
}
