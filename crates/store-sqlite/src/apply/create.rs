//! A run that begins.

use riverrun_store::{Error, NewRun, Placed};
use riverrun_types::RunId;
use rusqlite::{OptionalExtension, params};

use super::{RunRow, job, refuse, stream};
use crate::{
    columns::{self, Extra, Sealed},
    core::Core,
    error::Worked,
    names::NONE,
};

/// The run that has this run's idempotency key, if there is one.
pub(super) fn same_key(core: &Core, new: &NewRun) -> Worked<Option<RunId>> {
    let Some(key) = &new.idempotency_key else {
        return Ok(None);
    };
    let tenant = match &new.tenant {
        None => Some(NONE),
        Some(tenant) => core.names.find(tenant),
    };
    let (Some(flow), Some(tenant)) = (core.names.find(&new.flow), tenant) else {
        return Ok(None);
    };
    let taken: Option<String> = core
        .conn
        .prepare_cached("SELECT id FROM runs WHERE idem = ?1 AND flow = ?2 AND tenant = ?3")?
        .query_row((&**key, flow, tenant), |row| row.get(0))
        .optional()?;
    Ok(taken.as_deref().map(RunId::new))
}

/// What the run's row will say, but for its number.
pub(super) fn foreseen(new: &NewRun) -> RunRow {
    RunRow {
        no: 0,
        status: new.projection.status,
        len: new.events.len() as u64,
        turn: new.turn,
        last_ms: stream::last_ms(0, &new.events),
    }
}

/// Refuses a run whose id is taken, before anything is changed.
pub(super) fn create(core: &Core, new: &NewRun) -> Worked<(RunRow, Placed)> {
    let mut row = foreseen(new);
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
        return refuse(Error::RunExists(new.id.clone()));
    }
    row.no = conn.last_insert_rowid();
    core.recent.put(&new.id, row);
    core.created(new.created_ms)?;
    for tag in &new.tags {
        conn.prepare_cached("INSERT OR IGNORE INTO tags (tag, run) VALUES (?1, ?2)")?
            .execute((&**tag, row.no))?;
    }
    if let Some(job) = &new.job {
        job::add(core, row.no, job)?;
    }
    let placed = stream::place(core, 0, 0, &new.events);
    stream::write(core, row.no, &placed, &new.events)?;
    if let Some(snapshot) = &new.snapshot {
        super::advance::keep_snapshot(core, row.no, snapshot)?;
    }
    Ok((row, placed))
}

/// The JSON of what few runs have; nothing for most.
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
