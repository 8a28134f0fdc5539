//! Awaits that count earlier events.
//!
//! The first await of a shape that looks back makes the writer remember the keys of that kind's
//! events under the shape, from the time that it looks back to. Later ones find their event by one
//! look-up, however many were emitted since.

use std::ops::ControlFlow;

use riverrun_store::{Error, Given, equality::Keys};
use riverrun_types::{Json, Millis};
use rusqlite::{Connection, OptionalExtension, params};

use super::record;
use crate::{
    columns::{Payload, json},
    error::{Failure, Worked, translate},
};

/// Earlier events that are in the outbox for one await at a time. The next ones follow once they
/// are removed.
const PAGE: usize = 256;

/// The earlier events that may match an await.
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
    /// Makes sure that the keys of all its events are remembered, now and from now on.
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

    /// The earliest of its events that was not consumed before.
    pub(super) fn earliest(&self, conn: &Connection, mut given: Given) -> Worked<Option<String>> {
        let sql = format!("SELECT e.event, k.seq FROM {FITTING} ORDER BY k.ms, k.seq");
        let mut statement = conn.prepare_cached(&sql)?;
        let from_ms = given.from_ms(self.from_ms);
        let mut rows = statement.query(params![self.shape, self.key, from_ms, self.tenant])?;
        while let Some(row) = rows.next()? {
            let Some(event) = whole(row.get(1)?, row.get(0))? else {
                continue;
            };
            if !given.has(&event) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Puts the next of its events that were not consumed before into the outbox for one await, in
    /// their order, and returns whether any exist. `after` is the last one that was there.
    pub(super) fn post(
        &self,
        conn: &Connection,
        only: &str,
        mut given: Given,
        after: Option<(Millis, i64)>,
    ) -> Worked<bool> {
        let sql = format!(
            "SELECT k.ms, k.seq, iif(?5, e.event, '') FROM {FITTING} AND (k.ms, k.seq) > (?6, ?7)
             ORDER BY k.ms, k.seq"
        );
        // Consumed events are counted from the beginning: equal events cannot be distinguished.
        let start = (Millis::MIN, 0);
        let after = after.unwrap_or(start);
        let (from_ms, from_seq) = if given.is_empty() { after } else { start };
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![
            self.shape,
            self.key,
            given.from_ms(self.from_ms),
            self.tenant,
            !given.is_empty(),
            from_ms,
            from_seq,
        ])?;
        let mut post =
            conn.prepare_cached("INSERT INTO signals (emit, kind, only) VALUES (?1, ?2, ?3)")?;
        let mut posted = 0;
        while posted < PAGE
            && let Some(row) = rows.next()?
        {
            let place: (Millis, i64) = (row.get(0)?, row.get(1)?);
            let Some(event) = whole(place.1, row.get(2))? else {
                continue;
            };
            if !given.has(&event) && place > after {
                let seq = place.1;
                post.execute((seq, self.kind, only))?;
                posted += 1;
            }
        }
        Ok(posted > 0)
    }
}

/// An event on which an await has looked back did not match. If it was the last one in the outbox
/// for the await, the next ones follow; returns whether any exist.
pub(super) fn go_on(conn: &Connection, only: &str, emit: i64) -> Worked<bool> {
    let more: Option<i64> = conn
        .prepare_cached("SELECT 1 FROM signals WHERE only = ?1 LIMIT 1")?
        .query_row([only], |row| row.get(0))
        .optional()?;
    if more.is_some() {
        return Ok(false);
    }
    let mut statement = conn.prepare_cached(
        "SELECT s.kind, s.no, s.paths, a.key, a.tenant, a.created_ms, a.body, e.ms
         FROM awaits a CROSS JOIN shapes s ON s.no = a.shape CROSS JOIN emits e ON e.seq = ?2
         WHERE a.id = ?1 AND a.state = 0",
    )?;
    let mut rows = statement.query((only, emit))?;
    let Some(row) = rows.next()? else {
        return Ok(false);
    };
    let body: Option<Payload> = row.get(6)?;
    let Some((lookback_ms, given)) = record::looks_back(body).map_err(Failure::Refused)? else {
        return Ok(false);
    };
    let (kind, paths): (String, String) = (row.get(0)?, row.get(2)?);
    let (key, tenant): (String, Option<String>) = (row.get(3)?, row.get(4)?);
    let created_ms: Millis = row.get(5)?;
    let window = Window {
        kind: &kind,
        shape: row.get(1)?,
        paths: &paths,
        key: &key,
        tenant: tenant.as_deref(),
        from_ms: created_ms.saturating_sub(lookback_ms),
    };
    let after = (row.get(7)?, emit);
    window.post(conn, only, Given::of(&given), Some(after))
}

/// The text of an emitted event, or none if it is damaged: then no await can receive it.
fn whole(seq: i64, event: rusqlite::Result<Payload>) -> Worked<Option<String>> {
    match event.map_err(translate) {
        Ok(event) => Ok(Some(event.0)),
        Err(error @ Error::Corrupt(_)) => {
            tracing::error!(emitted = seq, %error, "an emitted event is damaged; it is passed over");
            Ok(None)
        }
        Err(error) => Err(Failure::Sql(error)),
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
pub(crate) fn each(
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
        let Some(event) = whole(row.get(0)?, row.get(3))? else {
            continue;
        };
        let Ok(event) = json(Payload(event)) else {
            continue;
        };
        if visit(row.get(0)?, row.get(1)?, row.get(2)?, event)?.is_break() {
            break;
        }
    }
    Ok(())
}
