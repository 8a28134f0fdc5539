//! The shapes of a kind's awaits, and how many awaits each has.

use riverrun_store::{Matcher, judge::ShapeRow};
use riverrun_types::Millis;
use rusqlite::{Connection, OptionalExtension};

use super::CALLBACKS;
use crate::error::Worked;

pub(super) const EQUAL: i64 = 0;
pub(super) const FILTER: i64 = 1;
pub(super) const CALLBACK: i64 = 2;

pub(super) fn class(matcher: &Matcher) -> i64 {
    match matcher.filter() {
        Some(_) => FILTER,
        None => EQUAL,
    }
}

/// The shapes of a kind that have open awaits, or whose events are remembered by key.
pub(crate) fn of_kind(conn: &Connection, kind: &str) -> rusqlite::Result<Vec<ShapeRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT no, paths, class, open, logged_ms FROM shapes
         WHERE kind = ?1 AND class < 2 AND (open > 0 OR logged_ms IS NOT NULL)",
    )?;
    let rows = statement.query_map([kind], |row| {
        Ok(ShapeRow {
            place: row.get(0)?,
            paths: row.get(1)?,
            has_filter: row.get::<_, i64>(2)? == FILTER,
            open: row.get(3)?,
            logged_ms: row.get(4)?,
        })
    })?;
    rows.collect()
}

/// Counts one more open await of a shape, which is created if it is new: its number, and the time
/// from which its events are remembered.
pub(super) fn join(
    conn: &Connection,
    kind: &str,
    class: i64,
    paths: &str,
) -> Worked<(i64, Option<Millis>)> {
    let known: Option<(i64, Option<Millis>)> = conn
        .prepare_cached(
            "SELECT no, logged_ms FROM shapes WHERE kind = ?1 AND class = ?2 AND paths = ?3",
        )?
        .query_row((kind, class, paths), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((no, logged_ms)) = known {
        conn.prepare_cached("UPDATE shapes SET open = open + 1, held = held + 1 WHERE no = ?1")?
            .execute([no])?;
        return Ok((no, logged_ms));
    }
    conn.prepare_cached(
        "INSERT INTO shapes (kind, class, paths, open, held) VALUES (?1, ?2, ?3, 1, 1)",
    )?
    .execute((kind, class, paths))?;
    Ok((conn.last_insert_rowid(), None))
}

/// This many awaits of the shape are not open any more.
pub(super) fn shut(conn: &Connection, shape: i64, count: usize) -> Worked<()> {
    if count > 0 {
        conn.prepare_cached("UPDATE shapes SET open = open - ?2 WHERE no = ?1")?
            .execute((shape, count))?;
    }
    Ok(())
}

/// An await of the shape is deleted. A shape without awaits and keys is deleted too.
pub(super) fn leave(conn: &Connection, shape: i64, was_open: bool) -> Worked<()> {
    conn.prepare_cached("UPDATE shapes SET open = open - ?2, held = held - 1 WHERE no = ?1")?
        .execute((shape, was_open))?;
    if shape != CALLBACKS {
        conn.prepare_cached(
            "DELETE FROM shapes WHERE no = ?1 AND held = 0 AND logged_ms IS NULL
                 AND NOT EXISTS (SELECT 1 FROM emit_keys WHERE shape = ?1)",
        )?
        .execute([shape])?;
    }
    Ok(())
}
