//! What people do to jobs and queues, and what retention does.

use riverrun_store::{Error, JobState, Purge, Retention, Steer, Steered};
use riverrun_types::{Json, Millis, Name, RunId, RunStatus, time::NEVER};
use rusqlite::{OptionalExtension, params};

use super::{ACTIVE, DELAYED, PARKED, WAITING, claim, lanes, state, state_code, unique};
use crate::{
    columns::Sealed,
    core::Core,
    error::{Failure, Worked},
    log,
};

/// The most jobs that one purge removes, however many were asked for.
const MAX_PURGE: usize = 10_000;

/// What steering needs of a job's row.
struct Row {
    no: i64,
    queue: i64,
    lane: i64,
    state: i64,
    key: Option<String>,
    taken: i64,
    attempt: u32,
}

fn find(core: &Core, id: &RunId) -> Worked<Row> {
    let row = core
        .conn
        .prepare_cached(
            "SELECT no, queue, lane, state, key, taken, attempt FROM work WHERE id = ?1",
        )?
        .query_row([id.as_str()], |row| {
            Ok(Row {
                no: row.get(0)?,
                queue: row.get(1)?,
                lane: row.get(2)?,
                state: row.get(3)?,
                // What is damaged must not keep the job from being removed.
                key: row.get(4).unwrap_or_default(),
                taken: row.get(5).unwrap_or_default(),
                attempt: row.get(6).unwrap_or_default(),
            })
        })
        .optional()?;
    row.ok_or_else(|| Failure::Refused(Error::JobNotFound(id.clone())))
}

pub(crate) fn steer(core: &Core, id: &RunId, steer: &Steer, now: Millis) -> Worked<Steered> {
    let row = find(core, id)?;
    let queue: String = core
        .conn
        .prepare_cached("SELECT name FROM queues WHERE no = ?1")?
        .query_row([row.queue], |row| row.get(0))?;
    let steered = Steered {
        queue: Name::from(queue),
        state: state(row.state).unwrap_or(JobState::Parked),
        attempt: row.attempt,
    };
    follow(core, &row, steer, now)?;
    Ok(steered)
}

fn follow(core: &Core, row: &Row, steer: &Steer, now: Millis) -> Worked<()> {
    match steer {
        Steer::Promote => wait(core, row, now, now, false),
        Steer::Retry { at_ms } if row.state == PARKED => wait(core, row, *at_ms, now, false),
        Steer::Park { error } => park(core, row, error, now),
        Steer::Retry { at_ms } => wait(core, row, *at_ms, now, true),
        Steer::Delay { at_ms } => wait(core, row, *at_ms, now, false),
        Steer::Remove => remove(core, row.no),
        Steer::Cancel { reason } => cancel(core, row, reason.as_deref(), now),
        Steer::Priority(priority) => {
            core.conn
                .prepare_cached("UPDATE work SET rank = ?2 WHERE no = ?1")?
                .execute((row.no, -i64::from(*priority)))?;
            Ok(())
        }
    }
}

/// Removes a job that nobody wants any more, if there is one; the holder of one that runs is
/// notified.
pub(crate) fn abandon(core: &Core, id: &RunId, now: Millis) -> Worked<()> {
    match find(core, id) {
        Err(Failure::Refused(_)) => Ok(()),
        Err(error) => Err(error),
        Ok(row) if row.state == ACTIVE => cancel(core, &row, None, now),
        Ok(row) => remove(core, row.no),
    }
}

/// Removes a job, even one that is leased.
pub(crate) fn drop_job(core: &Core, id: &RunId) -> Worked<()> {
    match find(core, id) {
        Err(Failure::Refused(_)) => Ok(()),
        Err(error) => Err(error),
        Ok(row) => remove(core, row.no),
    }
}

fn park(core: &Core, row: &Row, error: &Json, now: Millis) -> Worked<()> {
    let conn = &core.conn;
    // The attempt of one that runs is lost.
    conn.prepare_cached(
        "UPDATE work SET losses = losses + (state = 2), state = -1, lease = NULL, at_ms = ?2,
                error = ?3
         WHERE no = ?1",
    )?
    .execute((row.no, now, Sealed::json(error)))?;
    let queues = &mut *core.queues.borrow_mut();
    let queue = queues.numbered(row.queue);
    lanes::shift(conn, queue, row.lane, Some(row.state), Some(PARKED))
}

