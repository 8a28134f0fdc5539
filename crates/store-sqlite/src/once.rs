//! Which events were appended under a key.

use riverrun_store::{Error, Once, Result};
use riverrun_types::EventId;
use rusqlite::OptionalExtension;

use crate::{
    columns::{Payload, Sealed},
    core::Core,
    error::{Worked, translate},
    read::View,
};

pub(crate) fn is_used(core: &Core, key: &str) -> Worked<bool> {
    let mut statement = core
        .conn
        .prepare_cached("SELECT 1 FROM once WHERE key = ?1")?;
    Ok(statement.exists([key])?)
}

pub(crate) fn keep(core: &Core, once: &Once, ids: &[EventId]) -> Worked<()> {
    let kept: Vec<String> = ids.iter().map(ToString::to_string).collect();
    core.conn
        .prepare_cached("INSERT INTO once (key, ids, ms) VALUES (?1, ?2, ?3)")?
        .execute((&*once.key, Sealed(&kept.join(",")), once.now_ms))?;
    Ok(())
}

pub(crate) fn find(view: View<'_>, key: &str) -> Result<Option<Vec<EventId>>> {
    let found: Option<Payload> = view
        .conn
        .prepare_cached("SELECT ids FROM once WHERE key = ?1")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .map_err(translate)?;
    let read = |id: &str| {
        id.parse()
            .map_err(|_| Error::Corrupt(format!("{id:?} is no id of an event")))
    };
    let ids = found.map(|ids| {
        ids.0
            .split(',')
            .filter(|id| !id.is_empty())
            .map(read)
            .collect()
    });
    ids.transpose()
}
