//! Definitions, retention and the health check: writes that are no commits.

use riverrun_store::{Error, FlowRecord, Registered, Retention};
use riverrun_types::{Millis, RunStatus};
use rusqlite::{OptionalExtension, params};

use crate::{
    apply,
    columns::{json, status_code},
    core::Core,
    error::{Failure, Worked},
};

/// The most runs that one sweep deletes, however many were asked for.
const MAX_SWEEP: usize = 100_000;

pub(crate) fn register(core: &Core, flow: &FlowRecord) -> Worked<Registered> {
    let known: Option<String> = core
        .conn
        .prepare_cached("SELECT definition FROM flows WHERE id = ?1 AND version = ?2")?
        .query_row((&*flow.id, &*flow.version), |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        if json(known).map_err(Failure::Sql)? == flow.definition {
            return Ok(Registered::Same);
        }
        return Err(Failure::Refused(Error::FlowExists {
            id: flow.id.to_string(),
            version: flow.version.to_string(),
        }));
    }
    core.conn
        .prepare_cached(
            "INSERT INTO flows (id, version, definition, created_ms) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            &*flow.id,
            &*flow.version,
            flow.definition.as_str(),
            flow.created_ms
        ])?;
    Ok(Registered::New)
}

/// Deletes up to `limit` runs whose time is over, the longest ended first.
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

/// Writes something, so that the transaction around it has something to make durable.
pub(crate) fn check(core: &Core) -> Worked<()> {
    core.conn
        .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'checks'")?
        .execute([])?;
    Ok(())
}
