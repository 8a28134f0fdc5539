//! Jobs that lost their child to a neighbour, and are not to pay for it.
//!
//! Who hung is known by whose time was over. That is almost always the one to blame, but a handler
//! that blocks its child can also let the time of another run out. So a job is spared only so
//! often: one that is always there when a child hangs pays like any other in the end.

use std::collections::HashMap;

use parking_lot::Mutex;
use riverrun_protocol::{Invoke, WorkError};
use serde_json::json;

/// How often a job is spared.
const TIMES: u32 = 2;
/// Jobs that are remembered. With more of them all are forgotten: it only spares some once more.
const MAX_JOBS: usize = 10_000;
/// The code of what is not its own fault. A runtime releases such jobs.
const ENDED: &str = "RUNNER_ENDED";

#[derive(Default)]
pub(super) struct Spared(Mutex<HashMap<String, u32>>);

/// What ends all that runs in a child in which a handler of this process hung.
pub(super) fn hung(runner: &str, process: &str) -> WorkError {
    let message =
        format!("{runner} was ended: a handler of {process:?} in it did not stop when told to");
    WorkError::new(ENDED, message).details(&json!({ "process": process }))
}

impl Spared {
    /// Says whether a job pays for the end of its child.
    pub fn judge(&self, invoke: &Invoke, error: WorkError) -> WorkError {
        if error.code != ENDED {
            return error;
        }
        let culprit = error.details.as_ref().and_then(|told| told.get("process"));
        let is_own = culprit.is_some_and(|culprit| culprit.as_text() == invoke.process.as_str());
        if !is_own && self.spares(invoke) {
            return error;
        }
        WorkError::new("RUNNER_HUNG", error.message)
    }

    fn spares(&self, invoke: &Invoke) -> bool {
        let mut spared = self.0.lock();
        if spared.len() >= MAX_JOBS {
            spared.clear();
        }
        let jobs = std::iter::once(&invoke.job).chain(&invoke.jobs);
        // A call has no job, and nobody who would run it again.
        jobs.filter_map(|job| job.job_id.as_ref()).all(|id| {
            let times = spared.entry(id.clone()).or_default();
            *times += 1;
            *times <= TIMES
        })
    }
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
        for expected in [ENDED, ENDED, "RUNNER_HUNG"] {
            assert_eq!(code("good", "b"), expected);
        }
        assert_eq!(code("good", "c"), ENDED);
        let other = WorkError::new("BROKEN", "by itself");
        assert_eq!(spared.judge(&invoke("good", "b"), other).code, "BROKEN");
    }
}
