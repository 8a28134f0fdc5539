//! Which events were appended under a key.

use riverrun_store::{Change, Error, Once, Receipt, Result};
use riverrun_types::EventId;
use rusqlite::OptionalExtension;

use crate::{
    columns::{Payload, Sealed},
    core::Core,
    error::{Failure, Worked, translate},
    read::View,
};

pub(crate) fn judge(core: &Core, once: &Once) -> Worked<()> {
    let is_taken = core
        .conn
        .prepare_cached("SELECT 1 FROM once WHERE key = ?1")?
        .exists([&*once.key])?;
    match is_taken {
        true => Err(Failure::Refused(Error::EventExists(once.key.clone()))),
        false => Ok(()),
    }
}

/// Keeps the ids that the events of a commit were given. Its events are placed by now.
pub(crate) fn keep(core: &Core, once: &Once, changes: &[Change], receipt: &Receipt) -> Worked<()> {
    let appended = changes.iter().find_map(Change::appends);
    let ids: Vec<EventId> = match (receipt.placed.first(), appended) {
        (Some(placed), Some((_, drafts))) => placed.ids(drafts).collect(),
        _ => Vec::new(),
    };
    let kept = once.places.iter().filter_map(|place| ids.get(*place));
    let kept: Vec<String> = kept.map(ToString::to_string).collect();
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
