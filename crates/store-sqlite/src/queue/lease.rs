//! Leases of jobs: renewing them, and finding the jobs whose lease has expired.

use riverrun_store::{JobBeats, StalledJob};
use riverrun_types::{Millis, Name, RunId};
use rusqlite::{Connection, OptionalExtension};

use super::claim::{Damaged, claimed, promote, whole};
use crate::{columns::token_code, core::Core, error::Worked};

/// When a lease of jobs expires.
pub(crate) fn lease_end(conn: &Connection, token: u64) -> Worked<Option<Millis>> {
    let until = conn
        .prepare_cached("SELECT until_ms FROM leases WHERE no = ?1")?
        .query_row([token_code(token)], |row| row.get(0))
        .optional()?;
    Ok(until)
}

/// The same for a lease under which jobs are added: the commits of a group are mostly under one.
pub(crate) fn room_lease_end(core: &Core, token: u64) -> Worked<Option<Millis>> {
    if let Some((known, until_ms)) = core.lease.get()
        && known == token
    {
        return Ok(Some(until_ms));
    }
    let until = lease_end(&core.conn, token)?;
    core.lease.set(until.map(|until_ms| (token, until_ms)));
    Ok(until)
}

/// A lease that holds no job yet.
pub(crate) fn lease(core: &mut Core, owner: &str, until_ms: Millis) -> Worked<u64> {
    let token = core.token();
    write(&core.conn, token, owner, until_ms)?;
    Ok(token)
}

pub(super) fn write(conn: &Connection, token: u64, owner: &str, until_ms: Millis) -> Worked<()> {
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

/// Jobs whose lease has expired; leases that hold no job any more are removed in passing.
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

/// The folder has one owner, so all leases have expired. Returns the jobs that were held; leases
/// without jobs are removed later.
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

/// Makes delayed jobs whose time has come waiting, in every queue, also in those without claims.
fn promote_all(core: &Core, now: Millis) -> Worked<()> {
    let queues = &mut *core.queues.borrow_mut();
    for no in queues.all() {
        promote(&core.conn, queues.numbered(no), now)?;
    }
    Ok(())
}
