//! Claiming jobs, keeping their leases, finding those that nobody keeps.

use riverrun_store::{ClaimJobs, ClaimedJob, ClaimedJobs, Error, JobBeats, JobLease, StalledJob};
use riverrun_types::{Json, Millis, Name, Rate, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ACTIVE, DELAYED, FAILED, Queue, WAITING, batch, lanes, unique};
use crate::{
    columns::{Payload, Sealed, damage, json, token_code},
    core::Core,
    error::{Failure, Worked, corrupt, translate},
};

/// Delayed jobs that one claim makes waiting at most; the next one goes on.
const PROMOTED: usize = 4_096;
/// The most run tasks that one claim takes, however many were asked for.
const MAX_CLAIM: usize = 16_384;

pub(crate) fn claim(core: &mut Core, claim: &ClaimJobs) -> Worked<ClaimedJobs> {
    let token = core.token();
    let (conn, queues) = (&core.conn, &mut *core.queues.borrow_mut());
    let Some(queue) = queues.find(&claim.queue) else {
        return Ok(ClaimedJobs::default());
    };
    promote(conn, queue, claim.now_ms)?;
    let next_ms = next_delayed(conn, queue)?;
    let are_left = queue.count(WAITING) > 0;
    let idle = |next_ms| {
        Ok(ClaimedJobs {
            jobs: Vec::new(),
            next_ms,
            are_left,
        })
    };
    if queue.paused || !are_left {
        return idle(next_ms);
    }
    let mut room = claim.limit.min(MAX_CLAIM) as i64;
    if let Some(most) = claim.limits.concurrency {
        room = room.min(i64::from(most) - queue.count(ACTIVE));
    }
    // What has room for half a batch waits until it has room for a whole one.
    room -= room.max(0) % batch::size(claim);
    if let Some(rate) = claim.limits.rate {
        let allowed = queue.allowed(rate, claim.now_ms);
        if allowed <= 0 {
            let over = queue.rate_from_ms.saturating_add(rate.window_ms);
            return idle(Some(next_ms.map_or(over, |next| next.min(over))));
        }
        room = room.min(allowed);
    }
    if room <= 0 {
        return idle(next_ms);
    }
    let (jobs, ready_ms) = match claim.limits.gather {
        None => (take(conn, queue, claim, token, room)?, None),
        Some(gather) => batch::take(conn, queue, claim, token, room, gather)?,
    };
    if !jobs.is_empty() {
        write_lease(conn, token, &claim.owner, claim.until_ms)?;
        queue.rate_count += jobs.len() as i64;
    }
    // What the window has no room for any more may begin in the next one.
    let over = claim.limits.rate.filter(|rate| {
        let is_used_up = queue.rate_count >= i64::from(rate.max);
        queue.count(WAITING) > 0 && (is_used_up || ready_ms.is_some())
    });
    let over = over.map(|rate| queue.rate_from_ms.saturating_add(rate.window_ms));
    let next_ms = [next_ms, over, ready_ms].into_iter().flatten().min();
    Ok(ClaimedJobs {
        jobs,
        next_ms,
        are_left: queue.count(WAITING) > 0,
    })
}

impl Queue {
    /// How many jobs may begin now.
    fn allowed(&mut self, rate: Rate, now: Millis) -> i64 {
        let over = self.rate_from_ms.saturating_add(rate.window_ms);
        if now >= over || now < self.rate_from_ms {
            self.rate_from_ms = now;
            self.rate_count = 0;
            self.is_changed = true;
        }
        i64::from(rate.max) - self.rate_count
    }
}

/// Makes delayed jobs whose time has come waiting, in every queue: nobody may be claiming from it.
fn promote_all(core: &Core, now: Millis) -> Worked<()> {
    let queues = &mut *core.queues.borrow_mut();
    for no in queues.all() {
        promote(&core.conn, queues.numbered(no), now)?;
    }
    Ok(())
}

