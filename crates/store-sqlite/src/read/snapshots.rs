//! Reduced runs.

use riverrun_store::{Result, Snapshot};
use riverrun_types::RunId;
use rusqlite::OptionalExtension;

use super::View;
use crate::{columns::json, error::translate};

pub(crate) fn snapshot(view: View<'_>, run: &RunId, len: u64) -> Result<Option<Snapshot>> {
    // A column has a sign; nothing is as long as what it cannot hold.
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let row: Option<(u64, String)> = view
        .conn
        .prepare_cached(
            "SELECT len, body FROM snapshots
             WHERE run = (SELECT no FROM runs WHERE id = ?1) AND len <= ?2
             ORDER BY len DESC LIMIT 1",
        )
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_row((run.as_str(), len), read).optional()
        })
        .map_err(translate)?;
    let Some((len, body)) = row else {
        return Ok(None);
    };
    Ok(Some(Snapshot {
        len,
        body: json(body)?,
    }))
}
