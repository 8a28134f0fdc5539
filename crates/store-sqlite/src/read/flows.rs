//! Definitions.

use riverrun_store::{Error, FlowRecord, Result};
use riverrun_types::Name;
use rusqlite::{Params, Row};

use super::View;
use crate::{
    columns::json,
    error::{corrupt, translate},
};

pub(crate) fn flow(view: View<'_>, id: &str, version: &str) -> Result<Option<FlowRecord>> {
    let found = select(view, "WHERE id = ?1 AND version = ?2", (id, version))?;
    found.into_iter().next().transpose()
}

pub(crate) fn flows(view: View<'_>) -> Result<Vec<FlowRecord>> {
    let found = select(view, "ORDER BY no", ())?.into_iter();
    let whole = found.filter(|found| match found {
        // A damaged flow cannot be started, nor can its runs go on; all other flows are listed.
        Err(error @ Error::Corrupt(_)) => {
            tracing::error!(%error, "a flow is left out");
            false
        }
        _ => true,
    });
    whole.collect()
}

/// The definitions, each complete or damaged.
fn select(view: View<'_>, which: &str, values: impl Params) -> Result<Vec<Result<FlowRecord>>> {
    let sql = format!("SELECT id, version, definition, created_ms FROM flows {which}");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        found.push(record(row));
    }
    Ok(found)
}

fn record(row: &Row<'_>) -> Result<FlowRecord> {
    let names = || Ok::<(Name, Name), _>((row.get(0)?, row.get(1)?));
    let (id, version) = names().map_err(translate)?;
    let definition = row.get(2).map_err(translate).and_then(json);
    let definition = definition.map_err(|error| {
        corrupt(format_args!(
            "the definition of flow {id}@{version}: {error}"
        ))
    })?;
    Ok(FlowRecord {
        id,
        version,
        definition,
        created_ms: row.get(3).map_err(translate)?,
    })
}
