//! Claims: which jobs of a queue may begin now.
//!
//! Covers the limits of the queue and of its keys, the window of a rate, whole batches, and
//! fairness: lanes are served in turn, and a lane that was served moves back by the jobs that it
//! got. The adapter finds the candidates in the way that is fast for it.

use riverrun_types::{Gather, Millis};

use super::{LaneRow, QueueRow, queues::BLOCKED};
use crate::{ClaimJobs, ClaimedJob, ClaimedJobs};

/// The most jobs that one claim takes, however many were requested.
const MAX_CLAIM: usize = 16_384;

/// The rows of one queue and its jobs.
pub trait ClaimRows {
    type Error;

    /// The row of the queue, as the claim has left it so far.
    fn queue(&mut self) -> &mut QueueRow;

    /// Makes delayed jobs whose time has come waiting.
    fn promote(&mut self, now_ms: Millis) -> Result<(), Self::Error>;

    /// When the next delayed job may begin.
    fn next_delayed(&mut self) -> Result<Option<Millis>, Self::Error>;

    /// The lanes of keys that have waiting jobs, are not [`BLOCKED`] and have less than this many
    /// active jobs: the first by turn, up to `most`.
    fn lanes(&mut self, active_below: i64, most: i64) -> Result<Vec<LaneRow>, Self::Error>;

    fn set_turn(&mut self, lane: i64, turn: i64) -> Result<(), Self::Error>;

    /// Makes up to `most` waiting jobs of a lane active, by priority and then in the order in which
    /// they were added. Jobs with a damaged row fail instead. Counts all of them.
    fn begin(&mut self, lane: i64, most: i64) -> Result<Vec<ClaimedJob>, Self::Error>;

    /// Since when the oldest of the next so many jobs of a lane has waited.
    fn oldest(&mut self, lane: i64, jobs: i64) -> Result<Option<Millis>, Self::Error>;
}

/// Takes the jobs of a claim.
pub fn claim<R: ClaimRows>(rows: &mut R, claim: &ClaimJobs) -> Result<ClaimedJobs, R::Error> {
    rows.promote(claim.now_ms)?;
    let delayed_ms = rows.next_delayed()?;
    let queue = rows.queue();
    let idle = |queue: &QueueRow, next_ms| {
        Ok(ClaimedJobs {
            jobs: Vec::new(),
            next_ms,
            are_left: queue.waiting > 0,
        })
    };
    if queue.paused || queue.waiting <= 0 {
        return idle(queue, delayed_ms);
    }
    let room = match room(queue, claim) {
        Room::Jobs(room) if room > 0 => room,
        Room::Jobs(_) => return idle(queue, delayed_ms),
        Room::NextWindow(at_ms) => {
            let next_ms = delayed_ms.map_or(at_ms, |next| next.min(at_ms));
            return idle(queue, Some(next_ms));
        }
    };
    let (jobs, ready_ms) = match claim.limits.gather {
        None => (serve(rows, claim, room)?, None),
        Some(gather) => gathered(rows, claim, room, gather)?,
    };
    let queue = rows.queue();
    queue.rate_count += jobs.len() as i64;
    let window_ms = next_window(queue, claim, ready_ms.is_some());
    Ok(ClaimedJobs {
        jobs,
        next_ms: [delayed_ms, window_ms, ready_ms]
            .into_iter()
            .flatten()
            .min(),
        are_left: queue.waiting > 0,
    })
}

/// Jobs beyond the window of a rate may begin in the next one.
fn next_window(queue: &QueueRow, claim: &ClaimJobs, has_rest: bool) -> Option<Millis> {
    let rate = claim.limits.rate?;
    let is_used_up = queue.rate_count >= i64::from(rate.max);
    (queue.waiting > 0 && (is_used_up || has_rest)).then(|| queue.window_end(rate))
}

/// How many jobs may begin.
enum Room {
    Jobs(i64),
    /// None before this time, when the next window of the rate begins.
    NextWindow(Millis),
}

/// The room that a claim and the limits of its queue leave.
fn room(queue: &mut QueueRow, claim: &ClaimJobs) -> Room {
    let mut room = claim.limit.min(MAX_CLAIM) as i64;
    if let Some(most) = claim.limits.concurrency {
        room = room.min(i64::from(most) - queue.active);
    }
    // A claim with room for half a batch waits until it has room for a whole one.
    room -= room.max(0) % batch_size(claim);
    if let Some(rate) = claim.limits.rate {
        let allowed = queue.allowed(rate, claim.now_ms);
        if allowed <= 0 {
            return Room::NextWindow(queue.window_end(rate));
        }
        room = room.min(allowed);
    }
    Room::Jobs(room)
}

/// Takes up to `room` jobs. Lanes are served in turn, and the jobs without a key are a lane too.
fn serve<R: ClaimRows>(
    rows: &mut R,
    claim: &ClaimJobs,
    room: i64,
) -> Result<Vec<ClaimedJob>, R::Error> {
    if room <= 0 {
        return Ok(Vec::new());
    }
    if rows.queue().keyed == 0 {
        return rows.begin(0, room);
    }
    let mut jobs = Vec::new();
    let left = |jobs: &Vec<_>| room - jobs.len() as i64;
    while left(&jobs) > 0 {
        let lanes = next_lanes(rows, left(&jobs))?;
        let share = (left(&jobs) / (lanes.len() as i64).max(1)).max(1);
        let mut has_served = false;
        for lane in lanes {
            let most = share.min(left(&jobs));
            has_served |= serve_lane(rows, claim, &lane, most, &mut jobs)?;
        }
        if !has_served {
            break;
        }
    }
    Ok(jobs)
}

