//! A decision about a run that exists.

use riverrun_store::{Advance, Snapshot, judge::RunRow};
use riverrun_types::RunStatus;
use rusqlite::params;

use crate::{
    columns::{self, Sealed},
    core::Core,
    error::Worked,
};

pub(super) fn advance(core: &Core, change: &Advance, status: RunStatus, row: RunRow) -> Worked<()> {
    update(core, status, row, change)?;
    if let Some(snapshot) = &change.snapshot {
        keep_snapshot(core, row.place, snapshot)?;
    }
    core.recent.put(&change.run, row);
    Ok(())
}

fn update(core: &Core, status: RunStatus, next: RunRow, change: &Advance) -> Worked<()> {
    let projection = &change.projection;
    let error = projection.error.as_ref().map(Sealed::json);
    if status == next.status && projection.ended_ms.is_none() {
        // Only a run that has ended has an ending time, so no index changes: leave them alone.
        core.conn
            .prepare_cached(
                "UPDATE runs SET len = ?2, turn = ?3, last_ms = ?4, wake_ms = ?5, error = ?6
                 WHERE no = ?1",
            )?
            .execute(params![
                next.place,
                next.len,
                next.turn,
                next.last_ms,
                projection.wake_ms,
                error
            ])?;
    } else {
        core.conn
            .prepare_cached(
                "UPDATE runs SET len = ?2, turn = ?3, last_ms = ?4, wake_ms = ?5, error = ?6,
                                 status = ?7, ended_ms = ?8
                 WHERE no = ?1",
            )?
            .execute(params![
                next.place,
                next.len,
                next.turn,
                next.last_ms,
                projection.wake_ms,
                error,
                columns::status_code(next.status),
                projection.ended_ms
            ])?;
    }
    Ok(())
}

pub(super) fn keep_snapshot(core: &Core, run: i64, snapshot: &Snapshot) -> Worked<()> {
    core.conn
        .prepare_cached("INSERT OR REPLACE INTO snapshots (run, len, body) VALUES (?1, ?2, ?3)")?
        .execute((run, snapshot.len, Sealed::json(&snapshot.body)))?;
    Ok(())
}
