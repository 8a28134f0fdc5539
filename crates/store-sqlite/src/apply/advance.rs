//! A decision about a run that exists.

use riverrun_store::{Advance, Lease, Placed, Snapshot};
use rusqlite::params;

use super::{RunRow, job, scene::Scene, stream};
use crate::{
    awaits::Told,
    columns::{self, Sealed},
    core::Core,
    error::Worked,
};

/// What the run's row will say.
pub(super) fn foreseen(row: RunRow, change: &Advance) -> RunRow {
    RunRow {
        no: row.no,
        status: change.projection.status,
        len: row.len + change.events.len() as u64,
        turn: row.turn + 1,
        last_ms: stream::last_ms(row.last_ms, &change.events),
    }
}

pub(super) fn advance(
    core: &Core,
    scene: &mut Scene,
    change: &Advance,
    lease: Option<&Lease>,
    told: &mut Told,
) -> Worked<Placed> {
    let row = scene.known(core, &change.run)?;
    let next = foreseen(row, change);
    update(core, row, next, change)?;
    let placed = stream::place(core, row.len, row.last_ms, &change.events);
    stream::write(core, row.no, &placed, &change.events)?;
    let token = lease
        .filter(|lease| lease.run == change.run)
        .map(|lease| lease.token);
    if job::change(core, row.no, change.job, token)? {
        told.woken.push(change.run.clone());
    }
    if let Some(snapshot) = &change.snapshot {
        keep_snapshot(core, row.no, snapshot)?;
    }
    core.recent.put(&change.run, next);
    scene.set_run(&change.run, Some(next));
    Ok(placed)
}

fn update(core: &Core, row: RunRow, next: RunRow, change: &Advance) -> Worked<()> {
    let projection = &change.projection;
    let error = projection.error.as_ref().map(Sealed::json);
    if row.status == next.status && projection.ended_ms.is_none() {
        // Only a run that has ended has an ending time, so no index changes: leave them alone.
        core.conn
            .prepare_cached(
                "UPDATE runs SET len = ?2, turn = ?3, last_ms = ?4, wake_ms = ?5, error = ?6
                 WHERE no = ?1",
            )?
            .execute(params![
                next.no,
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
                next.no,
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
