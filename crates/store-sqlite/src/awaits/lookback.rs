//! Awaits that count earlier events.
//!
//! The first await of a shape that looks back makes the writer remember the keys of that kind's
//! events under the shape, from the time that it looks back to. Later ones find their event by one
//! look-up, however many were emitted since.

use std::ops::ControlFlow;

use riverrun_store::{Given, Signal, equality::Keys};
use riverrun_types::{Json, Millis};
use rusqlite::{Connection, params};

use crate::{
    columns::json,
    error::{Failure, Worked},
};

/// The earlier events that an await may mean.
pub(super) struct Window<'a> {
    pub(super) kind: &'a str,
    pub(super) shape: i64,
    pub(super) paths: &'a str,
    pub(super) key: &'a str,
    pub(super) tenant: Option<&'a str>,
    pub(super) from_ms: Millis,
}

/// Events under a key from a time on that are for a tenant.
const FITTING: &str = "emit_keys k CROSS JOIN emits e ON e.seq = k.seq
     WHERE k.shape = ?1 AND k.key = ?2 AND k.ms >= ?3
         AND (e.tenant IS NULL OR ?4 IS NULL OR e.tenant = ?4)";

impl Window<'_> {
    /// Sees to it that the keys of all its events are remembered, now and from now on.
    pub(super) fn open(
        &self,
        conn: &Connection,
        logged_ms: Option<Millis>,
        now_ms: Millis,
    ) -> Worked<()> {
        let until_ms = logged_ms.unwrap_or(Millis::MAX);
        if self.from_ms < until_ms {
            each(
                conn,
                self.kind,
                self.from_ms,
                until_ms,
                |seq, ms, _, event| {
                    if let Some(key) = Keys::new(&event).key(self.paths) {
                        remember(conn, self.shape, &key, ms, seq)?;
                    }
                    Ok(ControlFlow::Continue(()))
                },
            )?;
        }
        conn.prepare_cached(
            "UPDATE shapes SET logged_ms = min(coalesce(logged_ms, ?2), ?2),
                    used_ms = max(used_ms, ?3)
             WHERE no = ?1",
        )?
        .execute((self.shape, self.from_ms, now_ms))?;
        Ok(())
    }

    /// The earliest of its events that was not given before.
    pub(super) fn earliest(
        &self,
        conn: &Connection,
        mut given: Given<'_>,
    ) -> Worked<Option<String>> {
        let sql = format!("SELECT e.event FROM {FITTING} ORDER BY k.ms, k.seq");
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![self.shape, self.key, self.from_ms, self.tenant])?;
        while let Some(row) = rows.next()? {
            let event: String = row.get(0)?;
            if !given.has(&event) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Puts its events that were not given before into the outbox for one await, in their order,
    /// and says how many.
    pub(super) fn post(
        &self,
        conn: &Connection,
        only: &str,
        mut given: Given<'_>,
    ) -> Worked<usize> {
        let sql = format!(
            "SELECT seq, event FROM (
                 SELECT k.ms AS ms, k.seq AS seq, iif(?5, e.event, '') AS event FROM {FITTING}
                 ORDER BY k.ms DESC, k.seq DESC LIMIT ?6)
             ORDER BY ms, seq"
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![
            self.shape,
            self.key,
            self.from_ms,
            self.tenant,
            !given.is_empty(),
            Signal::MAX_LOOKBACK.saturating_add(given.len()),
        ])?;
        let mut fresh = Vec::new();
        while let Some(row) = rows.next()? {
            let event: String = row.get(1)?;
            if !given.has(&event) {
                fresh.push(row.get::<_, i64>(0)?);
            }
        }
        let latest = &fresh[fresh.len().saturating_sub(Signal::MAX_LOOKBACK)..];
        let mut post = conn.prepare_cached("INSERT INTO signals (emit, only) VALUES (?1, ?2)")?;
        for seq in latest {
            post.execute((seq, only))?;
        }
        Ok(latest.len())
    }
}

/// Remembers the key of an event under a shape.
pub(super) fn remember(
    conn: &Connection,
    shape: i64,
    key: &str,
    ms: Millis,
    seq: i64,
) -> Worked<()> {
    conn.prepare_cached(
        "INSERT OR IGNORE INTO emit_keys (shape, key, ms, seq) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((shape, key, ms, seq))?;
    Ok(())
}

/// The events of a kind that were emitted in a time: number, time, tenant, event.
pub(super) fn each(
    conn: &Connection,
    kind: &str,
    from_ms: Millis,
    until_ms: Millis,
    mut visit: impl FnMut(i64, Millis, Option<String>, Json) -> Worked<ControlFlow<()>>,
) -> Worked<()> {
    let mut statement = conn.prepare_cached(
        "SELECT seq, ms, tenant, event FROM emits INDEXED BY emits_ms
         WHERE kind = ?1 AND ms >= ?2 AND ms < ?3",
    )?;
    let mut rows = statement.query((kind, from_ms, until_ms))?;
    while let Some(row) = rows.next()? {
        let event = json(row.get(3)?).map_err(Failure::Sql)?;
        if visit(row.get(0)?, row.get(1)?, row.get(2)?, event)?.is_break() {
            break;
        }
    }
    Ok(())
}
