//! Adding, changing and removing triggers.

use riverrun_store::{NewTrigger, NextDue, judge::TriggerRow};
use riverrun_types::{Millis, Name};
use rusqlite::{OptionalExtension, params};

use crate::{
    columns::{self, Sealed},
    core::Core,
    error::Worked,
};

pub(crate) fn load(core: &Core, id: &str) -> Worked<TriggerRow> {
    let row = core
        .conn
        .prepare_cached("SELECT version, due_ms, removed_ms IS NULL FROM triggers WHERE id = ?1")?
        .query_row([id], |row| {
            Ok(TriggerRow {
                // Damaged triggers as lists show them, so that they can be removed.
                version: columns::count(row, 0).unwrap_or_default(),
                due_ms: row.get(1).unwrap_or_default(),
                exists: row.get(2).unwrap_or(true),
            })
        })
        .optional()?;
    Ok(row.unwrap_or_default())
}

/// The trigger that has a route.
pub(crate) fn of_route(core: &Core, route: &str) -> Worked<Option<Name>> {
    let owner = core
        .conn
        .prepare_cached("SELECT id FROM triggers WHERE route = ?1")?
        .query_row([route], |row| row.get::<_, Name>(0))
        .optional()?;
    Ok(owner)
}

pub(crate) fn put(core: &Core, new: &NewTrigger) -> Worked<()> {
    let keeps = new.due == NextDue::Keep;
    let due_ms = match new.due {
        NextDue::Keep => None,
        NextDue::At(due_ms) => due_ms,
    };
    core.conn
        .prepare_cached(
            "INSERT INTO triggers (id, version, kind, enabled, definition, route, created_ms,
                                   updated_ms, due_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET
                 version = ?2, kind = ?3, enabled = ?4, definition = ?5, route = ?6,
                 created_ms = iif(removed_ms IS NULL, created_ms, ?7), updated_ms = ?7,
                 removed_ms = NULL, due_ms = iif(?9, due_ms, ?8)",
        )?
        .execute(params![
            &*new.id,
            new.version,
            &*new.kind,
            new.enabled,
            Sealed::json(&new.definition),
            new.route.as_deref(),
            new.now_ms,
            due_ms,
            keeps,
        ])?;
    Ok(())
}

pub(crate) fn remove(core: &Core, id: &str, now_ms: Millis) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE triggers SET removed_ms = ?2, route = NULL, due_ms = NULL, enabled = 0
             WHERE id = ?1",
        )?
        .execute((id, now_ms))?;
    Ok(())
}