/// Makes delayed jobs whose time has come waiting.
pub(super) fn promote(conn: &Connection, queue: &mut Queue, now: Millis) -> Worked<()> {
    if queue.count(DELAYED) == 0 {
        return Ok(());
    }
    let due: Vec<(i64, i64)> = conn
        .prepare_cached(
            "SELECT no, lane FROM work WHERE queue = ?1 AND state = 1 AND at_ms <= ?2
             ORDER BY at_ms LIMIT ?3",
        )?
        .query_map((queue.no, now, PROMOTED), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (no, lane) in due {
        conn.prepare_cached("UPDATE work SET state = 0 WHERE no = ?1")?
            .execute([no])?;
        lanes::shift(conn, queue, lane, Some(DELAYED), Some(WAITING))?;
    }
    Ok(())
}

fn next_delayed(conn: &Connection, queue: &Queue) -> Worked<Option<Millis>> {
    if queue.count(DELAYED) == 0 {
        return Ok(None);
    }
    Ok(conn
        .prepare_cached(
            "SELECT at_ms FROM work WHERE queue = ?1 AND state = 1 ORDER BY at_ms LIMIT 1",
        )?
        .query_row([queue.no], |row| row.get(0))
        .optional()?)
}

/// Takes up to `room` jobs. Lanes are served in turn, and the jobs without a key are a lane too.
pub(super) fn take(
    conn: &Connection,
    queue: &mut Queue,
    claim: &ClaimJobs,
    token: u64,
    room: i64,
) -> Worked<Vec<ClaimedJob>> {
    if queue.keyed == 0 {
        return take_lane(conn, queue, claim, token, 0, room);
    }
    let mut jobs = Vec::new();
    let mut left = room;
    while left > 0 {
        let lane_rooms = lane_rooms(conn, queue, claim.limits.per_key, left)?;
        if lane_rooms.is_empty() {
            break;
        }
        let share = (left / lane_rooms.len() as i64).max(1);
        let mut is_stuck = true;
        for lane in lane_rooms {
            let most = share.min(left).min(lane.room);
            let taken = take_lane(conn, queue, claim, token, lane.lane, most)?;
            left -= taken.len() as i64;
            let served = lane.turn.max(queue.turn);
            queue.turn = served;
            let next = served + taken.len() as i64;
            if lane.lane == 0 {
                queue.own_turn = next;
            } else {
                // More may be active than may be now: the limit was higher before.
                let is_full = taken.len() as i64 >= lane.room;
                is_stuck &= !is_full;
                conn.prepare_cached("UPDATE lanes SET turn = ?2 WHERE no = ?1")?
                    .execute((lane.lane, if is_full { lanes::BLOCKED } else { next }))?;
            }
            is_stuck &= taken.is_empty();
            jobs.extend(taken);
        }
        if is_stuck {
            break;
        }
    }
    Ok(jobs)
}

/// A lane that may be served.
struct LaneRoom {
    lane: i64,
    turn: i64,
    /// Jobs of it that may begin.
    room: i64,
}

/// The lanes that are to be served next, at most `most`.
fn lane_rooms(
    conn: &Connection,
    queue: &Queue,
    per_key: Option<u32>,
    most: i64,
) -> Worked<Vec<LaneRoom>> {
    let limit = per_key.map_or(i64::MAX, i64::from);
    let mut lane_rooms: Vec<LaneRoom> = conn
        .prepare_cached(
            "SELECT no, turn, active FROM lanes
             WHERE queue = ?1 AND waiting > 0 AND turn < ?2 ORDER BY turn LIMIT ?3",
        )?
        .query_map((queue.no, lanes::BLOCKED, most), |row| {
            let active: i64 = row.get(2)?;
            Ok(LaneRoom {
                lane: row.get(0)?,
                turn: row.get(1)?,
                room: limit - active,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    if queue.count(WAITING) > queue.keyed {
        lane_rooms.push(LaneRoom {
            lane: 0,
            turn: queue.own_turn,
            room: i64::MAX,
        });
    }
    lane_rooms.sort_by_key(|lane| lane.turn);
    lane_rooms.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(lane_rooms)
}

fn take_lane(
    conn: &Connection,
    queue: &mut Queue,
    claim: &ClaimJobs,
    token: u64,
    lane: i64,
    most: i64,
) -> Worked<Vec<ClaimedJob>> {
    if most <= 0 {
        return Ok(Vec::new());
    }
    let mut damaged = Vec::new();
    let mut jobs: Vec<(i64, ClaimedJob)> = {
        let mut statement = conn.prepare_cached(
            "UPDATE work SET state = 2, lease = ?1, attempt = attempt + 1,
                    started_ms = max(?2, created_ms), told = min(told, 1)
             WHERE no IN (SELECT no FROM work WHERE queue = ?3 AND lane = ?4 AND state = 0
                          ORDER BY rank, no LIMIT ?5)
             RETURNING no, id, name, data, key, attempt, created_ms, options, checkpoint, at_ms,
                       told > 0, losses, losses_in_row, rank",
        )?;
        let mut rows = statement.query(params![
            token_code(token),
            claim.now_ms,
            queue.no,
            lane,
            most
        ])?;
        let mut jobs = Vec::new();
        while let Some(row) = rows.next()? {
            match whole(claimed(row, &claim.queue, token))? {
                Ok(job) => jobs.push((row.get(13).unwrap_or_default(), job)),
                Err(error) => damaged.push(Damaged::of(row, error)?),
            }
        }
        jobs
    };
    jobs.sort_by_key(|(rank, job)| (*rank, job.lease.place));
    let mut taken = Vec::with_capacity(jobs.len());
    for (_, mut job) in jobs {
        lanes::shift(conn, queue, lane, Some(WAITING), Some(ACTIVE))?;
        if job.data.is_null() {
            match whole(large(conn, job.lease.place))? {
                Ok(data) => job.data = data,
                Err(error) => {
                    let (no, id) = (job.lease.place, job.lease.id.clone());
                    Damaged { no, id, error }.fail(conn, queue, lane, claim.now_ms)?;
                    continue;
                }
            }
        }
        taken.push(job);
    }
    for job in damaged {
        lanes::shift(conn, queue, lane, Some(WAITING), Some(ACTIVE))?;
        job.fail(conn, queue, lane, claim.now_ms)?;
    }
    Ok(taken)
}

/// An active job of which something that its handler needs cannot be read.
struct Damaged {
    no: i64,
    id: RunId,
    error: Error,
}

impl Damaged {
    /// Of a row that begins with `no, id`.
    fn of(row: &Row<'_>, error: Error) -> Worked<Self> {
        let id: String = row.get(1)?;
        Ok(Self {
            no: row.get(0)?,
            id: RunId::new(&id),
            error,
        })
    }

    /// Ends the job: no attempt can succeed, and it must not hold up those behind it. A flow that
    /// waits for it goes on waiting, and takes nothing back.
    fn fail(&self, conn: &Connection, queue: &mut Queue, lane: i64, now: Millis) -> Worked<()> {
        tracing::error!(job = %self.id, error = %self.error, "the job is damaged; it has failed");
        let error = damage(&self.error.to_string());
        conn.prepare_cached(
            "UPDATE work SET state = 4, lease = NULL, cancel = 0, error = ?3,
                    ended_ms = max(?2, coalesce(started_ms, created_ms))
             WHERE no = ?1",
        )?
        .execute((self.no, now, Sealed::json(&error)))?;
        let taken: i64 = conn
            .prepare_cached("SELECT taken FROM work WHERE no = ?1")?
            .query_row([self.no], |row| Ok(row.get(0).unwrap_or_default()))?;
        unique::free(conn, self.no, taken, false)?;
        lanes::shift(conn, queue, lane, Some(ACTIVE), Some(FAILED))
    }
}

/// Tells damage of the row that was read from failures that void the transaction.
fn whole<T>(read: Worked<T>) -> Worked<std::result::Result<T, Error>> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(
            Failure::Refused(error @ Error::Corrupt(_)) | Failure::Sql(error @ Error::Corrupt(_)),
        ) => Ok(Err(error)),
        Err(failure) => Err(failure),
    }
}

/// The columns `no, id, name, data, key, attempt, created_ms, options, checkpoint, at_ms, told > 0,
/// losses, losses_in_row`.
/// Data that is kept apart is null.
fn claimed(row: &Row<'_>, queue: &Name, token: u64) -> Worked<ClaimedJob> {
    let text = |at: usize| row.get::<_, Option<String>>(at);
    let parsed = |at: usize, name: &str| {
        let read = || {
            let payload: Option<Payload> = row.get(at).map_err(translate)?;
            payload.map(json).transpose()
        };
        read().map_err(|error| match error {
            Error::Corrupt(text) => Failure::Refused(corrupt(format_args!("its {name}: {text}"))),
            error => Failure::Sql(error),
        })
    };
    let id: String = row.get(1)?;
    Ok(ClaimedJob {
        lease: JobLease {
            id: RunId::new(&id),
            queue: queue.clone(),
            attempt: row.get(5)?,
            place: row.get(0)?,
            token,
        },
        name: text(2)?.map(Name::from),
        data: parsed(3, "data")?.unwrap_or_else(Json::null),
        key: text(4)?.map(Name::from),
        attempt: row.get(5)?,
        losses: row.get(11)?,
        losses_in_row: row.get(12)?,
        created_ms: row.get(6)?,
        options: parsed(7, "options")?,
        checkpoint: parsed(8, "checkpoint")?,
        ready_ms: row.get(9)?,
        has_stream: row.get(10)?,
    })
}

/// Data that is too large for the row; null if it is null.
fn large(conn: &Connection, no: i64) -> Worked<Json> {
    let data = conn
        .prepare_cached("SELECT data FROM work_data WHERE no = ?1")?
        .query_row([no], |row| Ok(row.get::<_, Payload>(0)))
        .optional()?;
    let Some(data) = data else {
        return Ok(Json::null());
    };
    match data.map_err(translate).and_then(json) {
        Ok(data) => Ok(data),
        Err(error @ Error::Corrupt(_)) => Err(Failure::Refused(error)),
        Err(error) => Err(Failure::Sql(error)),
    }
}

/// A lease that holds nothing yet.
pub(crate) fn lease(core: &mut Core, owner: &str, until_ms: Millis) -> Worked<u64> {
    let token = core.token();
    write_lease(&core.conn, token, owner, until_ms)?;
    Ok(token)
}

fn write_lease(conn: &Connection, token: u64, owner: &str, until_ms: Millis) -> Worked<()> {
    conn.prepare_cached("INSERT INTO leases (no, owner, until_ms) VALUES (?1, ?2, ?3)")?
        .execute((token_code(token), owner, until_ms))?;
    Ok(())
}

pub(crate) fn keep(core: &Core, tokens: &[u64], until_ms: Millis) -> Worked<JobBeats> {
    let mut beats = JobBeats::default();
    for token in tokens {
        let kept = core
            .conn
            .prepare_cached("UPDATE leases SET until_ms = ?2 WHERE no = ?1")?
            .execute((token_code(*token), until_ms))?;
        if kept == 0 {
            beats.lost.push(*token);
            continue;
        }
        let mut statement = core
            .conn
            .prepare_cached("SELECT id FROM work WHERE state = 2 AND lease = ?1 AND cancel > 0")?;
        let mut rows = statement.query([token_code(*token)])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            beats.cancelling.push(RunId::new(&id));
        }
    }
    Ok(beats)
}

/// Jobs whose lease has run out; leases that hold no job any more are forgotten on the way.
pub(crate) fn stalled(
    core: &Core,
    now: Millis,
    limit: usize,
) -> Worked<(Vec<StalledJob>, Option<Millis>)> {
    promote_all(core, now)?;
    let conn = &core.conn;
    conn.prepare_cached(
        "DELETE FROM leases WHERE until_ms <= ?1
         AND NOT EXISTS (SELECT 1 FROM work WHERE state = 2 AND lease = leases.no)",
    )?
    .execute([now])?;
    let mut stalled = Vec::new();
    let mut damaged = Vec::new();
    {
        let mut statement = conn.prepare_cached(
            "SELECT w.no, w.id, w.name, w.data, w.key, w.attempt, w.created_ms, w.options,
                    w.checkpoint, w.at_ms, w.told > 0, w.losses, w.losses_in_row, w.lease,
                    w.cancel > 0, q.name, q.no, w.lane
             FROM leases l JOIN work w ON w.lease = l.no AND w.state = 2
                  JOIN queues q ON q.no = w.queue
             WHERE l.until_ms <= ?1 ORDER BY l.until_ms, w.no LIMIT ?2",
        )?;
        let mut rows = statement.query((now, limit))?;
        while let Some(row) = rows.next()? {
            let token: i64 = row.get(13)?;
            let queue = Name::from(row.get::<_, String>(15)?);
            match whole(claimed(row, &queue, token.cast_unsigned()))? {
                Ok(job) => stalled.push(StalledJob {
                    job,
                    queue,
                    cancelling: row.get(14)?,
                }),
                Err(error) => {
                    let place: (i64, i64) = (row.get(16)?, row.get(17)?);
                    damaged.push((Damaged::of(row, error)?, place));
                }
            }
        }
    }
    for (job, (queue, lane)) in damaged {
        let queues = &mut *core.queues.borrow_mut();
        job.fail(conn, queues.numbered(queue), lane, now)?;
    }
    let next = conn
        .prepare_cached("SELECT min(until_ms) FROM leases")?
        .query_row([], |row| row.get(0))?;
    Ok((stalled, next))
}

/// The folder has one owner, so whoever held a lease is gone: all have run out. Says which jobs were
/// held; leases that hold none any more are forgotten by and by.
pub(crate) fn reclaim(core: &Core) -> Worked<Vec<RunId>> {
    core.conn
        .prepare_cached("UPDATE leases SET until_ms = 0")?
        .execute([])?;
    let mut held = core
        .conn
        .prepare_cached("SELECT id FROM work WHERE state = 2 ORDER BY no")?;
    let held = held.query_map([], |row| row.get::<_, String>(0))?;
    held.map(|id| Ok(RunId::new(&id?))).collect()
}
