//! Retention of the log of emitted events.

use riverrun_store::Retention;
use riverrun_types::Millis;
use rusqlite::OptionalExtension;

use crate::{core::Core, error::Worked};

/// The statuses of runs that have not ended.
const UNFINISHED: [i64; 4] = [0, 1, 2, 3];

/// The most events that one sweep removes, however many were requested.
const MAX_TRIM: usize = 10_000;

/// Removes up to `limit` events whose retention is over, the earliest first. Events in the outbox
/// stay, because they are not judged yet. So do events since the oldest unfinished run began.
pub(crate) fn trim(core: &Core, retention: &Retention, now: Millis, limit: usize) -> Worked<u64> {
    let (Some(keep_ms), 1..) = (retention.emits_ms, limit) else {
        return Ok(0);
    };
    let over_ms = now.saturating_sub(keep_ms);
    let kept_ms = oldest_run_ms(core)?.map_or(over_ms, |began_ms| over_ms.min(began_ms - 1));
    let over: Vec<i64> = core
        .conn
        .prepare_cached(
            "SELECT seq FROM emits WHERE ms <= ?1
                 AND NOT EXISTS (SELECT 1 FROM signals WHERE emit = seq)
             ORDER BY ms LIMIT ?2",
        )?
        .query_map((kept_ms, limit.min(MAX_TRIM)), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for seq in &over {
        for sql in [
            "DELETE FROM emits WHERE seq = ?1",
            "DELETE FROM emit_keys WHERE seq = ?1",
        ] {
            core.conn.prepare_cached(sql)?.execute([seq])?;
        }
    }
    shapes(core, over_ms, limit)?;
    core.conn
        .prepare_cached(
            "DELETE FROM unheard WHERE kind IN (
                 SELECT kind FROM unheard WHERE last_ms <= ?1 ORDER BY last_ms LIMIT ?2)",
        )?
        .execute((over_ms, limit.min(MAX_TRIM)))?;
    core.conn
        .prepare_cached(
            "DELETE FROM once WHERE key IN (
                 SELECT key FROM once WHERE ms <= ?1 ORDER BY ms LIMIT ?2)",
        )?
        .execute((over_ms, limit.min(MAX_TRIM)))?;
    Ok(over.len() as u64)
}

/// When the oldest unfinished run began: its code may still ask for events since then. Runs are
/// numbered in the order in which they were added, so it is the first of one status.
fn oldest_run_ms(core: &Core) -> Worked<Option<Millis>> {
    let mut oldest = None;
    let mut first = core.conn.prepare_cached(
        "SELECT created_ms FROM runs INDEXED BY runs_status WHERE status = ?1 AND status <> 4
         ORDER BY no LIMIT 1",
    )?;
    for status in UNFINISHED {
        let began_ms: Option<Millis> = first.query_row([status], |row| row.get(0)).optional()?;
        oldest = [oldest, began_ms].into_iter().flatten().min();
    }
    Ok(oldest)
}

/// Drops the keys of shapes that no await has looked back on since, and the shapes without
/// references.
fn shapes(core: &Core, over_ms: Millis, limit: usize) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE shapes SET logged_ms = NULL WHERE no IN (
                 SELECT no FROM shapes WHERE logged_ms IS NOT NULL AND used_ms <= ?1 LIMIT ?2)",
        )?
        .execute((over_ms, limit))?;
    core.conn
        .prepare_cached(
            "DELETE FROM shapes WHERE no IN (
                 SELECT no FROM shapes WHERE held = 0 AND no <> 0 AND logged_ms IS NULL
                     AND NOT EXISTS (SELECT 1 FROM emit_keys WHERE shape = shapes.no)
                 LIMIT ?1)",
        )?
        .execute([limit])?;
    Ok(())
}
