//! Signals in the outbox for an await that is still open.

use rusqlite::{Connection, OptionalExtension};

/// The signals `g` with their events `e` that may match the await of the id `?1`, were emitted in
/// time and are above the number `?2`. An await without a filter is fired with its event's commit,
/// unless it was left over.
pub(crate) const UNJUDGED: &str = "awaits a CROSS JOIN shapes s ON s.no = a.shape
     CROSS JOIN signals g ON g.kind = s.kind CROSS JOIN emits e ON e.seq = g.emit
     WHERE a.id = ?1 AND a.state = 0 AND g.no > ?2
         AND (s.class = 1 OR s.class = 0 AND g.over > 0)
         AND (g.only = a.id OR g.only IS NULL AND e.seq > a.born)
         AND (a.tenant IS NULL OR e.tenant IS NULL OR e.tenant = a.tenant)
         AND (a.expires_ms IS NULL OR e.ms <= a.expires_ms)";

pub(crate) fn has_unjudged(conn: &Connection, id: &str, judged: u64) -> rusqlite::Result<bool> {
    let judged = i64::try_from(judged).unwrap_or(i64::MAX);
    let found: Option<i64> = conn
        .prepare_cached(&format!("SELECT 1 FROM {UNJUDGED} LIMIT 1"))?
        .query_row((id, judged), |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}
