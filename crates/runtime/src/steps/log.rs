//! What the server's log says of steps that fail.

use riverrun_engine::{Failure, Outcome};
use riverrun_store::Settled;

use crate::queues::{LOGGED, StepPlace};

/// Says of a failure what whoever looks after the server wants to know; see the same of jobs.
pub(super) fn log(place: &StepPlace, attempt: u32, outcome: &Outcome, settled: &Settled) {
    let Outcome::Failure(Failure { code, message, .. }) = outcome else {
        return;
    };
    let StepPlace { run, step, .. } = place;
    let message: String = message.chars().take(LOGGED).collect();
    match settled {
        Settled::Failed { .. } => {
            tracing::warn!(%run, %step, attempt, %code, message, "a step has failed for good");
        }
        Settled::Retry { .. } => {
            tracing::info!(%run, %step, attempt, %code, message, "a step is tried again");
        }
        _ => {}
    }
}
