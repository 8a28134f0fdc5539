//! The events of a job's life in its row, for its stream.

use riverrun_store::{Life, LifeStage, Result};
use riverrun_types::Name;
use rusqlite::{OptionalExtension, Row};

use super::state;
use crate::{
    columns::{Payload, json},
    core::Core,
    error::{Failure, Worked, translate},
};

/// The columns that [`read`] takes, of `work w` and its queue `q`.
pub(crate) const COLUMNS: &str = "w.no, q.name, w.name, w.state, w.attempt, w.created_ms,
    w.started_ms, w.ended_ms, w.told, iif(w.state = 3, w.result, NULL),
    iif(w.state IN (4, 5), w.error, NULL)";

/// The life, and the number of its row.
pub(crate) fn read(row: &Row<'_>) -> Result<(i64, Life)> {
    let text = |at: usize| row.get::<_, Option<String>>(at).map_err(translate);
    let parsed = |at: usize| {
        let payload: Option<Payload> = row.get(at).map_err(translate)?;
        payload.map(json).transpose()
    };
    let life = Life {
        queue: Name::from(text(1)?.unwrap_or_default()),
        name: text(2)?.map(Name::from),
        state: state(row.get(3).map_err(translate)?)?,
        attempt: row.get(4).map_err(translate)?,
        created_ms: row.get(5).map_err(translate)?,
        started_ms: row.get(6).map_err(translate)?,
        ended_ms: row.get(7).map_err(translate)?,
        recorded: LifeStage::from_code(row.get(8).map_err(translate)?),
        result: parsed(9)?,
        error: parsed(10)?,
    };
    Ok((row.get(0).map_err(translate)?, life))
}

/// The life of a job as the writer sees it.
pub(crate) fn life(core: &Core, id: &str) -> Worked<Option<(i64, Life)>> {
    let sql =
        format!("SELECT {COLUMNS} FROM work w JOIN queues q ON q.no = w.queue WHERE w.id = ?1");
    let mut statement = core.conn.prepare_cached(&sql)?;
    let found = statement
        .query_row([id], |row| Ok(read(row)))
        .optional()?
        .transpose();
    found.map_err(Failure::Refused)
}

/// The stream holds all of it now.
pub(crate) fn record_stage(core: &Core, no: i64, life: &Life) -> Worked<()> {
    core.conn
        .prepare_cached("UPDATE work SET told = ?2 WHERE no = ?1")?
        .execute((no, life.stage().code()))?;
    Ok(())
}
