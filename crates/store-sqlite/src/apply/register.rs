//! Definitions, each kept for ever. A damaged one is replaced when it is registered again.

use riverrun_store::{Error, FlowRecord};
use riverrun_types::Json;
use rusqlite::{OptionalExtension, params};

use crate::{
    columns::{Payload, Sealed, json},
    core::Core,
    error::{Failure, Worked, translate},
};

/// The registered definition. A damaged one counts as none: registering it again repairs it.
pub(super) fn definition(core: &Core, id: &str, version: &str) -> Worked<Option<Json>> {
    let known = core
        .conn
        .prepare_cached("SELECT definition FROM flows WHERE id = ?1 AND version = ?2")?
        .query_row((id, version), |row| Ok(row.get::<_, Payload>(0)))
        .optional()?;
    let Some(known) = known else { return Ok(None) };
    match known.map_err(translate).and_then(json) {
        Ok(known) => Ok(Some(known)),
        Err(Error::Corrupt(_)) => Ok(None),
        Err(error) => Err(Failure::Sql(error)),
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
