//! Limits of a queue that hold on all instances together.

use crate::Millis;

/// The limits of a queue, on all instances together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueLimits {
    /// Jobs that are active at once.
    pub concurrency: Option<u32>,
    /// Jobs of one key that are active at once.
    pub per_key: Option<u32>,
    pub rate: Option<Rate>,
    /// Claim whole batches of this many, and what is left over once the first of it has waited for
    /// that long. What can never be claimed together (by a rate, by a limit) is no batch: then as
    /// many as can be are one.
    pub gather: Option<Gather>,
}

/// How the limits of a queue restrict the start of its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartRules {
    /// Only a claim can tell which jobs may start: none starts in the commit that adds it.
    pub by_claim_only: bool,
    /// The end of one job can let another one start.
    pub after_ends: bool,
}

impl QueueLimits {
    /// The one place that says so of each limit. It names every field: a new limit does not compile
    /// until it is placed here, so no job starts past it unnoticed.
    pub fn start_rules(&self) -> StartRules {
        let Self {
            concurrency,
            per_key,
            rate,
            gather,
        } = self;
        StartRules {
            // The commit that adds jobs counts the active ones of the queue, so `concurrency` holds
            // there as well.
            by_claim_only: per_key.is_some() || rate.is_some() || gather.is_some(),
            // A rate is over with its window, whatever ends meanwhile.
            after_ends: concurrency.is_some() || per_key.is_some() || gather.is_some(),
        }
    }
}

/// At most `max` begin within any window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub max: u32,
    pub window_ms: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gather {
    pub count: u32,
    pub wait_ms: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_says_how_it_restricts_the_start_of_jobs() {
        let none = QueueLimits::default();
        let rate = Rate {
            max: 1,
            window_ms: 1,
        };
        let gather = Gather {
            count: 2,
            wait_ms: 1,
        };
        let check = |limits: QueueLimits, by_claim_only, after_ends| {
            let expected = StartRules {
                by_claim_only,
                after_ends,
            };
            assert_eq!(limits.start_rules(), expected, "{limits:?}");
        };
        check(none, false, false);
        let concurrency = Some(1);
        check(
            QueueLimits {
                concurrency,
                ..none
            },
            false,
            true,
        );
        let per_key = Some(1);
        check(QueueLimits { per_key, ..none }, true, true);
        let rate = Some(rate);
        check(QueueLimits { rate, ..none }, true, false);
        let gather = Some(gather);
        check(QueueLimits { gather, ..none }, true, true);
    }
}
