//! Retention and the health check: writes that are not commits.

use riverrun_store::Retention;
use riverrun_types::{Millis, RunStatus};

use crate::{apply, columns::status_code, core::Core, error::Worked};

/// The most runs that one sweep deletes, however many were requested.
const MAX_SWEEP: usize = 100_000;

/// Deletes up to `limit` runs whose retention is over, the longest ended first.
pub(crate) fn sweep(core: &Core, retention: &Retention, now: Millis, limit: usize) -> Worked<u64> {
    let limit = limit.min(MAX_SWEEP);
    let mut swept = 0;
    for status in RunStatus::ALL {
        let Some(keep_ms) = retention.of(*status) else {
            continue;
        };
        let over: Vec<i64> = core
            .conn
            .prepare_cached(
                "SELECT no FROM runs
                 WHERE ended_ms IS NOT NULL AND status = ?1 AND ended_ms <= ?2
                 ORDER BY ended_ms LIMIT ?3",
            )?
            .query_map(
                (
                    status_code(*status),
                    now.saturating_sub(keep_ms),
                    limit - swept,
                ),
                |row| row.get(0),
            )?
            .collect::<rusqlite::Result<_>>()?;
        for run in &over {
            apply::remove(core, *run)?;
        }
        swept += over.len();
    }
    Ok(swept as u64)
}

/// Writes a row, so that the surrounding transaction has data to make durable.
pub(crate) fn check(core: &Core) -> Worked<()> {
    core.conn
        .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'checks'")?
        .execute([])?;
    Ok(())
}
