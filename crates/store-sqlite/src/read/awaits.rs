//! Single awaits, and those that a signal may fire.

use riverrun_store::{
    AwaitRecord, AwaitStats, KindStats, Page, Result, SignalRecord, equality::Keys,
};
use riverrun_types::{Json, Name, RunId};
use rusqlite::{Params, params};

use super::{
    View,
    lists::{MAX_PAGE, read_cursor},
};
use crate::{
    awaits::{COLUMNS, TABLES, of_kind, record},
    columns::{Payload, json},
    error::translate,
};

pub(crate) fn await_by(view: View<'_>, id: &str) -> Result<Option<AwaitRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1");
    Ok(whole(view, select(view, &sql, [id])?)?.pop())
}

pub(crate) fn awaits_of(view: View<'_>, run: &RunId) -> Result<Vec<AwaitRecord>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {TABLES}
         WHERE a.run = (SELECT no FROM runs WHERE id = ?1) AND a.state < 2 ORDER BY a.no"
    );
    whole(view, select(view, &sql, [run.as_str()])?)
}

/// Awaits with their numbers, without their values.
pub(super) fn select(
    view: View<'_>,
    sql: &str,
    values: impl Params,
) -> Result<Vec<(i64, AwaitRecord)>> {
    let mut statement = view.conn.prepare_cached(sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        found.push(record(row)?);
    }
    Ok(found)
}

/// Adds the values to awaits.
fn whole(view: View<'_>, found: Vec<(i64, AwaitRecord)>) -> Result<Vec<AwaitRecord>> {
    let filled = found.into_iter().map(|(no, mut record)| {
        if record.fired > 0 {
            record.values = answers(view, no)?;
        }
        Ok(record)
    });
    filled.collect()
}

fn answers(view: View<'_>, no: i64) -> Result<Vec<Json>> {
    let texts = || -> rusqlite::Result<Vec<Payload>> {
        view.conn
            .prepare_cached("SELECT value FROM answers WHERE await = ?1 ORDER BY at")?
            .query_map([no], |row| row.get(0))?
            .collect()
    };
    texts().map_err(translate)?.into_iter().map(json).collect()
}

/// A page of the result, which has one row more than the page if a next page exists.
pub(super) fn page(mut found: Vec<(i64, AwaitRecord)>, limit: usize) -> Page<AwaitRecord> {
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(no, _)| no.to_string());
    Page {
        items: found.into_iter().map(|(_, record)| record).collect(),
        next,
    }
}

pub(crate) fn candidates(
    view: View<'_>,
    signal: &SignalRecord,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Page<AwaitRecord>> {
    let after = cursor.map(read_cursor).transpose()?.unwrap_or(0);
    let limit = limit.clamp(1, MAX_PAGE);
    let mut found = match &signal.only {
        Some(id) => {
            let sql = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1 AND a.state = 0 AND a.no > ?2"
            );
            select(view, &sql, (&**id, after))?
        }
        None => fitting(view, signal, limit + 1, after)?,
    };
    found.sort_by_key(|(no, _)| *no);
    Ok(page(found, limit))
}

/// For each shape, and for the event's tenant and none, the first `limit` awaits after a number.
fn fitting(
    view: View<'_>,
    signal: &SignalRecord,
    limit: usize,
    after: i64,
) -> Result<Vec<(i64, AwaitRecord)>> {
    let emit = &signal.emit;
    let tables = TABLES.replacen("awaits a", "awaits a INDEXED BY awaits_open", 1);
    let base = format!(
        "SELECT {COLUMNS} FROM {tables}
         WHERE a.shape = ?1 AND a.key = ?2 AND a.state = 0 AND a.no > ?3 AND a.born < ?4
             AND (a.expires_ms IS NULL OR a.expires_ms >= ?5)"
    );
    let all = format!("{base} ORDER BY a.no LIMIT ?6");
    let own = format!("{base} AND a.tenant IS ?7 ORDER BY a.no LIMIT ?6");
    let mut keys = Keys::new(&emit.event);
    let mut found = Vec::new();
    for shape in of_kind(view.conn, &emit.kind).map_err(translate)? {
        let Some(key) = keys.key(&shape.paths).filter(|_| shape.open > 0) else {
            continue;
        };
        let Some(tenant) = emit.tenant.as_deref() else {
            let values = params![shape.place, key, after, emit.seq, emit.ms, limit];
            found.extend(select(view, &all, values)?);
            continue;
        };
        for tenant in [None, Some(tenant)] {
            let values = params![shape.place, key, after, emit.seq, emit.ms, limit, tenant];
            found.extend(select(view, &own, values)?);
        }
    }
    Ok(found)
}

pub(crate) fn await_stats(view: View<'_>) -> Result<AwaitStats> {
    let read = || -> rusqlite::Result<AwaitStats> {
        let (events, callbacks) = view
            .conn
            .prepare_cached(
                // Damaged counts are left out: `verify` compares them.
                "SELECT coalesce(sum(open) FILTER (WHERE class < 2), 0),
                        coalesce(sum(open) FILTER (WHERE class = 2), 0)
                 FROM shapes WHERE typeof(open) = 'integer' AND open BETWEEN 0 AND 1 << 40",
            )?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut statement = view.conn.prepare_cached(
            "SELECT kind, sum(open) AS total, sum(iif(class = 1, open, 0)) FROM shapes
             WHERE class < 2 AND typeof(open) = 'integer' AND open BETWEEN 0 AND 1 << 40
             GROUP BY kind HAVING total > 0 ORDER BY total DESC, kind LIMIT ?1",
        )?;
        let kinds = statement.query_map([AwaitStats::MAX_KINDS], |row| {
            Ok(KindStats {
                kind: row.get::<_, Name>(0)?,
                open: row.get(1)?,
                filters: row.get(2)?,
                judging: 0,
            })
        })?;
        let mut stats = AwaitStats {
            events,
            callbacks,
            kinds: kinds.collect::<rusqlite::Result<_>>()?,
            ..AwaitStats::default()
        };
        add_outbox(view, &mut stats)?;
        Ok(stats)
    };
    read().map_err(translate)
}

fn add_outbox(view: View<'_>, stats: &mut AwaitStats) -> rusqlite::Result<()> {
    let mut statement = view.conn.prepare_cached(
        "SELECT e.kind, count(*), min(e.ms)
         FROM (SELECT emit FROM signals ORDER BY no LIMIT ?1) g CROSS JOIN emits e ON e.seq = g.emit
         GROUP BY e.kind ORDER BY e.kind",
    )?;
    let mut rows = statement.query([AwaitStats::MAX_JUDGING])?;
    while let Some(row) = rows.next()? {
        let (kind, judging, since_ms): (Name, u64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        stats.judging += judging;
        let first_ms = stats.judging_since_ms.unwrap_or(since_ms);
        stats.judging_since_ms = Some(first_ms.min(since_ms));
        match stats.kinds.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.judging = judging,
            None => stats.kinds.push(KindStats {
                kind,
                judging,
                ..KindStats::default()
            }),
        }
    }
    Ok(())
}
