//! Operations of a step's code that failed. Each failed try is recorded before the code gets the
//! answer, so the count survives a crash and a suspension.

use riverrun_engine::{Fact, Memo, MemoRetry, Operation, Visit};
use riverrun_protocol::{PendingRetry, TryAgain, WorkError};
use riverrun_types::{Json, Millis};

use super::host::StepHost;
use crate::queues::{FailedTry, Next, Tried, final_answer, params};

/// The server waits for a longer backoff: no worker is held meanwhile.
pub(super) const MAX_IN_PLACE_MS: Millis = 5_000;

/// The recorded state of a visit's operations that are tried again.
pub(super) fn tries(visit: &Visit) -> Vec<(Operation, Tried)> {
    let tried = |retry: &MemoRetry| {
        let tried = Tried {
            failures: retry.failures,
            until_ms: retry.until_ms,
            bytes: 0,
        };
        (retry.operation.clone(), tried)
    };
    visit.retries.iter().map(tried).collect()
}

/// The operations whose next try has a time, as code gets them at its start.
pub(super) fn pending(visit: &Visit, now: Millis) -> Vec<PendingRetry> {
    let pending = |retry: &MemoRetry| {
        let Operation { op, name, nth } = &retry.operation;
        PendingRetry {
            op: op.to_string(),
            name: name.to_string(),
            nth: *nth,
            next: try_again(retry.failures, retry.until_ms.saturating_sub(now), None),
        }
    };
    visit.retries.iter().map(pending).collect()
}

/// When an operation is tried again, and whether the code waits for that itself. `left_ms` is the
/// remaining time of the attempt: the server also takes over a wait that would outlast it.
fn try_again(failures: u32, delay_ms: Millis, left_ms: Option<Millis>) -> TryAgain {
    let delay_ms = delay_ms.max(0);
    let outlasts = left_ms.is_some_and(|left_ms| delay_ms >= left_ms);
    TryAgain {
        attempt: failures.saturating_add(1),
        retry_after_ms: u64::try_from(delay_ms).unwrap_or_default(),
        suspend: delay_ms > MAX_IN_PLACE_MS || outlasts,
    }
}

impl StepHost {
    /// A try of an operation has failed: records it, and returns what follows.
    pub(super) async fn try_failed(&self, asked: &Json) -> Result<Json, WorkError> {
        let failed: FailedTry = params(asked)?;
        let next = self.tries.next(&failed, &self.retry())?;
        let operation = failed.operation();
        self.saw(failed.seen)?;
        let Operation { op, name, nth } = operation.clone();
        let (failures, delay_ms) = match next {
            Next::Again { failures, delay_ms } => (failures, delay_ms),
            Next::Final(error) => {
                let memo = Memo {
                    op,
                    name,
                    nth,
                    value: None,
                    error: Some(error),
                    emits: failed.emits,
                };
                self.remember(memo, Vec::new()).await?;
                return Ok(final_answer());
            }
        };
        let now = self.steps.base().now_ms();
        let until_ms = now.saturating_add(delay_ms);
        let retry = MemoRetry {
            operation: operation.clone(),
            failures,
            error: failed.error,
            until_ms,
        };
        let draft = Fact::StepMemoRetry(self.at.clone(), retry.data(delay_ms)).draft(now);
        let bytes = self.room.record(&draft)?;
        let said = self.said.take().await;
        self.store(said, Some(draft), Vec::new()).await?;
        let tried = Tried {
            failures,
            until_ms,
            bytes,
        };
        if let Some(before) = self.tries.failed(operation, tried) {
            self.room.give_back(before.bytes);
        }
        let answer = try_again(failures, delay_ms, Some(self.left_ms()));
        Ok(Json::of(&answer))
    }
}
