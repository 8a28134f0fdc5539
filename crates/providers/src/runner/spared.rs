//! Jobs whose child ended because of another job in it, and which lose no attempt by that.
//!
//! When a child hangs, the job whose time is over is almost always the cause, but a handler that
//! blocks its child can also make another job run out of time. When a child dies, the cause is
//! unknown. So each job that was in it is a suspect and runs in a child of its own, until it ends
//! there or until another suspect has died alone.
//!
//! A job is spared a limited number of times. After that it loses an attempt like any other.

use riverrun_types::ErrorCode;
use std::collections::HashMap;

use parking_lot::Mutex;
use riverrun_protocol::{Invoke, WorkError};
use serde_json::json;
use tokio::sync::Notify;

use super::child::End;

/// How often a job loses no attempt.
const TIMES: u32 = 2;
/// Jobs that are remembered. With more of them all are forgotten: it only spares some once more.
const MAX_JOBS: usize = 10_000;
/// The code of what is not its own fault. A runtime releases such jobs.
const ENDED: ErrorCode = ErrorCode::RunnerEnded;

#[derive(Default)]
pub(super) struct Spared {
    jobs: Mutex<HashMap<String, Job>>,
    /// Notified when some are suspects no longer.
    cleared: Notify,
}

#[derive(Default)]
struct Job {
    times: u32,
    /// The child that it may have killed.
    suspect_of: Option<String>,
}

/// What ends all that runs in a child in which a handler of this process hung.
pub(super) fn hung(runner: &str, process: &str) -> WorkError {
    let message = format!(
        "{runner} was ended: a handler of {process:?} in it did not stop when it was asked to"
    );
    WorkError::new(ENDED, message).details(&json!({ "process": process }))
}

impl Spared {
    /// Says whether a job pays for the end of its child, which a handler had hung.
    pub fn judge(&self, invoke: &Invoke, error: WorkError) -> WorkError {
        if error.code != ENDED {
            return error;
        }
        let culprit = error
            .details
            .as_ref()
            .and_then(|details| details.get("process"));
        let is_own = culprit.is_some_and(|culprit| culprit.as_text() == invoke.process.as_str());
        if !is_own && self.spares(invoke) {
            return error;
        }
        WorkError::new(ErrorCode::RunnerHung, error.message)
    }

    /// Says whether a job pays for the death of its child, and makes it a suspect.
    pub fn died(&self, invoke: &Invoke, runner: &str, end: &End) -> WorkError {
        // Condemned, since a handler had hung.
        if end.error.code == ENDED {
            return self.judge(invoke, end.error.clone());
        }
        let is_spared = end.running > 1 && ids(invoke).next().is_some() && self.spares(invoke);
        let mut jobs = self.jobs.lock();
        for id in ids(invoke) {
            jobs.entry(id.to_owned()).or_default().suspect_of = Some(runner.to_owned());
        }
        match is_spared {
            true => {
                let others = end.running - 1;
                let message = format!(
                    "{}; {others} more ran in it, so each is run again by itself",
                    end.error.message
                );
                WorkError::new(ENDED, message)
            }
            false => end.error.clone(),
        }
    }

    /// Whether it is to be run in a child of its own.
    pub fn is_suspect(&self, invoke: &Invoke) -> bool {
        let jobs = self.jobs.lock();
        let is_suspect = |id| {
            let job: Option<&Job> = jobs.get(id);
            job.is_some_and(|job| job.suspect_of.is_some())
        };
        !jobs.is_empty() && ids(invoke).any(is_suspect)
    }

    /// Returns when it is a suspect no longer.
    pub async fn acquitted(&self, invoke: &Invoke) {
        loop {
            let mut cleared = std::pin::pin!(self.cleared.notified());
            cleared.as_mut().enable();
            if !self.is_suspect(invoke) {
                return;
            }
            cleared.await;
        }
    }

    /// A suspect has ended in a child of its own, which died or did not. If it died, the job runs
    /// apart the next time too, and the suspects that were beside it are cleared, except those that
    /// were beside an earlier death as well.
    pub fn tried(&self, invoke: &Invoke, has_died: bool) {
        let mut jobs = self.jobs.lock();
        for id in ids(invoke) {
            let Some(job) = jobs.remove(id) else {
                continue;
            };
            if !has_died {
                continue;
            }
            for other in jobs.values_mut() {
                if other.times < TIMES && other.suspect_of == job.suspect_of {
                    other.suspect_of = None;
                }
            }
            jobs.insert(id.to_owned(), job);
        }
        self.cleared.notify_waiters();
    }

    fn spares(&self, invoke: &Invoke) -> bool {
        let mut jobs = self.jobs.lock();
        if jobs.len() >= MAX_JOBS {
            jobs.clear();
        }
        // A call has no job and is not repeated.
        ids(invoke).all(|id| {
            let job = jobs.entry(id.to_owned()).or_default();
            job.times += 1;
            job.times <= TIMES
        })
    }
}

fn ids(invoke: &Invoke) -> impl Iterator<Item = &str> {
    let jobs = std::iter::once(&invoke.job).chain(&invoke.jobs);
    jobs.filter_map(|job| job.job_id.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoke(process: &str, job: &str) -> Invoke {
        let invoke = json!({
            "process": process, "kind": "job", "jobId": job, "attempt": 1, "maxAttempts": 3,
        });
        Invoke::read(&riverrun_types::Json::of(&invoke)).unwrap()
    }

    #[test]
    fn a_neighbour_is_spared_twice_and_the_culprit_never() {
        let spared = Spared::default();
        let code = |process: &str, job: &str| {
            let error = hung("node runner 1", "bad");
            spared.judge(&invoke(process, job), error).code
        };
        assert_eq!(code("bad", "a"), "RUNNER_HUNG");
        for expected in [ENDED, ENDED, ErrorCode::RunnerHung] {
            assert_eq!(code("good", "b"), expected);
        }
        assert_eq!(code("good", "c"), ENDED);
        let other = WorkError::new("BROKEN", "by itself");
        assert_eq!(spared.judge(&invoke("good", "b"), other).code, "BROKEN");
    }

    #[test]
    fn the_one_that_kills_is_found_and_clears_the_others() {
        let spared = Spared::default();
        let end = |running| End {
            error: WorkError::new("RUNNER_DIED", "it ended"),
            running,
        };
        let [bad, good, late] = ["bad", "good", "late"].map(|job| invoke("p", job));
        for job in [&bad, &good, &late] {
            assert_eq!(spared.died(job, "one", &end(3)).code, ENDED);
            assert!(spared.is_suspect(job));
        }
        spared.tried(&good, false);
        assert!(!spared.is_suspect(&good) && spared.is_suspect(&late));
        spared.tried(&bad, true);
        assert!(spared.is_suspect(&bad) && !spared.is_suspect(&late));
        // A job that was beside two deaths is cleared only by its own success.
        for job in [&bad, &late] {
            spared.died(job, "two", &end(2));
        }
        spared.tried(&bad, true);
        assert!(spared.is_suspect(&late));
        // A job is spared twice at most; a job that was alone, and a call, never.
        assert_eq!(spared.died(&late, "three", &end(2)).code, "RUNNER_DIED");
        let alone = invoke("p", "alone");
        assert_eq!(spared.died(&alone, "four", &end(1)).code, "RUNNER_DIED");
        assert!(spared.is_suspect(&alone), "it is run apart the next time");
        let mut call = invoke("p", "call");
        call.job.job_id = None;
        assert_eq!(spared.died(&call, "five", &end(2)).code, "RUNNER_DIED");
    }
}
