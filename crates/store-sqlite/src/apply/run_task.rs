//! The run task: one row while the run has to be driven. The table is named `jobs`; queue jobs are
//! in the table `work`.

use riverrun_store::NewRunTask;
use riverrun_types::Millis;
use rusqlite::OptionalExtension;

use crate::{columns::token_code, core::Core, error::Worked};

pub(super) fn add(core: &Core, run: i64, task: &NewRunTask) -> Worked<()> {
    match task {
        NewRunTask::Ready { at_ms } => {
            core.conn
                .prepare_cached("INSERT INTO jobs (run, at_ms) VALUES (?1, ?2)")?
                .execute((run, at_ms))?;
        }
        NewRunTask::Leased {
            token,
            owner,
            until_ms,
        } => {
            core.conn
                .prepare_cached(
                    "INSERT INTO jobs (run, at_ms, token, owner, until_ms)
                     VALUES (?1, 0, ?2, ?3, ?4)",
                )?
                .execute((run, token_code(*token), &**owner, until_ms))?;
        }
    }
    Ok(())
}

/// The holder of the lease releases the task ([`riverrun_store::judge::RunTask::give_back`]).
/// Returns whether it is due because it was woken meanwhile.
pub(super) fn give_back(core: &Core, run: i64, token: u64, at_ms: Millis) -> Worked<bool> {
    let woken: Option<bool> = core
        .conn
        .prepare_cached("SELECT woken <> 0 FROM jobs WHERE run = ?1 AND token = ?2")?
        .query_row((run, token_code(token)), |row| row.get(0))
        .optional()?;
    let Some(woken) = woken else {
        // An earlier change of the commit has released it.
        return park(core, run, at_ms).map(|()| false);
    };
    let due_ms = if woken { 0 } else { at_ms };
    core.conn
        .prepare_cached(
            "UPDATE jobs SET at_ms = ?2, token = NULL, owner = NULL, until_ms = NULL, woken = 0
             WHERE run = ?1",
        )?
        .execute((run, due_ms))?;
    Ok(due_ms < at_ms)
}

/// Another task sets the time ([`riverrun_store::judge::RunTask::park`]): a leased task is woken, a
/// free one moved, a missing one created. A free one that was woken, or released, stays due.
pub(super) fn park(core: &Core, run: i64, at_ms: Millis) -> Worked<()> {
    core.conn
        .prepare_cached(
            "INSERT INTO jobs (run, at_ms) VALUES (?1, ?2)
             ON CONFLICT (run) DO UPDATE SET
                 woken = (token IS NOT NULL),
                 at_ms = iif(token IS NULL AND at_ms > 0, excluded.at_ms, at_ms)",
        )?
        .execute((run, at_ms))?;
    Ok(())
}

/// See [`riverrun_store::judge::RunTask::wake`].
pub(crate) fn wake(core: &Core, run: i64) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE jobs SET woken = (token IS NOT NULL), at_ms = iif(token IS NULL, 0, at_ms)
             WHERE run = ?1",
        )?
        .execute([run])?;
    Ok(())
}

pub(super) fn finish(core: &Core, run: i64) -> Worked<()> {
    core.conn
        .prepare_cached("DELETE FROM jobs WHERE run = ?1")?
        .execute([run])?;
    Ok(())
}
