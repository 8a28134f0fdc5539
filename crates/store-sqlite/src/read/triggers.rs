//! Triggers, by id and by due time.

use riverrun_store::{DueTriggers, Page, Result, TriggerRecord, TriggerStats};
use riverrun_types::{Millis, RunId};
use rusqlite::{OptionalExtension, Params};

use super::{View, lists::MAX_PAGE};
use crate::{columns::json, error::translate};

const COLUMNS: &str = "id, version, kind, enabled, definition, created_ms, updated_ms, due_ms,
     fired, failed, missed, last_fired_ms, last_run, last_failed_ms, last_error";

pub(crate) fn trigger(view: View<'_>, id: &str) -> Result<Option<TriggerRecord>> {
    let found = select(view, "id = ?1 AND removed_ms IS NULL", [id])?;
    Ok(found.into_iter().next())
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
    let mut items = select(view, which, (cursor.unwrap_or_default(), limit + 1))?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items
        .last()
        .filter(|_| more)
        .map(|last| last.id.to_string());
    Ok(Page { items, next })
}

pub(crate) fn due_triggers(view: View<'_>, now_ms: Millis, limit: usize) -> Result<DueTriggers> {
    let limit = limit.clamp(1, MAX_PAGE);
    let which = "due_ms IS NOT NULL AND due_ms <= ?1 ORDER BY due_ms LIMIT ?2";
    let due = select(view, which, (now_ms, limit))?;
    let next_ms = view
        .conn
        .prepare_cached("SELECT min(due_ms) FROM triggers WHERE due_ms IS NOT NULL AND due_ms > ?1")
        .and_then(|mut statement| statement.query_row([now_ms], |row| row.get(0)))
        .map_err(translate)?;
    Ok(DueTriggers { due, next_ms })
}

fn select(view: View<'_>, which: &str, values: impl Params) -> Result<Vec<TriggerRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM triggers WHERE {which}");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        found.push(record(row)?);
    }
    Ok(found)
}

fn record(row: &rusqlite::Row<'_>) -> Result<TriggerRecord> {
    let read = || -> rusqlite::Result<_> {
        let last_run: Option<String> = row.get(12)?;
        let stats = TriggerStats {
            fired: row.get(8)?,
            failed: row.get(9)?,
            missed: row.get(10)?,
            last_fired_ms: row.get(11)?,
            last_run: last_run.as_deref().map(RunId::new),
            last_failed_ms: row.get(13)?,
            last_error: None,
        };
        let texts: (String, Option<String>) = (row.get(4)?, row.get(14)?);
        let record = TriggerRecord {
            id: row.get(0)?,
            version: row.get(1)?,
            kind: row.get(2)?,
            enabled: row.get(3)?,
            definition: riverrun_types::Json::null(),
            created_ms: row.get(5)?,
            updated_ms: row.get(6)?,
            due_ms: row.get(7)?,
            stats,
        };
        Ok((record, texts))
    };
    let (mut record, (definition, error)) = read().map_err(translate)?;
    record.definition = json(definition)?;
    record.stats.last_error = error.map(json).transpose()?;
    Ok(record)
}
