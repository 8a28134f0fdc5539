//! Queues and lanes: their counts of jobs, and how a job that moves changes them.
//!
//! A lane holds the jobs of one key that have not ended. Jobs without a key are a lane too, which
//! has no row: its turn is in the row of the queue.

use riverrun_types::{Millis, Rate};

use crate::JobState;

/// The turn of a lane at its limit of active jobs: it is passed over until one of them ends.
pub const BLOCKED: i64 = i64::MAX;

/// The part of a queue's row that the rules read and change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueRow {
    pub paused: bool,
    pub waiting: i64,
    pub delayed: i64,
    pub active: i64,
    pub parked: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    /// Waiting jobs that have a key.
    pub keyed: i64,
    /// Of the lane that was served last.
    pub turn: i64,
    /// Of the jobs without a key.
    pub own_turn: i64,
    /// The beginning of the rate's window.
    pub rate_from_ms: Millis,
    /// Jobs begun in it.
    pub rate_count: i64,
}

impl QueueRow {
    fn count(&mut self, state: JobState) -> &mut i64 {
        match state {
            JobState::Waiting => &mut self.waiting,
            JobState::Delayed => &mut self.delayed,
            JobState::Active => &mut self.active,
            JobState::Parked => &mut self.parked,
            JobState::Completed => &mut self.completed,
            JobState::Failed => &mut self.failed,
            JobState::Cancelled => &mut self.cancelled,
        }
    }

    /// A job was added (from nowhere), moved or was removed (to nowhere).
    pub fn shift(&mut self, from: Option<JobState>, to: Option<JobState>) {
        if let Some(from) = from {
            *self.count(from) -= 1;
        }
        if let Some(to) = to {
            *self.count(to) += 1;
        }
    }

    /// Whether a job may begin where it is added: no waiting or delayed job goes before it.
    pub fn begins_at_once(&self, concurrency: Option<u32>) -> bool {
        let most = concurrency.map_or(i64::MAX, i64::from);
        !self.paused && self.waiting == 0 && self.delayed == 0 && self.active < most
    }

    /// How many jobs may begin within a rate. A new window begins once the last one is over.
    pub(super) fn allowed(&mut self, rate: Rate, now_ms: Millis) -> i64 {
        if now_ms >= self.window_end(rate) || now_ms < self.rate_from_ms {
            self.rate_from_ms = now_ms;
            self.rate_count = 0;
        }
        i64::from(rate.max) - self.rate_count
    }

    pub(super) fn window_end(&self, rate: Rate) -> Millis {
        self.rate_from_ms.saturating_add(rate.window_ms)
    }
}

/// The part of a lane's row that the rules read and change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneRow {
    /// The adapter's number for it; 0 for the jobs without a key.
    pub place: i64,
    pub turn: i64,
    pub waiting: i64,
    pub active: i64,
    /// Jobs that have not ended. A lane without any is removed.
    pub held: i64,
}

/// The effect of a job that moves on the counts of its lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneShift {
    pub waiting: i64,
    pub active: i64,
    pub held: i64,
}

impl LaneShift {
    pub fn of(from: Option<JobState>, to: Option<JobState>) -> Self {
        let change = |is: fn(JobState) -> bool| {
            i64::from(to.is_some_and(is)) - i64::from(from.is_some_and(is))
        };
        Self {
            waiting: change(|state| state == JobState::Waiting),
            active: change(|state| state == JobState::Active),
            held: change(|state| !state.is_ended()),
        }
    }
}

impl LaneRow {
    /// A lane that begins.
    pub fn new(place: i64, queue: &QueueRow) -> Self {
        Self {
            place,
            turn: queue.turn,
            ..Self::default()
        }
    }

    /// The row after a job has moved; none if the lane is removed. A job that ends unblocks its
    /// lane.
    pub fn shifted(self, shift: LaneShift, queue: &QueueRow) -> Option<Self> {
        let goes_on = shift.active < 0 && self.turn == BLOCKED;
        let row = Self {
            place: self.place,
            turn: if goes_on { queue.turn } else { self.turn },
            waiting: self.waiting + shift.waiting,
            active: self.active + shift.active,
            held: self.held + shift.held,
        };
        (row.held > 0 || shift.held >= 0).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_anew_when_it_is_over() {
        let rate = Rate {
            max: 2,
            window_ms: 1_000,
        };
        let mut queue = QueueRow::default();
        let mut check = |now_ms, begun, allowed| {
            assert_eq!(queue.allowed(rate, now_ms), allowed, "at {now_ms}");
            queue.rate_count += begun;
        };
        check(5_000, 2, 2);
        check(5_999, 0, 0);
        check(6_000, 1, 2);
        check(6_500, 1, 1);
        check(6_600, 0, 0);
    }

    #[test]
    fn a_blocked_lane_goes_on_when_one_of_its_jobs_ends() {
        let queue = QueueRow {
            turn: 7,
            ..QueueRow::default()
        };
        let lane = LaneRow {
            place: 1,
            turn: BLOCKED,
            waiting: 1,
            active: 1,
            held: 2,
        };
        let ends = LaneShift::of(Some(JobState::Active), Some(JobState::Completed));
        let after = lane.shifted(ends, &queue);
        assert_eq!(
            after.map(|lane| (lane.turn, lane.active, lane.held)),
            Some((7, 0, 1))
        );
        let waits = LaneShift::of(None, Some(JobState::Waiting));
        assert_eq!(
            lane.shifted(waits, &queue).map(|lane| lane.turn),
            Some(BLOCKED)
        );
        let last = LaneRow { held: 1, ..lane };
        assert_eq!(last.shifted(ends, &queue), None);
    }
}
