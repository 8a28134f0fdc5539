//! Finding a moment in a stream. Ids grow strictly along it, so binary search finds the place.

use riverrun_store::{Place, Result};
use riverrun_types::{EventId, Millis, StreamName};
use rusqlite::OptionalExtension;

use super::{View, events, events::Stream};
use crate::error::translate;

pub(crate) fn locate(view: View<'_>, name: &StreamName, place: Place) -> Result<u64> {
    match events::find(view, name)? {
        Some(stream) => count(view, &stream, place),
        None => Ok(0),
    }
}

/// The number of events at or before the place.
pub(super) fn count(view: View<'_>, stream: &Stream, place: Place) -> Result<u64> {
    let included = |ms: Millis, seq: u64| match place {
        Place::Event(id) => EventId { ms, seq } <= id,
        Place::Time(until_ms) => ms <= until_ms,
    };
    // Chunks whose first event is included precede all others: search for the last of them.
    let mut last = None;
    let (mut low, mut high) = (0, stream.stored);
    while low < high {
        let middle = low + (high - low) / 2;
        let Some(head) = head(view, stream, middle)? else {
            // The beginning was trimmed: it is before everything that is kept.
            low = middle + 1;
            continue;
        };
        if included(head.base_ms, head.first) {
            low = head.first + head.count;
            last = Some(head.first);
        } else {
            high = head.first;
        }
    }
    let derived = || {
        let tail = stream.tail();
        tail.take_while(|(seq, draft)| included(draft.ms, *seq))
            .count() as u64
    };
    let Some(first) = last else {
        return Ok(if stream.stored == 0 { derived() } else { 0 });
    };
    let chunk = read(view, stream, first)?;
    let inside = (chunk.first..)
        .zip(&chunk.drafts)
        .take_while(|(seq, draft)| included(draft.ms, *seq))
        .count();
    let count = chunk.first + inside as u64;
    Ok(match count == stream.stored {
        true => count + derived(),
        false => count,
    })
}

/// A chunk without its events.
struct Head {
    first: u64,
    count: u64,
    base_ms: Millis,
}

/// The chunk that holds a position.
fn head(view: View<'_>, stream: &Stream, position: u64) -> Result<Option<Head>> {
    view.conn
        .prepare_cached(
            "SELECT first, count, base_ms FROM chunks WHERE stream = ?1 AND first <= ?2
             ORDER BY first DESC LIMIT 1",
        )
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| {
                Ok(Head {
                    first: row.get(0)?,
                    count: row.get(1)?,
                    base_ms: row.get(2)?,
                })
            };
            statement.query_row((stream.no, position), read).optional()
        })
        .map_err(translate)
}

fn read(view: View<'_>, stream: &Stream, first: u64) -> Result<events::Chunk> {
    let sql = "SELECT first, base_ms, body FROM chunks WHERE stream = ?1 AND first = ?2";
    let mut statement = view.conn.prepare_cached(sql).map_err(translate)?;
    let mut rows = statement.query((stream.no, first)).map_err(translate)?;
    match rows.next().map_err(translate)? {
        Some(row) => events::chunk(row),
        None => Err(crate::error::corrupt(format_args!(
            "there is no chunk of events at position {first}"
        ))),
    }
}