/// Takes up to `most` jobs of a lane and moves it back. Returns whether the next round differs from
/// this one: jobs have begun, or the lane is passed over from now on.
fn serve_lane<R: ClaimRows>(
    rows: &mut R,
    claim: &ClaimJobs,
    lane: &LaneRow,
    most: i64,
    jobs: &mut Vec<ClaimedJob>,
) -> Result<bool, R::Error> {
    let lane_room = match claim.limits.per_key {
        Some(per_key) if lane.place != 0 => i64::from(per_key) - lane.active,
        _ => i64::MAX,
    };
    let begun = match most.min(lane_room) {
        most @ 1.. => rows.begin(lane.place, most)?,
        _ => Vec::new(),
    };
    let count = begun.len() as i64;
    jobs.extend(begun);
    // More jobs may be active than the limit allows now: it was higher before.
    let is_full = count >= lane_room;
    let queue = rows.queue();
    queue.turn = queue.turn.max(lane.turn);
    let turn = queue.turn + count;
    match lane.place {
        0 => queue.own_turn = turn,
        place => rows.set_turn(place, if is_full { BLOCKED } else { turn })?,
    }
    Ok(count > 0 || is_full)
}

/// The lanes that are served next, at most `most`.
fn next_lanes<R: ClaimRows>(rows: &mut R, most: i64) -> Result<Vec<LaneRow>, R::Error> {
    let mut lanes = rows.lanes(i64::MAX, most)?;
    let queue = rows.queue();
    if queue.waiting > queue.keyed {
        lanes.push(LaneRow {
            turn: queue.own_turn,
            waiting: queue.waiting - queue.keyed,
            ..LaneRow::default()
        });
    }
    lanes.sort_by_key(|lane| lane.turn);
    lanes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(lanes)
}

/// How many jobs are a whole batch: no more than could ever be claimed together.
fn batch_size(claim: &ClaimJobs) -> i64 {
    let limits = &claim.limits;
    let Some(gather) = limits.gather else {
        return 1;
    };
    let most = limits.rate.map(|rate| rate.max).into_iter();
    let most = most.chain(limits.concurrency).map(i64::from);
    let asked = i64::try_from(claim.limit).unwrap_or(i64::MAX);
    let most = most.chain([asked]).fold(i64::from(gather.count), i64::min);
    most.max(1)
}

/// Takes whole batches, and the rest with them if the first of it has waited long enough; else
/// returns when it will have.
fn gathered<R: ClaimRows>(
    rows: &mut R,
    claim: &ClaimJobs,
    room: i64,
    gather: Gather,
) -> Result<(Vec<ClaimedJob>, Option<Millis>), R::Error> {
    let ready = ready(rows, claim, room)?;
    let ready = room.min(ready.iter().map(|lane| lane.jobs).sum());
    let rest = ready % batch_size(claim);
    let mut jobs = serve(rows, claim, ready - rest)?;
    if rest == 0 {
        return Ok((jobs, None));
    }
    let since_ms = oldest(rows, claim, rest)?.unwrap_or(0);
    let due_ms = since_ms.saturating_add(gather.wait_ms);
    if due_ms > claim.now_ms {
        return Ok((jobs, Some(due_ms)));
    }
    jobs.extend(serve(rows, claim, rest)?);
    Ok((jobs, None))
}

/// A lane, and how many of its jobs may begin.
struct Ready {
    lane: i64,
    jobs: i64,
}

/// The lanes with jobs that may begin, as many as this many jobs can come from.
fn ready<R: ClaimRows>(rows: &mut R, claim: &ClaimJobs, most: i64) -> Result<Vec<Ready>, R::Error> {
    let queue = rows.queue();
    let (unkeyed, keyed) = ((queue.waiting - queue.keyed).min(most), queue.keyed);
    let mut ready = Vec::new();
    if unkeyed > 0 {
        ready.push(Ready {
            lane: 0,
            jobs: unkeyed,
        });
    }
    if keyed > 0 {
        let limit = claim.limits.per_key.map_or(i64::MAX, i64::from);
        ready.extend(rows.lanes(limit, most)?.into_iter().map(|lane| Ready {
            lane: lane.place,
            jobs: lane.waiting.min(limit - lane.active).min(most),
        }));
    }
    Ok(ready)
}

/// Since when the oldest of the next so many jobs has waited.
fn oldest<R: ClaimRows>(
    rows: &mut R,
    claim: &ClaimJobs,
    count: i64,
) -> Result<Option<Millis>, R::Error> {
    let mut oldest: Option<Millis> = None;
    for lane in ready(rows, claim, count)? {
        let since_ms = rows.oldest(lane.lane, lane.jobs)?;
        oldest = oldest.into_iter().chain(since_ms).min();
    }
    Ok(oldest)
}

#[cfg(test)]
mod tests;
