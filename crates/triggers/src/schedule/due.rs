//! Due times that have come, and due times that were missed because no server ran.

use riverrun_types::Millis;
use serde::{Deserialize, Serialize};

use super::Schedule;

/// How many due times that passed are counted, at most.
const MAX_COUNTED: u64 = 1_000;

/// What happens to due times at which no server ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// Nothing, unless the last of them was just now.
    Skip,
    /// The last of them stands for all.
    #[default]
    Once,
    /// All of them are made up for, up to a number.
    All,
}

/// What is to be done about a due time that has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DueDecision {
    /// The due time for which a run is started.
    pub fire_ms: Option<Millis>,
    /// How many due times are let go by. More than a thousand are not counted.
    pub missed: u64,
    /// When it is due next. May have passed: then it has another turn.
    pub next_ms: Option<Millis>,
}

impl Schedule {
    /// What to do at `now_ms` about a schedule that was due at `due_ms`.
    pub fn decide(&self, due_ms: Millis, now_ms: Millis) -> DueDecision {
        let last_ms = self.last_until(now_ms).unwrap_or(due_ms).max(due_ms);
        match self.missed {
            Missed::Skip => {
                let is_late = now_ms.saturating_sub(last_ms) > self.grace_ms;
                DueDecision {
                    fire_ms: (!is_late).then_some(last_ms),
                    missed: self.count(due_ms, last_ms) + u64::from(is_late),
                    next_ms: self.next_after(now_ms),
                }
            }
            Missed::Once => DueDecision {
                fire_ms: Some(last_ms),
                missed: self.count(due_ms, last_ms),
                next_ms: self.next_after(now_ms),
            },
            Missed::All => {
                let first_ms = self.back(due_ms, last_ms, self.max_missed - 1);
                DueDecision {
                    fire_ms: Some(first_ms),
                    missed: self.count(due_ms, first_ms),
                    next_ms: self.next_after(first_ms),
                }
            }
        }
    }

    /// Due times from `due_ms` on that come before `last_ms`.
    fn count(&self, due_ms: Millis, last_ms: Millis) -> u64 {
        let mut count = 0;
        let mut at = last_ms;
        while count < MAX_COUNTED && at > due_ms {
            at = self.before(at).unwrap_or(due_ms).max(due_ms);
            count += 1;
        }
        count
    }

    /// As many due times back from `last_ms`, but not before `due_ms`.
    fn back(&self, due_ms: Millis, last_ms: Millis, steps: u64) -> Millis {
        let mut at = last_ms;
        for _ in 0..steps {
            match self.before(at) {
                Some(before) if before >= due_ms => at = before,
                _ if at > due_ms => return due_ms,
                _ => return at,
            }
        }
        at
    }

    fn before(&self, ms: Millis) -> Option<Millis> {
        self.last_until(ms.checked_sub(1)?)
    }
}
