//! Firing an await.

use riverrun_store::{Error, Fire};
use riverrun_types::{Millis, RunId};

use super::{FIRED, OPEN, Wakes, shapes};
use crate::{
    apply,
    columns::Sealed,
    core::Core,
    error::{Failure, Worked},
};

/// The columns of an await's row that firing needs.
pub(super) struct Target {
    pub(super) no: i64,
    pub(super) run: i64,
    pub(super) run_id: RunId,
    /// How often it was fired before.
    pub(super) fired: u32,
}

/// Fires an await that is known to be open.
pub(crate) fn fire(core: &Core, fire: &Fire, wakes: &mut Wakes) -> Worked<()> {
    let found = core
        .conn
        .prepare_cached(
            "SELECT a.no, a.run, r.id, a.fired, a.shape, a.state
             FROM awaits a JOIN runs r ON r.no = a.run WHERE a.id = ?1",
        )?
        .query_row([&*fire.id], |row| {
            let run_id: String = row.get(2)?;
            let target = Target {
                no: row.get(0)?,
                run: row.get(1)?,
                run_id: RunId::new(&run_id),
                fired: row.get(3)?,
            };
            Ok((target, row.get::<_, i64>(4)?, row.get::<_, i64>(5)?))
        });
    let (target, shape, state) = match found {
        Ok(found) => found,
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            return Err(Failure::Refused(Error::AwaitNotFound(fire.id.clone())));
        }
        Err(error) => return Err(error.into()),
    };
    give(core, &target, fire.value.as_str(), fire.now_ms, wakes)?;
    shapes::shut(&core.conn, shape, usize::from(state == OPEN))
}

/// Keeps the value and wakes the run. The caller, which may fire many, updates the shape's count.
pub(super) fn give(
    core: &Core,
    target: &Target,
    value: &str,
    now_ms: Millis,
    wakes: &mut Wakes,
) -> Worked<()> {
    let conn = &core.conn;
    conn.prepare_cached(
        "UPDATE awaits SET state = ?2, fired = fired + 1, fired_ms = ?3 WHERE no = ?1",
    )?
    .execute((target.no, FIRED, now_ms))?;
    conn.prepare_cached("INSERT INTO answers (await, at, value) VALUES (?1, ?2, ?3)")?
        .execute((target.no, target.fired, Sealed(value)))?;
    apply::wake(core, target.run)?;
    wakes.woken.push(target.run_id.clone());
    Ok(())
}
