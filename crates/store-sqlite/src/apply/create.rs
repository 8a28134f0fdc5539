//! A new run.

use riverrun_store::{Error, NewRun, judge::RunRow};
use rusqlite::params;

use super::run_task;
use crate::{
    columns::{self, Extra, Sealed},
    core::Core,
    error::{Failure, Worked},
};

/// Rejects a run whose id is taken, before anything is changed.
pub(super) fn create(core: &Core, new: &NewRun, mut row: RunRow) -> Worked<RunRow> {
    let conn = &core.conn;
    let inserted = conn
        .prepare_cached(
            "INSERT INTO runs (id, flow, version, tenant, status, created_ms, last_ms, len, turn,
                               wake_ms, ended_ms, error, idem, parent, extra, correlation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![
            new.id.as_str(),
            core.names.number(conn, &new.flow)?,
            core.names.number(conn, &new.version)?,
            core.names.number_of(conn, new.tenant.as_ref())?,
            columns::status_code(row.status),
            new.created_ms,
            row.last_ms,
            row.len,
            row.turn,
            new.projection.wake_ms,
            new.projection.ended_ms,
            new.projection.error.as_ref().map(Sealed::json),
            new.idempotency_key.as_deref(),
            new.parent.as_ref().map(|parent| parent.run.as_str()),
            extra(new).as_deref().map(Sealed),
            new.correlation.as_deref(),
        ])?;
    if inserted == 0 {
        return Err(Failure::Refused(Error::RunExists(new.id.clone())));
    }
    row.place = conn.last_insert_rowid();
    core.recent.put(&new.id, row);
    core.created(new.created_ms)?;
    for tag in &new.tags {
        conn.prepare_cached("INSERT OR IGNORE INTO tags (tag, run) VALUES (?1, ?2)")?
            .execute((&**tag, row.place))?;
    }
    if let Some(task) = &new.task {
        run_task::add(core, row.place, task)?;
    }
    if let Some(snapshot) = &new.snapshot {
        super::advance::keep_snapshot(core, row.place, snapshot)?;
    }
    Ok(row)
}

/// The JSON of rarely used fields; nothing for most runs.
fn extra(new: &NewRun) -> Option<String> {
    let plain = new.tags.is_empty()
        && new.metadata.is_none()
        && new.parent.is_none()
        && new.origin.is_none();
    if plain {
        return None;
    }
    let extra = Extra {
        tags: new.tags.clone(),
        metadata: new.metadata.clone(),
        origin_run: new.origin.as_ref().map(|origin| origin.run.clone()),
        origin_event: new.origin.as_ref().and_then(|origin| origin.event),
        parent_step: new.parent.as_ref().map(|parent| parent.step.clone()),
        parent_visit: new.parent.as_ref().map(|parent| parent.visit),
    };
    serde_json::to_string(&extra).ok()
}
