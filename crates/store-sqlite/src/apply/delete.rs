//! Removing a run and all that is its own.

use crate::{
    awaits,
    columns::Extra,
    core::Core,
    error::{Failure, Worked},
    log,
};

pub(crate) fn remove(core: &Core, run: i64) -> Worked<()> {
    let conn = &core.conn;
    let extra: Option<String> = conn
        .prepare_cached("DELETE FROM runs WHERE no = ?1 RETURNING extra")?
        .query_row([run], |row| row.get(0))?;
    if let Some(extra) = extra {
        for tag in Extra::read(&extra).map_err(Failure::Sql)?.tags {
            conn.prepare_cached("DELETE FROM tags WHERE tag = ?1 AND run = ?2")?
                .execute((&*tag, run))?;
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
