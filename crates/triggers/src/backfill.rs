//! Due times of the past, made up for because somebody wants it.

use riverrun_types::{Millis, RunId};

use crate::{Error, Result, Triggers, clockwork::scheduled};

/// The most due times of one request.
const MAX_TIMES: usize = 1_000;

/// Which due times.
#[derive(Clone, Copy, Debug)]
pub struct Backfill {
    /// The first moment that counts.
    pub from_ms: Millis,
    /// The first that does not.
    pub until_ms: Millis,
    /// At most so many, the earliest first.
    pub limit: usize,
}

/// What was done about a due time.
#[derive(Clone, Debug, PartialEq)]
pub struct Backfilled {
    pub due_ms: Millis,
    pub run: RunId,
    /// False if there was a run for this time already.
    pub created: bool,
}

impl Triggers {
    /// Starts a run for each due time of a range for which there is none. Answers with them, and
    /// with the due time to go on from if there are more.
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
        let now = self.runtime().now_ms();
        if wanted.from_ms >= wanted.until_ms || wanted.until_ms > now {
            let message = "the range must end after it begins, and not after now";
            return Err(riverrun_runtime::Error::BadRequest(message.to_owned()).into());
        }
        let limit = wanted.limit.clamp(1, MAX_TIMES);
        let (times, more) = schedule.between(wanted.from_ms, wanted.until_ms, limit);
        let next = times.last().filter(|_| more);
        let next = next.and_then(|last| schedule.next_after(*last));
        let mut done = Vec::with_capacity(times.len());
        for due_ms in times {
            let input = self.tick_input(&trigger, due_ms, now).await;
            let shot = scheduled(&trigger, "backfill", due_ms, now);
            let started = self.shoot(shot, input).await?;
            done.push(Backfilled {
                due_ms,
                run: started.run,
                created: started.created,
            });
        }
        Ok((done, next))
    }
}
