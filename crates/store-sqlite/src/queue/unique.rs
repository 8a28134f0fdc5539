//! The unique names of jobs: who has one, gives it up and takes it back.

use riverrun_store::{Lasts, Unique};
use riverrun_types::{Millis, time::NEVER};
use rusqlite::Connection;

use crate::error::Worked;

/// What `work.taken` says of a job: it has a name until it ends,
pub(super) const UNTIL_END: i64 = 1;
/// for longer than that,
const FOR_LONGER: i64 = 2;
/// or again until it ends, since it was tried again. Nobody takes the place of such a job.
const TAKEN_BACK: i64 = 3;

/// When a name is free whose job has failed: it has been for ever.
const FREE: Millis = 0;

pub(super) fn code(unique: Option<&Unique>) -> i64 {
    match unique.map(|unique| &unique.lasts) {
        None => 0,
        Some(Lasts::UntilEnd) => UNTIL_END,
        Some(Lasts::Always | Lasts::Until(_)) => FOR_LONGER,
    }
}

/// Gives a job its name, which nobody has.
pub(super) fn take(conn: &Connection, queue: i64, unique: &Unique, no: i64) -> Worked<()> {
    let until = match unique.lasts {
        Lasts::UntilEnd | Lasts::Always => NEVER,
        Lasts::Until(ms) => ms,
    };
    conn.prepare_cached(
        "INSERT OR REPLACE INTO uniques (queue, key, job, until_ms) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((queue, &*unique.key, no, until))?;
    Ok(())
}

/// Frees the name of a job that has ended. It stays known who had it where the job may be tried
/// again, until another takes it.
pub(super) fn free(conn: &Connection, no: i64, taken: i64, is_done: bool) -> Worked<()> {
    match taken {
        UNTIL_END | TAKEN_BACK if is_done => forget(conn, no),
        UNTIL_END | TAKEN_BACK => until(conn, no, FREE).map(drop),
        _ => Ok(()),
    }
}

/// Lets a job that is tried again have its name, unless another has had it since.
pub(super) fn take_back(conn: &Connection, no: i64, taken: i64) -> Worked<()> {
    if matches!(taken, UNTIL_END | TAKEN_BACK) && until(conn, no, NEVER)? {
        conn.prepare_cached("UPDATE work SET taken = ?2 WHERE no = ?1")?
            .execute((no, TAKEN_BACK))?;
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
