//! Definitions.

use riverrun_store::{FlowRecord, Result};
use rusqlite::Params;

use super::View;
use crate::{columns::json, error::translate};

pub(crate) fn flow(view: View<'_>, id: &str, version: &str) -> Result<Option<FlowRecord>> {
    let found = select(view, "WHERE id = ?1 AND version = ?2", (id, version))?;
    Ok(found.into_iter().next())
}

pub(crate) fn flows(view: View<'_>) -> Result<Vec<FlowRecord>> {
    select(view, "ORDER BY no", ())
}

fn select(view: View<'_>, which: &str, values: impl Params) -> Result<Vec<FlowRecord>> {
    let sql = format!("SELECT id, version, definition, created_ms FROM flows {which}");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        found.push(FlowRecord {
            id: row.get(0).map_err(translate)?,
            version: row.get(1).map_err(translate)?,
            definition: json(row.get(2).map_err(translate)?)?,
            created_ms: row.get(3).map_err(translate)?,
        });
    }
    Ok(found)
}
