//! When schedules are due. Pure: every function is given the time.
//!
//! A cron pattern is about the wall clock of its zone (`wall`). Where that clock jumps forward,
//! fixed times that do not exist are due once, at the first moment after the gap. Where it goes
//! back, each fixed time is due once, the first time. A pattern with a `*` (`*`, `*/15`) for its
//! second, minute or hour is an interval: it is due in both repeated hours and not in missing ones.
//! `config` reads a schedule, `turn` decides what happens at a due time.

mod config;
mod due;
#[cfg(test)]
mod tests;
mod wall;

pub(crate) use config::Config;
pub use due::{DueDecision, Missed};

use jiff::Timestamp;
use riverrun_types::Millis;

use wall::Wall;

/// A schedule, ready to be asked.
#[derive(Clone, Debug)]
pub struct Schedule {
    rule: Rule,
    start_ms: Option<Millis>,
    end_ms: Option<Millis>,
    missed: Missed,
    max_missed: u64,
    grace_ms: Millis,
}

#[derive(Clone, Debug)]
enum Rule {
    Cron(Box<Wall>),
    Every { ms: Millis, anchor_ms: Millis },
    At(Millis),
}

impl Schedule {
    /// What the schedule is called in a run's metadata.
    pub(crate) fn source(&self) -> &'static str {
        match self.rule {
            Rule::Cron(..) => "cron",
            Rule::Every { .. } => "interval",
            Rule::At(_) => "at",
        }
    }

    /// The first due time after a moment.
    pub fn next_after(&self, ms: Millis) -> Option<Millis> {
        let ms = ms.max(
            self.start_ms
                .map_or(Millis::MIN, |start| start.saturating_sub(1)),
        );
        let next = match &self.rule {
            Rule::Cron(wall) => wall.next_after(second(ms)?)?.as_millisecond(),
            Rule::Every {
                ms: every,
                anchor_ms,
            } => {
                let passed = ms.saturating_sub(*anchor_ms).div_euclid(*every).max(0);
                let turn = passed.checked_add(1)?;
                anchor_ms.checked_add(every.checked_mul(turn)?)?
            }
            Rule::At(at_ms) => *at_ms,
        };
        (next > ms && self.end_ms.is_none_or(|end| next <= end)).then_some(next)
    }

    /// The last due time at or before a moment.
    pub fn last_until(&self, ms: Millis) -> Option<Millis> {
        let ms = self.end_ms.map_or(ms, |end| ms.min(end));
        let last = match &self.rule {
            Rule::Cron(wall) => wall.last_until(second(ms)?)?.as_millisecond(),
            Rule::Every {
                ms: every,
                anchor_ms,
            } => {
                let passed = ms.saturating_sub(*anchor_ms).div_euclid(*every);
                if passed < 1 {
                    return None;
                }
                anchor_ms.checked_add(every.checked_mul(passed)?)?
            }
            Rule::At(at_ms) => *at_ms,
        };
        (last <= ms && self.start_ms.is_none_or(|start| last >= start)).then_some(last)
    }

    /// The one due time of a schedule that had passed when it was made.
    pub fn passed(&self, now_ms: Millis) -> Option<Millis> {
        match self.rule {
            Rule::At(_) => self.last_until(now_ms),
            Rule::Cron(_) | Rule::Every { .. } => None,
        }
    }

    /// The due times between two moments, the first included, up to `limit`; and whether there
    /// are more.
    pub fn between(&self, from_ms: Millis, until_ms: Millis, limit: usize) -> (Vec<Millis>, bool) {
        let mut found = Vec::new();
        let mut at = from_ms.saturating_sub(1);
        while let Some(next) = self.next_after(at).filter(|next| *next < until_ms) {
            if found.len() == limit {
                return (found, true);
            }
            found.push(next);
            at = next;
        }
        (found, false)
    }
}

/// The whole second of a moment: cron knows no parts of them.
fn second(ms: Millis) -> Option<Timestamp> {
    Timestamp::from_second(ms.div_euclid(1_000)).ok()
}
