//! The keys by which events find awaits: each is derived from the await's equalities, and so are
//! the paths of its shape.

use riverrun_store::Result;
use rusqlite::Row;

use super::Check;
use crate::{awaits, error::translate};

pub(super) fn check(check: &mut Check<'_>) -> Result<()> {
    let done = of(check);
    check.noted("awaits", done).map(drop)
}

fn of(check: &mut Check<'_>) -> Result<()> {
    let total = check.count("awaits");
    let conn = check.conn;
    let mut statement = conn
        .prepare(
            "SELECT a.id, a.key, s.paths, a.body FROM awaits a JOIN shapes s ON s.no = a.shape
             WHERE s.class <> 2",
        )
        .map_err(translate)?;
    let mut rows = statement.query([]).map_err(translate)?;
    let mut done = 0;
    while let Some(row) = rows.next().map_err(translate)? {
        if !is_found(row) {
            let id = row.get_ref(0).ok().and_then(|id| id.as_str().ok());
            let problem = "its events do not find it: its key is not that of what it compares";
            check.report.add("awaits", id.map(str::to_owned), problem);
        }
        done += 1;
        if done % 1_000 == 0 {
            check.inspector.progress("awaits", done, total);
        }
    }
    check.inspector.progress("awaits", total, total);
    Ok(())
}

/// Checks that the key and the paths of an await are those of its record. A damaged record is
/// reported with the payloads.
fn is_found(row: &Row<'_>) -> bool {
    let Some(shape) = row.get(3).ok().and_then(|body| awaits::shape_of(body).ok()) else {
        return true;
    };
    let text = |column| row.get_ref(column).ok().and_then(|text| text.as_str().ok());
    text(1) == Some(&*shape.key) && text(2) == Some(&*shape.paths)
}
