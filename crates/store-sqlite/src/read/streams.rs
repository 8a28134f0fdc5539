//! Lists of streams other than runs'.

use riverrun_store::{Page, Result, StreamInfo};

use super::{
    View,
    lists::{MAX_PAGE, read_cursor},
};
use crate::{columns, error::translate};

pub(crate) fn list_streams(
    view: View<'_>,
    kind: &str,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Page<StreamInfo>> {
    let before = cursor.map(read_cursor).transpose()?.unwrap_or(i64::MAX);
    let limit = limit.clamp(1, MAX_PAGE);
    let kind = view.names.find(kind);
    let read = || -> rusqlite::Result<Vec<(i64, StreamInfo)>> {
        let mut statement = view.conn.prepare_cached(
            "SELECT no, id, len, created_ms, last_ms FROM streams
             WHERE kind = ?1 AND no < ?2 ORDER BY no DESC LIMIT ?3",
        )?;
        let rows = statement.query_map((kind, before, limit + 1), |row| {
            let info = StreamInfo {
                id: row.get(1)?,
                // Damaged numbers are shown as zero: `verify` compares them.
                len: columns::count(row, 2).unwrap_or_default(),
                created_ms: row.get(3).unwrap_or_default(),
                updated_ms: row.get(4).unwrap_or_default(),
            };
            Ok((row.get(0)?, info))
        })?;
        rows.collect()
    };
    let mut found = read().map_err(translate)?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(no, _)| no.to_string());
    Ok(Page {
        items: found.into_iter().map(|(_, info)| info).collect(),
        next,
    })
}