/// Lets a job wait: until a time, or from now on. `anew` forgets what became of it before.
fn wait(core: &Core, row: &Row, at_ms: Millis, now: Millis, anew: bool) -> Worked<()> {
    let (conn, queues) = (&core.conn, &mut *core.queues.borrow_mut());
    let queue = queues.numbered(row.queue);
    let lane = match anew {
        true => lanes::of(conn, queue, row.key.as_deref())?,
        false => row.lane,
    };
    let state = if at_ms > now { DELAYED } else { WAITING };
    conn.prepare_cached("UPDATE work SET state = ?2, lane = ?3, at_ms = ?4 WHERE no = ?1")?
        .execute((row.no, state, lane, at_ms.max(now)))?;
    if row.state == PARKED {
        conn.prepare_cached("UPDATE work SET losses_in_row = 0, error = NULL WHERE no = ?1")?
            .execute([row.no])?;
    }
    if anew {
        conn.prepare_cached(
            "UPDATE work SET attempt = 0, losses = 0, losses_in_row = 0, started_ms = NULL, ended_ms = NULL, result = NULL,
                    progress = NULL, told = min(told, 1),
                    checkpoint = iif(?2 = 3, NULL, checkpoint)
             WHERE no = ?1",
        )?
        .execute((row.no, row.state))?;
        unique::take_back(conn, row.no, row.taken)?;
    }
    lanes::shift(conn, queue, lane, Some(row.state), Some(state))
}

fn cancel(core: &Core, row: &Row, reason: Option<&str>, now: Millis) -> Worked<()> {
    let conn = &core.conn;
    let error = Steer::cancelled(reason);
    if row.state == ACTIVE {
        // 2: the reason waits in `error` for the end.
        conn.prepare_cached(
            "UPDATE work SET cancel = iif(?2 IS NULL, max(cancel, 1), 2), error = coalesce(?2, error)
             WHERE no = ?1",
        )?
        .execute((row.no, reason.map(|_| Sealed::json(&error))))?;
        return Ok(());
    }
    conn.prepare_cached(
        "UPDATE work SET state = 5, ended_ms = max(?2, coalesce(started_ms, created_ms)),
                error = CASE WHEN cancel = 2 THEN error ELSE ?3 END, cancel = 0
         WHERE no = ?1",
    )?
    .execute((row.no, now, Sealed::json(&error)))?;
    unique::free(conn, row.no, row.taken, false)?;
    let queues = &mut *core.queues.borrow_mut();
    lanes::shift(
        conn,
        queues.numbered(row.queue),
        row.lane,
        Some(row.state),
        Some(5),
    )
}

/// Ends a job that was to be cancelled while it ran, and waits again.
pub(super) fn stop(core: &Core, id: &RunId, now: Millis) -> Worked<()> {
    cancel(core, &find(core, id)?, None, now)
}

/// Removes a job with all that is its own.
fn remove(core: &Core, no: i64) -> Worked<()> {
    let row: Option<(String, Owns)> = core
        .conn
        .prepare_cached(
            "SELECT id, queue, lane, state, taken, data IS NULL FROM work WHERE no = ?1",
        )?
        .query_row([no], |row| {
            let owns = Owns {
                no,
                queue: row.get(1)?,
                lane: row.get(2)?,
                state: row.get(3)?,
                taken: row.get(4).unwrap_or(1),
                is_large: row.get(5)?,
                has_stream: true,
            };
            Ok((row.get(0)?, owns))
        })
        .optional()?;
    row.map_or(Ok(()), |(id, owns)| owns.remove(core, &id))
}

/// What a job owns beside its row.
pub(super) struct Owns {
    pub(super) no: i64,
    pub(super) queue: i64,
    pub(super) lane: i64,
    pub(super) state: i64,
    pub(super) taken: i64,
    /// Its data stands apart.
    pub(super) is_large: bool,
    /// It may have a stream of its own.
    pub(super) has_stream: bool,
}

impl Owns {
    /// Removes the job of this id with all of it.
    pub(super) fn remove(self, core: &Core, id: &str) -> Worked<()> {
        let conn = &core.conn;
        conn.prepare_cached("DELETE FROM work WHERE no = ?1")?
            .execute([self.no])?;
        if self.is_large {
            conn.prepare_cached("DELETE FROM work_data WHERE no = ?1")?
                .execute([self.no])?;
        }
        if self.taken != 0 {
            unique::forget(conn, self.no)?;
        }
        if self.has_stream {
            forget_stream(core, id)?;
        }
        let queues = &mut *core.queues.borrow_mut();
        let lane = if self.state > ACTIVE { 0 } else { self.lane };
        let queue = queues.numbered(self.queue);
        lanes::shift(conn, queue, lane, Some(self.state), None)
    }
}

