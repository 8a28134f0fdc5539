//! The unique names of jobs: taking, releasing and taking back.

use riverrun_store::{
    JobState, Unique,
    judge::{NameFate, NameHold, NameRow},
};
use riverrun_types::{Millis, RunId, time::NEVER};
use rusqlite::{Connection, OptionalExtension};

use super::state;
use crate::error::{Failure, Worked};

/// When the name of a failed job is free: it has been for ever.
const FREE: Millis = 0;

/// The column `work.taken`.
pub(super) fn code(hold: NameHold) -> i64 {
    match hold {
        NameHold::None => 0,
        NameHold::UntilEnd => 1,
        NameHold::ForLonger => 2,
        NameHold::TakenBack => 3,
    }
}

/// A damaged one counts as the one that is freed.
pub(super) fn hold(code: i64) -> NameHold {
    match code {
        0 => NameHold::None,
        2 => NameHold::ForLonger,
        3 => NameHold::TakenBack,
        _ => NameHold::UntilEnd,
    }
}

/// The job that has a name, or had it last.
pub(super) struct Holder {
    pub(super) no: i64,
    pub(super) id: RunId,
    pub(super) lane: i64,
    pub(super) row: NameRow,
}

pub(super) fn holder(conn: &Connection, queue: i64, key: &str) -> Worked<Option<Holder>> {
    let found = conn
        .prepare_cached(
            "SELECT u.job, coalesce(w.id, u.id), w.state, coalesce(w.lane, 0),
                    coalesce(w.attempt, 0), coalesce(w.taken, 0), u.until_ms
             FROM uniques u LEFT JOIN work w ON w.no = u.job WHERE u.queue = ?1 AND u.key = ?2",
        )?
        .query_row((queue, key), |row| {
            let id: String = row.get(1)?;
            let holder = Holder {
                no: row.get(0)?,
                id: RunId::new(&id),
                lane: row.get(3)?,
                row: NameRow {
                    until_ms: row.get(6)?,
                    state: None,
                    attempt: row.get(4)?,
                    hold: hold(row.get(5)?),
                },
            };
            Ok((holder, row.get::<_, Option<i64>>(2)?))
        })
        .optional()?;
    let Some((mut holder, code)) = found else {
        return Ok(None);
    };
    holder.row.state = code.map(state).transpose().map_err(Failure::Sql)?;
    Ok(Some(holder))
}

/// Gives a job its name, which no other has.
pub(super) fn take(conn: &Connection, queue: i64, unique: &Unique, no: i64) -> Worked<()> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO uniques (queue, key, job, until_ms) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((queue, &*unique.key, no, unique.until_ms()))?;
    Ok(())
}

/// The name of a job that has ended.
pub(super) fn end(conn: &Connection, no: i64, hold: NameHold, state: JobState) -> Worked<()> {
    match hold.after(state) {
        NameFate::Stays => Ok(()),
        NameFate::Free => until(conn, no, FREE).map(drop),
        NameFate::Forgotten => forget(conn, no),
    }
}

/// Lets a job that is tried again have its name, unless another has had it since.
pub(super) fn take_back(conn: &Connection, no: i64, hold: NameHold) -> Worked<()> {
    if hold.is_until_end() && until(conn, no, NEVER)? {
        conn.prepare_cached("UPDATE work SET taken = ?2 WHERE no = ?1")?
            .execute((no, code(NameHold::TakenBack)))?;
    }
    Ok(())
}

pub(super) fn forget(conn: &Connection, no: i64) -> Worked<()> {
    conn.prepare_cached("DELETE FROM uniques WHERE job = ?1")?
        .execute([no])?;
    Ok(())
}

fn until(conn: &Connection, no: i64, until_ms: Millis) -> Worked<bool> {
    let changed = conn
        .prepare_cached("UPDATE uniques SET until_ms = ?2 WHERE job = ?1")?
        .execute((no, until_ms))?;
    Ok(changed > 0)
}
