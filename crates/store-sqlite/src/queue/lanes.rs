//! The lanes of a queue: one for each key that has jobs which have not ended.

use rusqlite::{Connection, OptionalExtension};

use super::{ACTIVE, DELAYED, PARKED, Queue, WAITING};
use crate::error::Worked;

/// The turn of a lane that has as many active jobs as it may: it is passed over until one of them
/// ends.
pub(super) const BLOCKED: i64 = i64::MAX;

/// The lane of a key, made now if there is none; 0 without a key.
pub(super) fn of(conn: &Connection, queue: &Queue, key: Option<&str>) -> Worked<i64> {
    let Some(key) = key else {
        return Ok(0);
    };
    let known: Option<i64> = conn
        .prepare_cached("SELECT no FROM lanes WHERE queue = ?1 AND key = ?2")?
        .query_row((queue.no, key), |row| row.get(0))
        .optional()?;
    if let Some(no) = known {
        return Ok(no);
    }
    conn.prepare_cached("INSERT INTO lanes (queue, key, turn) VALUES (?1, ?2, ?3)")?
        .execute((queue.no, key, queue.turn))?;
    Ok(conn.last_insert_rowid())
}

/// A job of the lane came, moved or went. A lane without jobs is forgotten.
pub(super) fn shift(
    conn: &Connection,
    queue: &mut Queue,
    lane: i64,
    from: Option<i64>,
    to: Option<i64>,
) -> Worked<()> {
    queue.shift(from, to);
    if lane == 0 {
        return Ok(());
    }
    let is = |state: Option<i64>, wanted: &[i64]| {
        i64::from(state.is_some_and(|state| wanted.contains(&state)))
    };
    let change = |wanted: &[i64]| is(to, wanted) - is(from, wanted);
    let (waiting, active) = (change(&[WAITING]), change(&[ACTIVE]));
    let held = change(&[WAITING, DELAYED, ACTIVE, PARKED]);
    conn.prepare_cached(
        "UPDATE lanes SET waiting = waiting + ?2, active = active + ?3, held = held + ?4,
                turn = iif(?3 < 0 AND turn = ?5, ?6, turn)
         WHERE no = ?1",
    )?
    .execute((lane, waiting, active, held, BLOCKED, queue.turn))?;
    queue.keyed += waiting;
    if held < 0 {
        conn.prepare_cached("DELETE FROM lanes WHERE no = ?1 AND held = 0")?
            .execute([lane])?;
    }
    Ok(())
}
