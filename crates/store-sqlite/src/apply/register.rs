//! Definitions, each kept for ever.

use riverrun_store::{Error, FlowRecord};
use rusqlite::{OptionalExtension, params};

use super::refuse;
use crate::{
    columns::{Payload, Sealed, json},
    core::Core,
    error::{Failure, Worked},
};

pub(super) fn judge(core: &Core, flow: &FlowRecord) -> Worked<()> {
    let known: Option<Payload> = core
        .conn
        .prepare_cached("SELECT definition FROM flows WHERE id = ?1 AND version = ?2")?
        .query_row((&*flow.id, &*flow.version), |row| row.get(0))
        .optional()?;
    match known {
        None => Ok(()),
        Some(known) => refuse(known_as(
            flow,
            json(known).map_err(Failure::Refused)? == flow.definition,
        )),
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
