//! Claims on queues in memory: limits hold, no job that may begin is left, and every key gets its
//! share.

use std::convert::Infallible;

use proptest::{collection::vec, option, prelude::*};
use riverrun_types::{Json, QueueLimits, Rate, RunId};

use super::*;
use crate::{JobLease, JobState, judge::LaneShift};

/// A queue whose lane 0 has the jobs without a key. All jobs have waited since 0.
#[derive(Clone, Debug, Default)]
struct Memory {
    queue: QueueRow,
    lanes: Vec<LaneRow>,
}

impl Memory {
    fn of(waiting: &[i64]) -> Self {
        let mut memory = Self::default();
        for (place, count) in (0..).zip(waiting) {
            memory.lanes.push(LaneRow::new(place, &memory.queue));
            for _ in 0..*count {
                memory.shift(place, None, JobState::Waiting);
            }
        }
        memory
    }

    fn lane(&mut self, place: i64) -> &mut LaneRow {
        let lane = self.lanes.iter_mut().find(|lane| lane.place == place);
        lane.expect("the lane is there")
    }

    fn shift(&mut self, place: i64, from: Option<JobState>, to: JobState) {
        let shift = LaneShift::of(from, Some(to));
        self.queue.shift(from, Some(to));
        self.queue.keyed += if place == 0 { 0 } else { shift.waiting };
        let queue = self.queue;
        let lane = self.lane(place);
        let emptied = LaneRow {
            turn: lane.turn,
            ..LaneRow::new(place, &queue)
        };
        *lane = lane.shifted(shift, &queue).unwrap_or(emptied);
    }

    fn ends(&mut self, place: i64) {
        self.shift(place, Some(JobState::Active), JobState::Completed);
    }
}

impl ClaimRows for Memory {
    type Error = Infallible;

    fn queue(&mut self) -> &mut QueueRow {
        &mut self.queue
    }

    fn promote(&mut self, _now_ms: Millis) -> Result<(), Infallible> {
        Ok(())
    }

    fn next_delayed(&mut self) -> Result<Option<Millis>, Infallible> {
        Ok(None)
    }

    fn lanes(&mut self, active_below: i64, most: i64) -> Result<Vec<LaneRow>, Infallible> {
        let is_ready = |lane: &&LaneRow| {
            lane.place != 0 && lane.waiting > 0 && lane.turn < BLOCKED && lane.active < active_below
        };
        let mut lanes: Vec<LaneRow> = self.lanes.iter().filter(is_ready).copied().collect();
        lanes.sort_by_key(|lane| lane.turn);
        lanes.truncate(most as usize);
        Ok(lanes)
    }

    fn set_turn(&mut self, lane: i64, turn: i64) -> Result<(), Infallible> {
        self.lane(lane).turn = turn;
        Ok(())
    }

    /// The lane is in the place of the lease.
    fn begin(&mut self, lane: i64, most: i64) -> Result<Vec<ClaimedJob>, Infallible> {
        let count = self.lane(lane).waiting.min(most);
        let jobs = (0..count).map(|_| {
            self.shift(lane, Some(JobState::Waiting), JobState::Active);
            job(lane)
        });
        Ok(jobs.collect())
    }

    fn oldest(&mut self, _lane: i64, _jobs: i64) -> Result<Option<Millis>, Infallible> {
        Ok(Some(0))
    }
}

fn job(lane: i64) -> ClaimedJob {
    ClaimedJob {
        lease: JobLease {
            id: RunId::new("j"),
            queue: "q".into(),
            attempt: 1,
            place: lane,
            token: 1,
        },
        name: None,
        data: Json::null(),
        key: None,
        attempt: 1,
        losses: 0,
        losses_in_row: 0,
        created_ms: 0,
        ready_ms: 0,
        options: None,
        checkpoint: None,
        has_stream: false,
    }
}

fn claimed(memory: &mut Memory, now_ms: Millis, limit: usize, limits: QueueLimits) -> Vec<i64> {
    let asked = ClaimJobs {
        queue: "q".into(),
        owner: "o".into(),
        limit,
        now_ms,
        until_ms: now_ms + 1_000,
        limits,
    };
    let Ok(claimed) = claim(memory, &asked);
    claimed.jobs.iter().map(|job| job.lease.place).collect()
}

proptest! {
    #[test]
    fn a_claim_takes_all_that_may_begin_and_no_more(
        waiting in vec(0..20i64, 1..6),
        claims in vec((1..30usize, any::<bool>()), 1..12),
        concurrency in option::of(1..12u32),
        per_key in option::of(1..4u32),
        rate in option::of(1..15u32),
    ) {
        let mut memory = Memory::of(&waiting);
        let limits = QueueLimits {
            concurrency,
            per_key,
            rate: rate.map(|max| Rate { max, window_ms: 1_000 }),
            ..QueueLimits::default()
        };
        for (limit, ends) in claims {
            let before = memory.clone();
            let taken = claimed(&mut memory, 5, limit, limits);
            let may_begin = |lane: &LaneRow| match (lane.place, per_key) {
                (0, _) | (_, None) => lane.waiting,
                (_, Some(most)) => lane.waiting.min(i64::from(most) - lane.active).max(0),
            };
            let ready: i64 = before.lanes.iter().map(may_begin).sum();
            let bounds = [
                Some(limit as i64),
                concurrency.map(|most| i64::from(most) - before.queue.active),
                rate.map(|max| i64::from(max) - before.queue.rate_count),
            ];
            let expected = bounds.into_iter().flatten().fold(ready, i64::min).max(0);
            prop_assert_eq!(taken.len() as i64, expected, "{:?}", before);
            if ends {
                for place in taken {
                    memory.ends(place);
                }
            }
        }
    }

    #[test]
    fn keys_take_turns(waiting in vec(50..60i64, 2..6), limit in 1..9usize) {
        // No key waits for more than a round of the others, however the claims are cut.
        let mut memory = Memory::of(&waiting);
        let mut got = vec![0i64; waiting.len()];
        for _ in 0..10 {
            for place in claimed(&mut memory, 5, limit, QueueLimits::default()) {
                got[place as usize] += 1;
            }
            let (least, most) = (got.iter().min(), got.iter().max());
            let spread = most.zip(least).map_or(0, |(most, least)| most - least);
            prop_assert!(spread <= limit as i64, "{:?}", got);
        }
    }
}
