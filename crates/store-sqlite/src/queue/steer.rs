//! Actions of people on jobs and queues, and retention.

use riverrun_store::{
    Error, JobState, Purge, Retention, Steer, Steered,
    judge::{JobEffect, JobRow},
};
use riverrun_types::{Millis, Name, RunId, RunStatus, time::NEVER};
use rusqlite::{OptionalExtension, params};

use super::{
    claim,
    effect::{self, Target},
    rows, state, state_code, unique,
};
use crate::{
    core::Core,
    error::{Failure, Worked},
};

/// The most jobs that one purge removes, however many were requested.
const MAX_PURGE: usize = 10_000;

/// A job as it is read for an action.
struct Found {
    job: JobRow,
    id: String,
    key: Option<String>,
    attempt: u32,
}

impl Found {
    fn apply(&self, core: &Core, effect: JobEffect<'_>) -> Worked<()> {
        let target = Target {
            id: &self.id,
            job: self.job,
            key: self.key.as_deref(),
        };
        effect::apply(core, &target, effect)
    }
}

/// The columns that [`found`] reads.
const COLUMNS: &str =
    "no, queue, lane, state, taken, cancel, data IS NULL, told > 0, id, key, attempt";

/// Damage must not keep the job from being removed.
fn found(row: &rusqlite::Row<'_>) -> rusqlite::Result<Found> {
    let code: i64 = row.get(3)?;
    Ok(Found {
        job: JobRow {
            place: row.get(0)?,
            queue: row.get(1)?,
            lane: row.get(2)?,
            state: state(code).unwrap_or(JobState::Parked),
            name: unique::hold(row.get(4).unwrap_or(1)),
            cancel: rows::cancel(row.get(5).unwrap_or_default()),
            is_large: row.get(6)?,
            // Its stream may hold more than was derived from the row.
            has_stream: true,
        },
        id: row.get(8)?,
        key: row.get(9).unwrap_or_default(),
        attempt: row.get(10).unwrap_or_default(),
    })
}

fn find(core: &Core, id: &RunId) -> Worked<Option<Found>> {
    let sql = format!("SELECT {COLUMNS} FROM work WHERE id = ?1");
    let mut statement = core.conn.prepare_cached(&sql)?;
    Ok(statement.query_row([id.as_str()], found).optional()?)
}

pub(crate) fn steer(core: &Core, id: &RunId, steer: &Steer, now: Millis) -> Worked<Steered> {
    let found = find(core, id)?;
    let found = found.ok_or_else(|| Failure::Refused(Error::JobNotFound(id.clone())))?;
    let queue: String = core
        .conn
        .prepare_cached("SELECT name FROM queues WHERE no = ?1")?
        .query_row([found.job.queue], |row| row.get(0))?;
    let steered = Steered {
        queue: Name::from(queue),
        state: found.job.state,
        attempt: found.attempt,
    };
    found.apply(core, steer.effect(&found.job, now))?;
    Ok(steered)
}

/// Removes an obsolete job, if it exists; the holder of a running one is notified.
pub(crate) fn abandon(core: &Core, id: &RunId) -> Worked<()> {
    match find(core, id)? {
        Some(found) => found.apply(core, found.job.abandoned()),
        None => Ok(()),
    }
}

/// Removes a job, even one that is leased.
pub(crate) fn drop_job(core: &Core, id: &RunId) -> Worked<()> {
    match find(core, id)? {
        Some(found) => found.apply(core, JobEffect::Removed),
        None => Ok(()),
    }
}

/// Removes a job with all its data.
fn remove(core: &Core, no: i64) -> Worked<()> {
    let sql = format!("SELECT {COLUMNS} FROM work WHERE no = ?1");
    let job = core.conn.prepare_cached(&sql)?.query_row([no], found);
    match job.optional()? {
        Some(found) => found.apply(core, JobEffect::Removed),
        None => Ok(()),
    }
}

pub(crate) fn pause(core: &Core, queue: &Name, paused: bool, now: Millis) -> Worked<()> {
    let queues = &mut *core.queues.borrow_mut();
    let queue = queues.named(&core.conn, queue, now)?;
    queue.row.paused = paused;
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
    let code = state_code(purge.state);
    let jobs = match purge.state {
        JobState::Active => return Ok(0),
        JobState::Waiting | JobState::Delayed | JobState::Parked => {
            // The options without their checksum.
            const OPTIONS: &str = "CAST(iif(typeof(options) = 'blob',
                 substr(options, 1, length(options) - 4), options) AS TEXT)";
            let sql = format!(
                "SELECT no FROM work WHERE queue = ?1 AND state = {code} AND created_ms <= ?2
                 AND CASE WHEN ?4 IS NULL OR options IS NULL THEN 1
                     WHEN json_valid({OPTIONS}) THEN json_type({OPTIONS}, ?4) IS NULL
                     ELSE 0 END
                 LIMIT ?3"
            );
            let spare = purge.spare.map(|member| format!("$.{member}"));
            numbers(core, &sql, params![queue, purge.before_ms, limit, spare])?
        }
        JobState::Completed | JobState::Failed | JobState::Cancelled => {
            ended(core, queue, code, purge.before_ms, limit)?
        }
    };
    for job in &jobs {
        remove(core, *job)?;
    }
    Ok(jobs.len() as u64)
}

/// Removes up to `limit` ended jobs whose retention is over.
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
                RunStatus::Completed => JobState::Completed,
                RunStatus::Failed => JobState::Failed,
                _ => JobState::Cancelled,
            };
            let over = now.saturating_sub(keep_ms);
            let jobs = ended(core, queue, state_code(state), over, limit - swept)?;
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

/// Keeps the name of a removed job taken for the rest of its time.
fn leave_name(core: &Core, no: i64, now: Millis) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE uniques SET job = 0, id = (SELECT id FROM work WHERE no = ?1)
             WHERE job = ?1 AND until_ms > ?2 AND until_ms < ?3",
        )?
        .execute((no, now, NEVER))?;
    Ok(())
}

/// Drops names whose jobs were removed and whose time is over.
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
