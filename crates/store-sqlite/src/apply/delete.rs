//! Removing a run and all its data.

use crate::{
    awaits,
    columns::{Extra, Payload},
    core::Core,
    error::Worked,
    log,
};

pub(crate) fn remove(core: &Core, run: i64) -> Worked<()> {
    let conn = &core.conn;
    let extra = conn
        .prepare_cached("DELETE FROM runs WHERE no = ?1 RETURNING extra")?
        .query_row([run], |row| Ok(row.get::<_, Option<Payload>>(0)))?;
    match extra.map(|extra| extra.map(|extra| Extra::read(&extra.0))) {
        Ok(None) => {}
        Ok(Some(Ok(extra))) => {
            for tag in extra.tags {
                conn.prepare_cached("DELETE FROM tags WHERE tag = ?1 AND run = ?2")?
                    .execute((&*tag, run))?;
            }
        }
        // A damaged row can be removed all the same; that scans every tag.
        Ok(Some(Err(_))) | Err(_) => {
            conn.prepare_cached("DELETE FROM tags WHERE run = ?1")?
                .execute([run])?;
        }
    }
    for sql in [
        "DELETE FROM snapshots WHERE run = ?1",
        "DELETE FROM jobs WHERE run = ?1",
    ] {
        conn.prepare_cached(sql)?.execute([run])?;
    }
    log::remove(core, "stream = ?1", [run])?;
    awaits::forget(core, run)
}