/// The events of the job's own stream, if it has one.
fn forget_stream(core: &Core, id: &str) -> Worked<()> {
    let Some(kind) = core.names.find("job") else {
        return Ok(());
    };
    let stream: Option<i64> = core
        .conn
        .prepare_cached("SELECT no FROM streams WHERE kind = ?1 AND id = ?2")?
        .query_row((kind, id), |row| row.get(0))
        .optional()?;
    if let Some(stream) = stream {
        core.conn
            .prepare_cached("DELETE FROM streams WHERE no = ?1")?
            .execute([stream])?;
        log::remove(core, "stream = ?1", [-stream])?;
    }
    Ok(())
}

pub(crate) fn pause(core: &Core, queue: &Name, paused: bool, now: Millis) -> Worked<()> {
    let queues = &mut *core.queues.borrow_mut();
    let queue = queues.named(&core.conn, queue, now)?;
    queue.paused = paused;
    queue.is_changed = true;
    Ok(())
}

/// Removes jobs of one state, the oldest first.
pub(crate) fn purge(core: &Core, purge: &Purge) -> Worked<u64> {
    let queue = match core.queues.borrow_mut().find(&purge.queue) {
        Some(queue) => {
            claim::promote(&core.conn, queue, purge.before_ms)?;
            queue.no
        }
        None => {
            let name = purge.queue.to_string();
            return Err(Failure::Refused(Error::QueueNotFound(name)));
        }
    };
    let limit = purge.limit.min(MAX_PURGE);
    let jobs = match state_code(purge.state) {
        ACTIVE => return Ok(0),
        state @ (WAITING | DELAYED | PARKED) => {
            // The options without their checksum.
            const OPTIONS: &str = "CAST(iif(typeof(options) = 'blob',
                 substr(options, 1, length(options) - 4), options) AS TEXT)";
            let sql = format!(
                "SELECT no FROM work WHERE queue = ?1 AND state = {state} AND created_ms <= ?2
                 AND CASE WHEN ?4 IS NULL OR options IS NULL THEN 1
                     WHEN json_valid({OPTIONS}) THEN json_type({OPTIONS}, ?4) IS NULL
                     ELSE 0 END
                 LIMIT ?3"
            );
            let spare = purge.spare.map(|member| format!("$.{member}"));
            numbers(core, &sql, params![queue, purge.before_ms, limit, spare])?
        }
        state => ended(core, queue, state, purge.before_ms, limit)?,
    };
    for job in &jobs {
        remove(core, *job)?;
    }
    Ok(jobs.len() as u64)
}

/// Removes up to `limit` ended jobs whose time is over.
pub(crate) fn sweep(core: &Core, retention: &Retention, now: Millis, limit: usize) -> Worked<u64> {
    let queues = core.queues.borrow().all();
    let mut swept = 0;
    for queue in queues {
        for status in [
            RunStatus::Completed,
            RunStatus::Failed,
            RunStatus::Cancelled,
        ] {
            let Some(keep_ms) = retention.of(status) else {
                continue;
            };
            let state = match status {
                RunStatus::Completed => 3,
                RunStatus::Failed => 4,
                _ => 5,
            };
            let over = now.saturating_sub(keep_ms);
            let jobs = ended(core, queue, state, over, limit - swept)?;
            for job in &jobs {
                leave_name(core, *job, now)?;
                remove(core, *job)?;
            }
            swept += jobs.len();
        }
    }
    free_names(core, now, limit)?;
    Ok(swept as u64)
}

/// Lets the name of a job stay taken for the rest of its time, though the job goes.
fn leave_name(core: &Core, no: i64, now: Millis) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE uniques SET job = 0, id = (SELECT id FROM work WHERE no = ?1)
             WHERE job = ?1 AND until_ms > ?2 AND until_ms < ?3",
        )?
        .execute((no, now, NEVER))?;
    Ok(())
}

/// Forgets names whose jobs are gone and whose time is over.
fn free_names(core: &Core, now: Millis, limit: usize) -> Worked<()> {
    core.conn
        .prepare_cached(
            "DELETE FROM uniques WHERE (queue, key) IN (
                 SELECT queue, key FROM uniques WHERE id IS NOT NULL AND until_ms <= ?1 LIMIT ?2)",
        )?
        .execute((now, limit))?;
    Ok(())
}

fn ended(core: &Core, queue: i64, state: i64, over: Millis, limit: usize) -> Worked<Vec<i64>> {
    numbers(
        core,
        "SELECT no FROM work WHERE queue = ?1 AND state > 2 AND state = ?2 AND ended_ms <= ?3
         ORDER BY ended_ms LIMIT ?4",
        params![queue, state, over, limit],
    )
}

fn numbers(core: &Core, sql: &str, params: impl rusqlite::Params) -> Worked<Vec<i64>> {
    let mut statement = core.conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
