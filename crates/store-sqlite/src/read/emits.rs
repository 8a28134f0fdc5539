//! The log of emitted events and the outbox.

use riverrun_store::{
    EmitRecord, Error, EventQuery, Result, SignalLane, SignalRecord, Unheard, UnheardKind,
};
use riverrun_types::{Json, StreamName};
use rusqlite::{Params, Row};

use super::{View, lists::MAX_PAGE};
use crate::{awaits::UNJUDGED, columns::json, error::translate};

const COLUMNS: &str = "e.seq, e.kind, e.ms, e.tenant, e.stream_kind, e.stream_id, e.event";

pub(crate) fn unheard(view: View<'_>) -> Result<Unheard> {
    let read = || -> rusqlite::Result<Unheard> {
        let total = view
            .conn
            .prepare_cached("SELECT value FROM meta WHERE key = 'unheard'")?
            .query_row([], |row| row.get(0))?;
        let kinds = view
            .conn
            .prepare_cached(
                "SELECT kind, count, last_ms FROM unheard ORDER BY last_ms DESC LIMIT ?1",
            )?
            .query_map([Unheard::MAX_KINDS], |row| {
                Ok(UnheardKind {
                    kind: row.get(0)?,
                    count: row.get(1)?,
                    last_ms: row.get(2)?,
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Unheard { total, kinds })
    };
    read().map_err(translate)
}

/// The signals of the outbox, or those of one lane.
pub(crate) fn signals(
    view: View<'_>,
    lane: Option<&SignalLane>,
    after: u64,
    limit: usize,
) -> Result<Vec<SignalRecord>> {
    let base = format!(
        "SELECT {COLUMNS}, g.no, g.only FROM signals g CROSS JOIN emits e ON e.seq = g.emit
         WHERE g.no > ?1"
    );
    let (after, limit) = (place(after), limit.min(MAX_PAGE));
    match lane {
        None => {
            let sql = format!("{base} ORDER BY g.no LIMIT ?2");
            page(view, &sql, (after, limit), signal, signal_bytes)
        }
        Some(lane) => {
            let sql = format!("{base} AND g.kind = ?3 AND e.tenant IS ?4 ORDER BY g.no LIMIT ?2");
            let values = (after, limit, &*lane.kind, lane.tenant.as_deref());
            page(view, &sql, values, signal, signal_bytes)
        }
    }
}

/// The signals of the outbox that an open await may mean.
pub(crate) fn signals_for(
    view: View<'_>,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<SignalRecord>> {
    let sql = format!("SELECT {COLUMNS}, g.no, g.only FROM {UNJUDGED} ORDER BY g.no LIMIT ?3");
    let values = (id, place(after), limit.min(MAX_PAGE));
    page(view, &sql, values, signal, signal_bytes)
}

fn signal(row: &Row<'_>) -> Result<SignalRecord> {
    Ok(SignalRecord {
        no: row.get(7).map_err(translate)?,
        emit: emit(row)?,
        only: row.get(8).map_err(translate)?,
    })
}

fn signal_bytes(signal: &SignalRecord) -> usize {
    signal.emit.event.bytes()
}

/// A number that the column can hold; no row is after a larger one.
fn place(after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX)
}

fn emit(row: &Row<'_>) -> Result<EmitRecord> {
    let read = || -> rusqlite::Result<_> {
        let stream = StreamName {
            kind: row.get(4)?,
            id: row.get(5)?,
        };
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, stream))
    };
    let (seq, kind, ms, tenant, stream) = read().map_err(translate)?;
    Ok(EmitRecord {
        seq,
        kind,
        ms,
        stream,
        tenant,
        event: event(seq, row.get(6).map_err(translate).and_then(json))?,
    })
}

/// A damaged one is null, which no filter matches: it must not block those behind it.
fn event(seq: u64, read: Result<Json>) -> Result<Json> {
    match read {
        Err(error @ Error::Corrupt(_)) => {
            tracing::error!(emitted = seq, %error, "an emitted event is damaged and is not delivered");
            Ok(Json::null())
        }
        read => read,
    }
}

/// Rows until the page is full or large.
fn page<T>(
    view: View<'_>,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
    bytes_of: impl Fn(&T) -> usize,
) -> Result<Vec<T>> {
    let mut statement = view.conn.prepare_cached(sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next().map_err(translate)? {
        let item = read(row)?;
        bytes += bytes_of(&item);
        found.push(item);
        if bytes >= EventQuery::PAGE_BYTES {
            break;
        }
    }
    Ok(found)
}
