//! Backfills: start runs for past due times on request.

use riverrun_types::{ErrorCode, Millis, RunId};

use crate::{Error, Result, Triggers, clockwork::scheduled};

/// Which due times.
#[derive(Clone, Copy, Debug)]
pub struct Backfill {
    /// The first moment that counts.
    pub from_ms: Millis,
    /// The first that does not.
    pub until_ms: Millis,
    /// At most so many, the earliest first.
    pub limit: usize,
    /// Also those of so long ago that a run which there was may be deleted: they may run twice.
    pub forgotten: bool,
}

impl Backfill {
    /// The most due times of one request.
    pub const MAX_TIMES: usize = 1_000;
}

/// What was done about a due time.
#[derive(Clone, Debug, PartialEq)]
pub struct Backfilled {
    pub due_ms: Millis,
    pub made: Made,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    Started(RunId),
    /// There was a run for this time already.
    WasThere(RunId),
    /// There is none, and why.
    Failed {
        code: ErrorCode,
        message: String,
    },
}

impl Triggers {
    /// Starts a run for each due time of a range that has none yet. Returns the outcome of each,
    /// and the due time to continue from if there are more. A due time whose run cannot be started
    /// does not affect the others; a repeated backfill tries it again.
    pub async fn backfill(
        &self,
        id: &str,
        wanted: Backfill,
    ) -> Result<(Vec<Backfilled>, Option<Millis>)> {
        let trigger = self.get(id)?;
        let Some(schedule) = trigger.schedule() else {
            return Err(Error::NoSchedule {
                id: trigger.id.clone(),
                kind: trigger.kind().as_str(),
            });
        };
        if !trigger.enabled {
            return Err(Error::Disabled(trigger.id.clone()));
        }
        let now = self.runtime().base().now_ms();
        if wanted.from_ms >= wanted.until_ms || wanted.until_ms > now {
            let message = "the range must end after it begins, and not after now";
            return Err(riverrun_runtime::Error::Unprocessable(message.to_owned()).into());
        }
        let limit = wanted.limit.clamp(1, Backfill::MAX_TIMES);
        let (times, more) = schedule.between(wanted.from_ms, wanted.until_ms, limit);
        let next = times.last().filter(|_| more);
        let next = next.and_then(|last| schedule.next_after(*last));
        let forgotten = |due_ms| match wanted.forgotten {
            true => None,
            false => self.forgotten(due_ms),
        };
        if let Some(refusal) = times.first().and_then(|first| forgotten(*first)) {
            return Err(refusal);
        }
        let mut done = Vec::with_capacity(times.len());
        for due_ms in times {
            // Time goes on meanwhile, and what was known a moment ago may be no more.
            if let Some(refusal) = forgotten(due_ms) {
                let made = Made::failed(&refusal);
                done.push(Backfilled { due_ms, made });
                continue;
            }
            let input = self.tick_input(&trigger, due_ms, now).await;
            let shot = scheduled(&trigger, "backfill", due_ms, now);
            let made = match self.shoot(shot, input).await {
                Ok(started) if started.created => Made::Started(started.run),
                Ok(started) => Made::WasThere(started.run),
                Err(error) if error.is_passing() => return Err(error),
                Err(error) => Made::failed(&error),
            };
            done.push(Backfilled { due_ms, made });
        }
        Ok((done, next))
    }

    /// Why it is not known whether a due time had its run. A run ends after it was due, so one that
    /// was due within the shortest retention is still there.
    fn forgotten(&self, due_ms: Millis) -> Option<Error> {
        let (status, kept_ms) = self.runtime().base().options().retention.shortest()?;
        let known_ms = self.runtime().base().now_ms().saturating_sub(kept_ms);
        let error = Error::Forgotten {
            due_ms,
            status,
            kept_ms,
            known_ms,
        };
        (due_ms < known_ms).then_some(error)
    }
}

impl Made {
    fn failed(error: &Error) -> Self {
        Self::Failed {
            code: error.code(),
            message: error.to_string(),
        }
    }
}
