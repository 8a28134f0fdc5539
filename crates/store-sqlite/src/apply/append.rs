//! Events that take no decision.

use riverrun_store::{Append, Error, Placed};
use riverrun_types::{Draft, RunId, StreamName};
use rusqlite::params;

use super::{
    holds, refuse,
    scene::{Scene, StreamRow},
    stream,
};
use crate::{core::Core, error::Worked, queue::life};

pub(super) fn judge(core: &Core, scene: &mut Scene, change: &Append) -> Worked<()> {
    let (turn, len) = match change.stream.run() {
        Some(run) => match scene.run(core, &run)? {
            None => return refuse(Error::RunNotFound(run)),
            Some(row) if row.status.is_ended() => return refuse(Error::RunEnded(run)),
            Some(row) => (row.turn, row.len),
        },
        // A stream that is no run's takes no turns.
        None => (
            0,
            scene
                .stream(core, &change.stream)?
                .map_or(0, |row| row.now_len()),
        ),
    };
    if holds(change.expect, turn, len) {
        return Ok(());
    }
    refuse(Error::Conflict(RunId::new(&change.stream.id)))
}

/// Plays the change on the scene.
pub(super) fn foresee(core: &Core, scene: &mut Scene, change: &Append) -> Worked<()> {
    let added = change.events.len() as u64;
    if let Some(run) = change.stream.run() {
        let mut row = scene.known(core, &run)?;
        row.len += added;
        row.last_ms = stream::last_ms(row.last_ms, &change.events);
        scene.set_run(&run, Some(row));
    } else if added > 0 {
        let row = scene.stream(core, &change.stream)?;
        scene.set_stream(&change.stream, longer(row, change));
    }
    Ok(())
}

pub(super) fn append(core: &Core, scene: &mut Scene, change: &Append) -> Worked<Placed> {
    match change.stream.run() {
        Some(run) => append_to_run(core, scene, change, &run),
        None => append_to_stream(core, scene, change),
    }
}

fn append_to_run(core: &Core, scene: &mut Scene, change: &Append, run: &RunId) -> Worked<Placed> {
    let row = scene.known(core, run)?;
    let placed = stream::place(core, row.len, row.last_ms, &change.events);
    if change.events.is_empty() {
        return Ok(placed);
    }
    foresee(core, scene, change)?;
    let next = scene.known(core, run)?;
    core.conn
        .prepare_cached("UPDATE runs SET len = ?2, last_ms = ?3 WHERE no = ?1")?
        .execute((next.no, next.len, next.last_ms))?;
    core.recent.put(run, next);
    stream::write(core, row.no, &placed, &change.events)?;
    Ok(placed)
}

fn append_to_stream(core: &Core, scene: &mut Scene, change: &Append) -> Worked<Placed> {
    let row = scene.stream(core, &change.stream)?;
    let stored = row.filter(|row| row.no != 0);
    let (len, floor_ms) = stored.map_or((0, 0), |row| (row.len, row.last_ms));
    if change.events.is_empty() {
        return Ok(stream::place(core, len, floor_ms, &[]));
    }
    let mut before = match change.stream.is_job() {
        true => tell(core, &change.stream)?,
        false => Vec::new(),
    };
    let told = before.len() as u64;
    let all = match before.is_empty() {
        true => &change.events[..],
        false => {
            before.extend_from_slice(&change.events);
            &before[..]
        }
    };
    let placed = stream::place(core, len, floor_ms, all);
    let mut next = StreamRow {
        no: stored.map_or(0, |row| row.no),
        len: placed.len,
        last_ms: stream::last_ms(floor_ms, all),
        untold: 0,
    };
    if stored.is_some() {
        core.conn
            .prepare_cached("UPDATE streams SET len = ?2, last_ms = ?3 WHERE no = ?1")?
            .execute((next.no, next.len, next.last_ms))?;
    } else {
        let kind = core.names.number(&core.conn, &change.stream.kind)?;
        let first_ms = all.first().map_or(floor_ms, |first| first.ms.max(floor_ms));
        core.conn
            .prepare_cached(
                "INSERT INTO streams (kind, id, len, created_ms, last_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                kind,
                &*change.stream.id,
                next.len,
                first_ms,
                next.last_ms
            ])?;
        next.no = core.conn.last_insert_rowid();
    }
    scene.set_stream(&change.stream, next);
    stream::write(core, -next.no, &placed, all)?;
    // The caller is told where its own events landed.
    let last_told = all.get(..told as usize).unwrap_or_default();
    Ok(Placed {
        first: placed.first + told,
        floor_ms: stream::last_ms(floor_ms, last_told),
        len: placed.len,
        no: placed.no + told,
    })
}

/// What a job's row knows of its life, and its stream is about to hold.
fn tell(core: &Core, name: &StreamName) -> Worked<Vec<Draft>> {
    let Some((no, life)) = life::life(core, &name.id)? else {
        return Ok(Vec::new());
    };
    let untold = life.untold();
    if !untold.is_empty() {
        life::told(core, no, &life)?;
    }
    Ok(untold)
}

fn longer(row: Option<StreamRow>, change: &Append) -> StreamRow {
    let (no, len, floor_ms) = row.map_or((0, 0, 0), |row| (row.no, row.now_len(), row.last_ms));
    StreamRow {
        no,
        len: len + change.events.len() as u64,
        last_ms: stream::last_ms(floor_ms, &change.events),
        untold: 0,
    }
}
