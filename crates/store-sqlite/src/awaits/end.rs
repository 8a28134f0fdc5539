//! Ending an await.

use riverrun_store::{AwaitState, judge::AwaitEnd};
use rusqlite::OptionalExtension;

use super::{CALLBACKS, CLOSED, OPEN, record::state, shapes};
use crate::{core::Core, error::Worked};

/// Applies the rules of an ended await ([`AwaitEnd`]), if it exists.
pub(crate) fn end(core: &Core, id: &str) -> Worked<()> {
    let conn = &core.conn;
    let found: Option<(i64, i64, i64)> = conn
        .prepare_cached("SELECT no, shape, state FROM awaits WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((no, shape, code)) = found else {
        return Ok(());
    };
    // Damage must not keep the await from ending.
    let state = state(code).unwrap_or(AwaitState::Fired);
    match AwaitEnd::of(shape == CALLBACKS, state) {
        AwaitEnd::Nothing => Ok(()),
        AwaitEnd::Closes => {
            conn.prepare_cached("UPDATE awaits SET state = ?2 WHERE no = ?1")?
                .execute((no, CLOSED))?;
            shapes::shut(conn, shape, usize::from(state == AwaitState::Open))
        }
        AwaitEnd::Removed => remove(core, no, shape, code),
    }
}

/// Deletes all awaits of a deleted run.
pub(crate) fn forget(core: &Core, run: i64) -> Worked<()> {
    let awaits: Vec<(i64, i64, i64)> = core
        .conn
        .prepare_cached("SELECT no, shape, state FROM awaits WHERE run = ?1")?
        .query_map([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (no, shape, state) in awaits {
        remove(core, no, shape, state)?;
    }
    Ok(())
}

fn remove(core: &Core, no: i64, shape: i64, state: i64) -> Worked<()> {
    let conn = &core.conn;
    conn.prepare_cached("DELETE FROM awaits WHERE no = ?1")?
        .execute([no])?;
    if state != OPEN {
        conn.prepare_cached("DELETE FROM answers WHERE await = ?1")?
            .execute([no])?;
    }
    shapes::leave(conn, shape, state == OPEN)
}
