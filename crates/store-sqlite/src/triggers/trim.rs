//! Retention of triggers and of the beginnings of their streams.

use riverrun_store::Retention;
use riverrun_types::{Millis, StreamName};
use rusqlite::OptionalExtension;

use crate::{core::Core, error::Worked, log};

/// Removes chunks that hold none of the last `keep` events.
pub(crate) fn trim(core: &Core, stream: &StreamName, keep: u64) -> Worked<()> {
    if stream.run().is_some() {
        return Ok(());
    }
    let Some(kind) = core.names.find(&stream.kind) else {
        return Ok(());
    };
    let found: Option<(i64, u64)> = core
        .conn
        .prepare_cached("SELECT no, len FROM streams WHERE kind = ?1 AND id = ?2")?
        .query_row((kind, &*stream.id), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((no, len)) = found.filter(|(_, len)| *len > keep) else {
        return Ok(());
    };
    let before = "stream = ?1 AND first < ?2 AND first + count <= ?2";
    log::remove(core, before, (-no, len - keep))
}

/// Deletes up to `limit` triggers that were removed long ago, with their streams.
pub(crate) fn sweep(core: &Core, retention: &Retention, now: Millis, limit: usize) -> Worked<u64> {
    let (Some(keep_ms), 1..) = (retention.cancelled_ms, limit) else {
        return Ok(0);
    };
    let over: Vec<(i64, String)> = core
        .conn
        .prepare_cached(
            "SELECT no, id FROM triggers WHERE removed_ms IS NOT NULL AND removed_ms <= ?1
             ORDER BY removed_ms LIMIT ?2",
        )?
        .query_map((now.saturating_sub(keep_ms), limit.min(1_000)), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (no, id) in &over {
        core.conn
            .prepare_cached("DELETE FROM triggers WHERE no = ?1")?
            .execute([no])?;
        let Some(kind) = core.names.find("trigger") else {
            continue;
        };
        let own = "stream = (SELECT -no FROM streams WHERE kind = ?1 AND id = ?2)";
        log::remove(core, own, (kind, id))?;
        core.conn
            .prepare_cached("DELETE FROM streams WHERE kind = ?1 AND id = ?2")?
            .execute((kind, id))?;
    }
    Ok(over.len() as u64)
}
