//! Pages of the log of all events. Rare kinds are found by their marks; for others chunks are read
//! one after the other, up to a bound.

use std::collections::BTreeSet;

use riverrun_store::{Error, Kinds, LogPage, LogQuery, Logged, Result};
use riverrun_types::{EventType, Json, Name, StreamName, event::EventContext};
use rusqlite::{OptionalExtension, Row, params_from_iter, types::Value};

use super::{View, events::chunk, lists::MAX_PAGE};
use crate::{
    error::{corrupt, translate},
    log::is_common,
};

/// The most chunks that one read goes through.
const MAX_CHUNKS: usize = 4_096;
/// Kinds that are looked up by their marks; a family with more is read.
const MAX_MARKED: usize = 64;

/// The columns that [`chunk`] and [`whose`] read, in their order.
pub(super) const COLUMNS: &str = "c.first, c.base_ms, c.body, c.seq, c.stream, \
     r.id, r.flow, r.tenant, s.kind, s.id";

/// The streams of the chunks `c`.
pub(super) const OWNERS: &str =
    "LEFT JOIN runs r ON r.no = c.stream LEFT JOIN streams s ON s.no = -c.stream";

pub(crate) fn log(view: View<'_>, query: &LogQuery) -> Result<LogPage> {
    // First: events that are committed after this are found by the next read.
    let end = crate::log::load(view.conn).map_err(translate)? - 1;
    let limit = query.limit.clamp(1, MAX_PAGE);
    let from = Value::Integer(chunk_after(view, query.after)?);
    let (sql, values) = match marked(view, &query.kinds)? {
        Some(kinds) => by_marks(kinds, from, limit),
        None => {
            let sql =
                format!("SELECT {COLUMNS} FROM chunks c {OWNERS} WHERE c.seq >= ?1 ORDER BY c.seq");
            (sql, vec![from])
        }
    };
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement
        .query(params_from_iter(values))
        .map_err(translate)?;
    let mut page = LogPage {
        events: Vec::new(),
        next: query.after,
        is_end: false,
        end,
    };
    let (mut bytes, mut chunks) = (0, 0);
    while let Some(row) = rows.next().map_err(translate)? {
        let first: u64 = row.get(3).map_err(translate)?;
        let read = whose(view, row).and_then(|whose| Ok((whose, chunk(row)?)));
        let ((stream, context), chunk) = match read {
            Ok(read) => read,
            // Damage must not block readers of all streams; a reader of its own stream gets the
            // error.
            Err(error @ Error::Corrupt(_)) => {
                tracing::error!(number = first, %error, "events are left out of the log");
                continue;
            }
            Err(error) => return Err(error),
        };
        for ((no, seq), draft) in (first..).zip(chunk.first..).zip(chunk.drafts) {
            if no <= query.after || !query.kinds.take(&draft.kind, draft.data.as_ref()) {
                page.next = page.next.max(no);
                continue;
            }
            bytes += draft.data.as_ref().map_or(0, Json::bytes);
            // A single larger event is a page of its own.
            let is_full = bytes > query.max_bytes && !page.events.is_empty();
            if page.events.len() == limit || is_full {
                return Ok(page);
            }
            page.next = no;
            let ms = draft.ms;
            page.events.push(Logged {
                no,
                stream: stream.clone(),
                event: draft.at(seq, ms, &context),
            });
        }
        chunks += 1;
        if chunks >= MAX_CHUNKS {
            return Ok(page);
        }
    }
    page.next = page.next.max(end);
    page.is_end = true;
    Ok(page)
}

/// The first place of a chunk that may hold an event after a number.
fn chunk_after(view: View<'_>, after: u64) -> Result<i64> {
    let after = i64::try_from(after).unwrap_or(i64::MAX - 1);
    let before: Option<(i64, i64)> = view
        .conn
        .prepare_cached("SELECT seq, count FROM chunks WHERE seq <= ?1 ORDER BY seq DESC LIMIT 1")
        .and_then(|mut statement| {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_row([after], read).optional()
        })
        .map_err(translate)?;
    Ok(match before {
        Some((seq, count)) if seq + count - 1 > after => seq,
        _ => after + 1,
    })
}

