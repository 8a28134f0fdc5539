//! Reduced runs.

use riverrun_store::{Error, Result, Snapshot};
use riverrun_types::RunId;

use super::View;
use crate::{columns::json, error::translate};

pub(crate) fn snapshot(view: View<'_>, run: &RunId, len: u64) -> Result<Option<Snapshot>> {
    // The column is signed; no stream is longer than its maximum.
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let mut statement = view
        .conn
        .prepare_cached(
            "SELECT len, body FROM snapshots
             WHERE run = (SELECT no FROM runs WHERE id = ?1) AND len <= ?2
             ORDER BY len DESC",
        )
        .map_err(translate)?;
    let mut rows = statement.query((run.as_str(), len)).map_err(translate)?;
    while let Some(row) = rows.next().map_err(translate)? {
        let len = row.get(0).map_err(translate)?;
        match row.get(1).map_err(translate).and_then(json) {
            Ok(body) => return Ok(Some(Snapshot { len, body })),
            // The stream is authoritative: an earlier snapshot, or none, only takes longer.
            Err(error @ Error::Corrupt(_)) => {
                tracing::error!(%run, len, %error, "a snapshot is damaged; it is passed over");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
