//! Events that make no decision.

use riverrun_store::{
    Append, Placed,
    judge::{Extension, RunRow, StreamRow},
};
use riverrun_types::{Draft, RunId, StreamName};
use rusqlite::params;

use super::stream;
use crate::{core::Core, error::Worked, queue::life};

pub(super) fn extend(core: &Core, run: &RunId, row: RunRow) -> Worked<()> {
    core.conn
        .prepare_cached("UPDATE runs SET len = ?2, last_ms = ?3 WHERE no = ?1")?
        .execute((row.place, row.len, row.last_ms))?;
    core.recent.put(run, row);
    Ok(())
}

/// Adds events to a stream other than a run's. `written` are the streams that this commit has
/// written to, `stored` is the row before the commit. Returns the place of the caller's own events.
pub(super) fn add(
    core: &Core,
    written: &mut Vec<(StreamName, StreamRow)>,
    change: &Append,
    stored: Option<StreamRow>,
) -> Worked<Placed> {
    let known = written.iter().position(|(name, _)| *name == change.stream);
    let before = match known.and_then(|at| written.get(at)) {
        Some((_, row)) => Some(*row),
        None => stored,
    };
    let life = match change.stream.is_job() && !change.events.is_empty() {
        true => tell(core, &change.stream)?,
        false => Vec::new(),
    };
    let extension = Extension::of(before, life, &change.events);
    let no = core.next_no();
    if change.events.is_empty() {
        return Ok(extension.own(no));
    }
    let mut row = extension.row;
    if row.place != 0 {
        core.conn
            .prepare_cached("UPDATE streams SET len = ?2, last_ms = ?3 WHERE no = ?1")?
            .execute((row.place, row.len, row.last_ms))?;
    } else {
        let kind = core.names.number(&core.conn, &change.stream.kind)?;
        let floor_ms = extension.placed.floor_ms;
        let first = extension.drafts.first();
        let first_ms = first.map_or(floor_ms, |first| first.ms.max(floor_ms));
        core.conn
            .prepare_cached(
                "INSERT INTO streams (kind, id, len, created_ms, last_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                kind,
                &*change.stream.id,
                row.len,
                first_ms,
                row.last_ms
            ])?;
        row.place = core.conn.last_insert_rowid();
    }
    stream::write(core, -row.place, &extension.placed, &extension.drafts)?;
    match known.and_then(|at| written.get_mut(at)) {
        Some((_, known)) => *known = row,
        None => written.push((change.stream.clone(), row)),
    }
    Ok(extension.own(no))
}

/// The events of a job's life that its row holds and its stream is about to store.
fn tell(core: &Core, name: &StreamName) -> Worked<Vec<Draft>> {
    let Some((no, life)) = life::life(core, &name.id)? else {
        return Ok(Vec::new());
    };
    let unrecorded = life.unrecorded();
    if !unrecorded.is_empty() {
        life::record_stage(core, no, &life)?;
    }
    Ok(unrecorded)
}
