//! The server's own markers.

use riverrun_store::Result;
use riverrun_types::Json;
use rusqlite::{OptionalExtension, types::Value};

use crate::{
    core::Core,
    error::{Worked, translate},
    read::View,
};

pub(crate) fn set(core: &Core, name: &str, value: Option<&Json>) -> Worked<()> {
    match value {
        Some(value) => core
            .conn
            .prepare_cached(
                "INSERT INTO markers (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute((name, value.as_str()))?,
        None => core
            .conn
            .prepare_cached("DELETE FROM markers WHERE name = ?1")?
            .execute([name])?,
    };
    Ok(())
}

/// An unreadable one counts as none.
pub(crate) fn get(view: View<'_>, name: &str) -> Result<Option<Json>> {
    let found: Option<Value> = view
        .conn
        .prepare_cached("SELECT value FROM markers WHERE name = ?1")
        .and_then(|mut statement| statement.query_row([name], |row| row.get(0)).optional())
        .map_err(translate)?;
    let text = match found {
        Some(Value::Text(text)) => text,
        Some(_) => {
            tracing::error!(name, "a marker is damaged; it counts as none");
            return Ok(None);
        }
        None => return Ok(None),
    };
    Ok(Json::parse_text(text).ok())
}
