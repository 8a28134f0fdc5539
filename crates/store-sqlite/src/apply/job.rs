//! The job that drives a run: one row while the run needs work.

use riverrun_store::{Error, JobChange, Lease, NewJob};
use rusqlite::OptionalExtension;

use super::refuse;
use crate::{columns::token_code, core::Core, error::Worked};

/// Refuses what was decided under a lease that is gone.
pub(super) fn judge_lease(core: &Core, lease: Option<&Lease>) -> Worked<()> {
    let Some(lease) = lease else {
        return Ok(());
    };
    let held: Option<i64> = core
        .conn
        .prepare_cached(
            "SELECT 1 FROM jobs WHERE run = (SELECT no FROM runs WHERE id = ?1) AND token = ?2",
        )?
        .query_row((lease.run.as_str(), token_code(lease.token)), |row| {
            row.get(0)
        })
        .optional()?;
    match held {
        Some(_) => Ok(()),
        None => refuse(Error::Fenced(lease.run.clone())),
    }
}

pub(super) fn add(core: &Core, run: i64, job: &NewJob) -> Worked<()> {
    match job {
        NewJob::Ready { at_ms } => {
            core.conn
                .prepare_cached("INSERT INTO jobs (run, at_ms) VALUES (?1, ?2)")?
                .execute((run, at_ms))?;
        }
        NewJob::Leased {
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

/// `token` is that of the lease under which the change was decided, if it was the run's own. Says
/// whether the job, which was to wait, is due because it was woken while it was leased.
pub(super) fn change(core: &Core, run: i64, change: JobChange, token: Option<u64>) -> Worked<bool> {
    match change {
        JobChange::Keep => Ok(false),
        JobChange::Park { at_ms } => park(core, run, at_ms, token),
        JobChange::Finish => finish(core, run).map(|()| false),
    }
}

fn park(core: &Core, run: i64, at_ms: i64, token: Option<u64>) -> Worked<bool> {
    let woken: Option<bool> = match token {
        Some(token) => core
            .conn
            .prepare_cached("SELECT woken <> 0 FROM jobs WHERE run = ?1 AND token = ?2")?
            .query_row((run, token_code(token)), |row| row.get(0))
            .optional()?,
        None => None,
    };
    if let Some(woken) = woken {
        let due_ms = if woken { 0 } else { at_ms };
        core.conn
            .prepare_cached(
                "UPDATE jobs SET at_ms = ?2, token = NULL, owner = NULL, until_ms = NULL, woken = 0
                 WHERE run = ?1",
            )?
            .execute((run, due_ms))?;
        return Ok(due_ms < at_ms);
    }
    // Not the holder: a leased job is woken, a free one moved, a missing one made. A free one that
    // was woken, or handed back, is still to be looked at.
    core.conn
        .prepare_cached(
            "INSERT INTO jobs (run, at_ms) VALUES (?1, ?2)
             ON CONFLICT (run) DO UPDATE SET
                 woken = (token IS NOT NULL),
                 at_ms = iif(token IS NULL AND at_ms > 0, excluded.at_ms, at_ms)",
        )?
        .execute((run, at_ms))?;
    Ok(false)
}

pub(crate) fn wake(core: &Core, run: i64) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE jobs SET woken = (token IS NOT NULL), at_ms = iif(token IS NULL, 0, at_ms)
             WHERE run = ?1",
        )?
        .execute([run])?;
    Ok(())
}

fn finish(core: &Core, run: i64) -> Worked<()> {
    core.conn
        .prepare_cached("DELETE FROM jobs WHERE run = ?1")?
        .execute([run])?;
    Ok(())
}
