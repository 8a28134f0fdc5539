//! Log entries about steps that fail.

use riverrun_engine::{Failure, Outcome};
use riverrun_store::Settled;

use crate::queues::{LOGGED, StepPlace};

/// Logs a failure for the operators of the server, as for jobs.
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
