//! Definitions, each kept for ever. One that is damaged is replaced when it is registered again.

use riverrun_store::{Error, FlowRecord};
use rusqlite::{OptionalExtension, params};

use super::refuse;
use crate::{
    columns::{Payload, Sealed, json},
    core::Core,
    error::{Failure, Worked, translate},
};

pub(super) fn judge(core: &Core, flow: &FlowRecord) -> Worked<()> {
    let known = core
        .conn
        .prepare_cached("SELECT definition FROM flows WHERE id = ?1 AND version = ?2")?
        .query_row((&*flow.id, &*flow.version), |row| {
            Ok(row.get::<_, Payload>(0))
        })
        .optional()?;
    let Some(known) = known else { return Ok(()) };
    match known.map_err(translate).and_then(json) {
        Ok(known) => refuse(known_as(flow, known == flow.definition)),
        // Whoever has the definition repairs it.
        Err(Error::Corrupt(_)) => Ok(()),
        Err(error) => Err(Failure::Sql(error)),
    }
}

/// Why a flow that is there, or comes with the same commit, is not registered.
pub(super) fn known_as(flow: &FlowRecord, same: bool) -> Error {
    let (id, version) = (flow.id.to_string(), flow.version.to_string());
    if same {
        Error::FlowKept { id, version }
    } else {
        Error::FlowExists { id, version }
    }
}

pub(super) fn register(core: &Core, flow: &FlowRecord) -> Worked<()> {
    core.conn
        .prepare_cached(
            "INSERT INTO flows (id, version, definition, created_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id, version) DO UPDATE SET definition = excluded.definition",
        )?
        .execute(params![
            &*flow.id,
            &*flow.version,
            Sealed::json(&flow.definition),
            flow.created_ms
        ])?;
    Ok(())
}