/// The exact kinds whose chunks are marked, if all wanted kinds are.
fn marked(view: View<'_>, wanted: &Kinds) -> Result<Option<BTreeSet<String>>> {
    let is_read = |kind: &EventType| is_common(kind) && wanted.take(kind, None);
    if wanted.iter().len() == 0 || EventType::KNOWN.iter().any(is_read) {
        return Ok(None);
    }
    let mut kinds = BTreeSet::new();
    for kind in wanted.iter() {
        kinds.insert(kind.to_owned());
        // `/` comes after `.`, so this is everything that begins with the kind and a dot.
        let (mut after, end) = (format!("{kind}."), format!("{kind}/"));
        while let Some(found) = next_kind(view, &after, &end)? {
            kinds.insert(found.clone());
            if kinds.len() > MAX_MARKED {
                return Ok(None);
            }
            after = found;
        }
    }
    Ok(Some(kinds))
}

fn next_kind(view: View<'_>, after: &str, end: &str) -> Result<Option<String>> {
    view.conn
        .prepare_cached(
            "SELECT kind FROM kinds WHERE kind > ?1 AND kind < ?2 ORDER BY kind LIMIT 1",
        )
        .and_then(|mut statement| {
            let found = statement.query_row((after, end), |row| row.get(0));
            found.optional()
        })
        .map_err(translate)
}

/// As many chunks of each kind as could fill the page, all in order.
fn by_marks(kinds: BTreeSet<String>, from: Value, limit: usize) -> (String, Vec<Value>) {
    let one = |at: usize| {
        format!(
            "SELECT * FROM (SELECT seq FROM kinds WHERE kind = ?{at} AND seq >= ?1 ORDER BY seq LIMIT ?2)"
        )
    };
    let all: Vec<String> = (3..3 + kinds.len()).map(one).collect();
    let sql = format!(
        "WITH found AS ({} ORDER BY 1 LIMIT ?2)
         SELECT {COLUMNS} FROM chunks c {OWNERS}
         WHERE c.seq IN (SELECT seq FROM found) ORDER BY c.seq",
        all.join(" UNION ")
    );
    // One more, so that a full page does not look like the end.
    let chunks = limit as i64 + 2;
    let mut values = vec![from, Value::Integer(chunks)];
    values.extend(kinds.into_iter().map(Value::Text));
    (sql, values)
}

/// The stream of a chunk, and the envelope of its events.
pub(super) fn whose(view: View<'_>, row: &Row<'_>) -> Result<(StreamName, EventContext)> {
    let read = || -> rusqlite::Result<_> {
        let run: Option<Name> = row.get(5)?;
        let (flow, tenant): (Option<i64>, Option<i64>) = (row.get(6)?, row.get(7)?);
        let (kind, id): (Option<i64>, Option<Name>) = (row.get(8)?, row.get(9)?);
        Ok((run.zip(flow.zip(tenant)), kind.zip(id)))
    };
    match read().map_err(translate)? {
        (Some((run, (flow, tenant))), _) => {
            let stream = StreamName::new(StreamName::FLOW, &run);
            let context = EventContext {
                run_id: run,
                flow_name: view.names.text(flow)?,
                tenant_id: view.names.text_of(tenant)?,
            };
            Ok((stream, context))
        }
        (None, Some((kind, id))) => {
            let kind = view.names.text(kind)?;
            let context = EventContext {
                run_id: id.clone(),
                flow_name: kind.clone(),
                tenant_id: None,
            };
            Ok((StreamName { kind, id }, context))
        }
        (None, None) => Err(corrupt(format_args!("a chunk of events has no stream"))),
    }
}
