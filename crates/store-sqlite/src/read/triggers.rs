//! Triggers, by id and by due time.

use riverrun_store::{DueTriggers, Error, Page, Result, TriggerRecord, TriggerStats};
use riverrun_types::{Millis, RunId};
use rusqlite::{OptionalExtension, Params};

use super::{View, lists::MAX_PAGE};
use crate::{
    columns::{Payloads, json},
    error::translate,
};

const COLUMNS: &str = "id, version, kind, enabled, definition, created_ms, updated_ms, due_ms,
     fired, failed, missed, last_fired_ms, last_run, last_failed_ms, last_error";

pub(crate) fn trigger(view: View<'_>, id: &str) -> Result<Option<TriggerRecord>> {
    let found = select(view, "id = ?1 AND removed_ms IS NULL", [id])?;
    found.into_iter().next().transpose()
}

pub(crate) fn trigger_version(view: View<'_>, id: &str) -> Result<Option<u64>> {
    view.conn
        .prepare_cached("SELECT version FROM triggers WHERE id = ?1")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
        .map_err(translate)
}

pub(crate) fn list_triggers(
    view: View<'_>,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Page<TriggerRecord>> {
    let limit = limit.clamp(1, MAX_PAGE);
    let which = "id > ?1 AND removed_ms IS NULL ORDER BY id LIMIT ?2";
    let mut found = select(view, which, (cursor.unwrap_or_default(), limit + 1))?;
    let more = found.len() > limit;
    found.truncate(limit);
    let items = whole(found)?;
    let next = items
        .last()
        .filter(|_| more)
        .map(|last| last.id.to_string());
    Ok(Page { items, next })
}

pub(crate) fn due_triggers(view: View<'_>, now_ms: Millis, limit: usize) -> Result<DueTriggers> {
    let limit = limit.clamp(1, MAX_PAGE);
    let which = "due_ms IS NOT NULL AND due_ms <= ?1 ORDER BY due_ms LIMIT ?2";
    let due = whole(select(view, which, (now_ms, limit))?)?;
    let next_ms = view
        .conn
        .prepare_cached("SELECT min(due_ms) FROM triggers WHERE due_ms IS NOT NULL AND due_ms > ?1")
        .and_then(|mut statement| statement.query_row([now_ms], |row| row.get(0)))
        .map_err(translate)?;
    Ok(DueTriggers { due, next_ms })
}

/// Leaves out unreadable rows, so that the others are fired.
fn whole(found: Vec<Result<TriggerRecord>>) -> Result<Vec<TriggerRecord>> {
    let whole = found.into_iter().filter(|found| match found {
        Err(error @ Error::Corrupt(_)) => {
            tracing::error!(%error, "a trigger is left out");
            false
        }
        _ => true,
    });
    whole.collect()
}

/// The triggers, each complete or damaged.
fn select(view: View<'_>, which: &str, values: impl Params) -> Result<Vec<Result<TriggerRecord>>> {
    let sql = format!("SELECT {COLUMNS} FROM triggers WHERE {which}");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        found.push(record(row));
    }
    Ok(found)
}

fn record(row: &rusqlite::Row<'_>) -> Result<TriggerRecord> {
    let mut columns = Payloads::of(row);
    let id = row.get(0).map_err(translate)?;
    let last_run: Option<String> = columns.plain(12, "the last run")?;
    let mut record = TriggerRecord {
        id,
        version: columns.count(1, "the version")?,
        kind: columns.plain(2, "the type")?,
        enabled: columns.plain(3, "whether it is enabled")?,
        definition: riverrun_types::Json::null(),
        created_ms: columns.plain(5, "the time of its creation")?,
        updated_ms: columns.plain(6, "the time of its change")?,
        due_ms: columns.plain(7, "the due time")?,
        stats: TriggerStats {
            fired: columns.count(8, "how often it fired")?,
            failed: columns.count(9, "how often it failed")?,
            missed: columns.count(10, "how often it was missed")?,
            last_fired_ms: columns.plain(11, "the time of its last firing")?,
            last_run: last_run.as_deref().map(RunId::new),
            last_failed_ms: columns.plain(13, "the time of its last failure")?,
            last_error: None,
        },
    };
    record.stats.last_error = columns.json(14, "the last error")?;
    record.stats.last_error = columns.damage().or(record.stats.last_error);
    record.definition = match row.get(4).map_err(translate).and_then(json) {
        // It starts no run, and can be listed, replaced and removed.
        Err(error @ Error::Corrupt(_)) => TriggerRecord::damaged(&record.id, &record.kind, &error),
        definition => definition?,
    };
    Ok(record)
}
