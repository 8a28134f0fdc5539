//! Definitions, each kept for ever.

use riverrun_store::FlowRecord;
use riverrun_types::Json;
use rusqlite::{OptionalExtension, params};

use crate::{
    columns::{Payload, Sealed, json},
    core::Core,
    error::{Failure, Worked},
};

pub(super) fn definition(core: &Core, id: &str, version: &str) -> Worked<Option<Json>> {
    let known: Option<Payload> = core
        .conn
        .prepare_cached("SELECT definition FROM flows WHERE id = ?1 AND version = ?2")?
        .query_row((id, version), |row| row.get(0))
        .optional()?;
    known.map(json).transpose().map_err(Failure::Refused)
}

pub(super) fn register(core: &Core, flow: &FlowRecord) -> Worked<()> {
    core.conn
        .prepare_cached(
            "INSERT INTO flows (id, version, definition, created_ms) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            &*flow.id,
            &*flow.version,
            Sealed::json(&flow.definition),
            flow.created_ms
        ])?;
    Ok(())
}
