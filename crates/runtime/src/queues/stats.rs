//! The rates and latencies of queues, as this instance has measured them since it started.

use std::{collections::HashMap, time::Instant};

use parking_lot::Mutex;
use riverrun_store::Settled;
use riverrun_types::{Millis, Name};
use serde::Serialize;

/// The window of rates, in seconds.
const WINDOW: usize = 60;

/// Counts and latencies of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueStats {
    /// Per second, over the last minute.
    pub started_per_s: f64,
    pub completed_per_s: f64,
    pub failed_per_s: f64,
    /// From when an attempt could begin to its beginning, and from being added to the end.
    pub wait_ms: Percentiles,
    pub total_ms: Percentiles,
    pub completed: u64,
    pub failed: u64,
    pub retried: u64,
    pub cancelled: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
}

pub(crate) struct JobStats {
    began: Instant,
    queues: Mutex<HashMap<Name, Seen>>,
}

#[derive(Default)]
struct Seen {
    started: Recent,
    completed: Recent,
    failed: Recent,
    wait: Histogram,
    total: Histogram,
    counts: [u64; 4],
}

/// Counts of the last seconds, in a ring.
struct Recent {
    counts: [u32; WINDOW],
    /// The second that was counted last.
    at: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            counts: [0; WINDOW],
            at: 0,
        }
    }
}

impl Recent {
    fn add(&mut self, second: u64) {
        self.forget(second);
        self.counts[(second % WINDOW as u64) as usize] += 1;
    }

    fn forget(&mut self, second: u64) {
        let passed = second.saturating_sub(self.at).min(WINDOW as u64);
        for n in 0..passed {
            self.counts[((second - n) % WINDOW as u64) as usize] = 0;
        }
        self.at = self.at.max(second);
    }

    fn per_second(&mut self, second: u64) -> f64 {
        self.forget(second);
        let over = (second + 1).clamp(1, WINDOW as u64);
        let sum: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        sum as f64 / over as f64
    }
}

/// Milliseconds in buckets that grow by a fifth, which is exact enough for readers.
#[derive(Default)]
struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Histogram {
    const GROWTH: f64 = 1.2;

    fn add(&mut self, ms: Millis) {
        let ms = ms.max(0) as f64;
        let at = (ms + 1.0).log(Self::GROWTH) as usize;
        let at = at.min(255);
        if self.buckets.len() <= at {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
        self.count += 1;
    }

    fn percentile(&self, share: f64) -> Option<f64> {
        let wanted = (self.count as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && self.count > 0 {
                // The middle of the bucket.
                let low = Self::GROWTH.powi(at as i32) - 1.0;
                let high = Self::GROWTH.powi(at as i32 + 1) - 1.0;
                return Some(((low + high) / 2.0 * 10.0).round() / 10.0);
            }
        }
        None
    }

    fn percentiles(&self) -> Percentiles {
        Percentiles {
            p50: self.percentile(0.5),
            p95: self.percentile(0.95),
            p99: self.percentile(0.99),
        }
    }
}

impl Default for JobStats {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            queues: Mutex::default(),
        }
    }
}

impl JobStats {
    fn second(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    pub fn started(&self, queue: &Name, wait_ms: Millis) {
        let second = self.second();
        let mut queues = self.queues.lock();
        let seen = queues.entry(queue.clone()).or_default();
        seen.started.add(second);
        seen.wait.add(wait_ms);
    }

    pub fn settled(&self, queue: &Name, outcome: &Settled, total_ms: Millis) {
        let second = self.second();
        let mut queues = self.queues.lock();
        let seen = queues.entry(queue.clone()).or_default();
        match outcome {
            Settled::Completed { .. } => {
                seen.completed.add(second);
                seen.total.add(total_ms);
                seen.counts[0] += 1;
            }
            Settled::Failed { .. } | Settled::Dropped => {
                seen.failed.add(second);
                seen.counts[1] += 1;
            }
            Settled::Retry { .. } => seen.counts[2] += 1,
            Settled::Cancelled { .. } => seen.counts[3] += 1,
            Settled::Lost { .. } | Settled::Parked { .. } | Settled::Released => {}
        }
    }

    pub fn of(&self, queue: &str) -> QueueStats {
        let second = self.second();
        let mut queues = self.queues.lock();
        let Some(seen) = queues.get_mut(queue) else {
            return QueueStats::default();
        };
        let [completed, failed, retried, cancelled] = seen.counts;
        QueueStats {
            started_per_s: seen.started.per_second(second),
            completed_per_s: seen.completed.per_second(second),
            failed_per_s: seen.failed.per_second(second),
            wait_ms: seen.wait.percentiles(),
            total_ms: seen.total.percentiles(),
            completed,
            failed,
            retried,
            cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_a_fifth() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(0.5), None);
        for ms in 1..=1_000 {
            histogram.add(ms);
        }
        for (share, exact) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0)] {
            let said = histogram.percentile(share).unwrap();
            assert!((said - exact).abs() <= exact * 0.2, "{said} for {exact}");
        }
    }

    #[test]
    fn rates_forget_what_is_over() {
        let mut recent = Recent::default();
        for second in 0..60 {
            recent.add(second);
            recent.add(second);
        }
        assert!((recent.per_second(59) - 2.0).abs() < 1e-9);
        assert!((recent.per_second(89) - 1.0).abs() < 1e-9);
        assert!(recent.per_second(500) < 1e-9);
    }
}
