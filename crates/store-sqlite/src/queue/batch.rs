//! Claiming jobs in batches: whole ones at once, what is left over when it has waited long enough.

use riverrun_store::{ClaimJobs, ClaimedJob};
use riverrun_types::{Gather, Millis};
use rusqlite::Connection;

use super::{Queue, WAITING, claim, lanes};
use crate::error::Worked;

/// How many jobs are a whole batch: no more than could ever be claimed together.
pub(super) fn size(claim: &ClaimJobs) -> i64 {
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

/// Takes whole batches, and the rest with them if the first of it has waited long enough; else says
/// when it will have.
pub(super) fn take(
    conn: &Connection,
    queue: &mut Queue,
    claim: &ClaimJobs,
    token: u64,
    room: i64,
    gather: Gather,
) -> Worked<(Vec<ClaimedJob>, Option<Millis>)> {
    let per_key = claim.limits.per_key;
    let ready = ready(conn, queue, per_key, room)?;
    let ready = room.min(ready.iter().map(|lane| lane.jobs).sum());
    let rest = ready % size(claim);
    let mut jobs = claim::take(conn, queue, claim, token, ready - rest)?;
    if rest == 0 {
        return Ok((jobs, None));
    }
    let since = oldest(conn, queue, per_key, rest)?.unwrap_or(0);
    let due = since.saturating_add(gather.wait_ms);
    if due > claim.now_ms {
        return Ok((jobs, Some(due)));
    }
    jobs.extend(claim::take(conn, queue, claim, token, rest)?);
    Ok((jobs, None))
}

/// A lane, and how many of its jobs may begin.
struct Ready {
    lane: i64,
    jobs: i64,
}

/// The lanes that have jobs which may begin, as many as so many jobs can come from.
fn ready(conn: &Connection, queue: &Queue, per_key: Option<u32>, most: i64) -> Worked<Vec<Ready>> {
    let unkeyed = Ready {
        lane: 0,
        jobs: (queue.count(WAITING) - queue.keyed).min(most),
    };
    let mut ready = Vec::new();
    if unkeyed.jobs > 0 {
        ready.push(unkeyed);
    }
    if queue.keyed == 0 {
        return Ok(ready);
    }
    let limit = per_key.map_or(i64::MAX, i64::from);
    let mut statement = conn.prepare_cached(
        "SELECT no, min(waiting, ?3 - active, ?4) FROM lanes
         WHERE queue = ?1 AND waiting > 0 AND turn < ?2 AND active < ?3 ORDER BY turn LIMIT ?4",
    )?;
    let mut rows = statement.query((queue.no, lanes::BLOCKED, limit, most))?;
    while let Some(row) = rows.next()? {
        ready.push(Ready {
            lane: row.get(0)?,
            jobs: row.get(1)?,
        });
    }
    Ok(ready)
}

/// Since when the oldest of the next so many jobs has waited.
fn oldest(
    conn: &Connection,
    queue: &Queue,
    per_key: Option<u32>,
    count: i64,
) -> Worked<Option<Millis>> {
    let mut oldest: Option<Millis> = None;
    for lane in ready(conn, queue, per_key, count)? {
        let since: Option<Millis> = conn
            .prepare_cached(
                "SELECT min(at_ms) FROM (SELECT at_ms FROM work
                 WHERE queue = ?1 AND lane = ?2 AND state = 0 ORDER BY rank, no LIMIT ?3)",
            )?
            .query_row((queue.no, lane.lane, lane.jobs), |row| row.get(0))?;
        oldest = oldest.into_iter().chain(since).min();
    }
    Ok(oldest)
}
