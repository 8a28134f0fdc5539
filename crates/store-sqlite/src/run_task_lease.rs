//! Leases of run tasks: claiming, renewing, releasing all of them.

use riverrun_store::{Beat, ClaimRunTasks, ClaimedRunTask, RunLease};
use riverrun_types::{Millis, RunId, time::NEVER};
use rusqlite::OptionalExtension;

use crate::{columns::token_code, core::Core, error::Worked};

/// The most run tasks that one claim takes, however many were requested.
const MAX_CLAIM: usize = 100_000;

/// A run task that may be claimed.
struct Due {
    run: i64,
    due_ms: Millis,
    id: String,
    flow: i64,
    version: i64,
}

pub(crate) fn claim(core: &mut Core, claim: &ClaimRunTasks) -> Worked<Vec<ClaimedRunTask>> {
    let mut due = free(core, claim)?;
    due.extend(expired(core, claim)?);
    due.sort_by_key(|due| (due.due_ms, due.run));
    due.truncate(claim.limit);
    due.into_iter()
        .map(|due| take(core, claim, due))
        .collect::<Worked<_>>()
}

fn free(core: &Core, claim: &ClaimRunTasks) -> Worked<Vec<Due>> {
    find(
        core,
        claim,
        "SELECT j.run, j.at_ms, r.id, r.flow, r.version FROM jobs j JOIN runs r ON r.no = j.run
         WHERE j.token IS NULL AND j.at_ms <= ?1 ORDER BY j.at_ms, j.run LIMIT ?2",
    )
}

fn expired(core: &Core, claim: &ClaimRunTasks) -> Worked<Vec<Due>> {
    find(
        core,
        claim,
        "SELECT j.run, j.until_ms, r.id, r.flow, r.version FROM jobs j JOIN runs r ON r.no = j.run
         WHERE j.token IS NOT NULL AND j.until_ms <= ?1 ORDER BY j.until_ms, j.run LIMIT ?2",
    )
}

fn find(core: &Core, claim: &ClaimRunTasks, sql: &str) -> Worked<Vec<Due>> {
    let mut statement = core.conn.prepare_cached(sql)?;
    let rows = statement.query_map((claim.now_ms, claim.limit.min(MAX_CLAIM)), |row| {
        // A damaged row must not block the others: the driver of its run finds out.
        Ok(Due {
            run: row.get(0)?,
            due_ms: row.get(1).unwrap_or_default(),
            id: row.get(2).unwrap_or_default(),
            flow: row.get(3).unwrap_or_default(),
            version: row.get(4).unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn take(core: &mut Core, claim: &ClaimRunTasks, due: Due) -> Worked<ClaimedRunTask> {
    let token = core.token();
    core.conn
        .prepare_cached(
            "UPDATE jobs SET token = ?2, owner = ?3, until_ms = ?4, woken = 0 WHERE run = ?1",
        )?
        .execute((due.run, token_code(token), &*claim.owner, claim.until_ms))?;
    Ok(ClaimedRunTask {
        lease: RunLease {
            run: RunId::new(&due.id),
            token,
        },
        flow: core.names.text(due.flow).unwrap_or_default(),
        version: core.names.text(due.version).unwrap_or_default(),
        due_ms: due.due_ms,
    })
}

pub(crate) fn heartbeat(core: &Core, leases: &[RunLease], until_ms: Millis) -> Worked<Vec<Beat>> {
    leases
        .iter()
        .map(|lease| beat(core, lease, until_ms))
        .collect()
}

fn beat(core: &Core, lease: &RunLease, until_ms: Millis) -> Worked<Beat> {
    let held: Option<(i64, i64)> = core
        .conn
        .prepare_cached(
            "SELECT run, woken FROM jobs
             WHERE run = (SELECT no FROM runs WHERE id = ?1) AND token = ?2",
        )?
        .query_row((lease.run.as_str(), token_code(lease.token)), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((run, woken)) = held else {
        return Ok(Beat::Lost);
    };
    // A wake is reported once, and stays on the row so that parking still makes the task due.
    core.conn
        .prepare_cached("UPDATE jobs SET until_ms = ?2, woken = iif(woken, 2, 0) WHERE run = ?1")?
        .execute((run, until_ms))?;
    Ok(if woken == 1 { Beat::Woken } else { Beat::Held })
}

/// The folder has one owner, so every earlier holder of a lease is gone.
pub(crate) fn reclaim(core: &Core) -> Worked<Vec<RunId>> {
    let held: Vec<RunId> = {
        let mut held = core.conn.prepare_cached(
            "SELECT r.id FROM jobs j JOIN runs r ON r.no = j.run WHERE j.token IS NOT NULL
             ORDER BY r.no",
        )?;
        let held = held.query_map([], |row| row.get::<_, String>(0))?;
        held.map(|id| Ok(RunId::new(&id?)))
            .collect::<rusqlite::Result<_>>()?
    };
    core.conn
        .prepare_cached(
            "UPDATE jobs SET at_ms = 0, token = NULL, owner = NULL, until_ms = NULL, woken = 0
             WHERE token IS NOT NULL",
        )?
        .execute([])?;
    Ok(held)
}

/// Keeps the run from being claimed until it is woken.
pub(crate) fn set_aside(core: &Core, run: &RunId) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE jobs SET at_ms = ?2, token = NULL, owner = NULL, until_ms = NULL, woken = 0
             WHERE run = (SELECT no FROM runs WHERE id = ?1)",
        )?
        .execute((run.as_str(), NEVER))?;
    Ok(())
}
