//! Triggers are used.

use riverrun_store::{Error, Fired, Firing};
use rusqlite::params;

use super::put::{Foreseen, Row};
use crate::{
    columns::Sealed,
    core::Core,
    error::{Failure, Worked},
};

/// Judges a firing and notes what it leaves.
pub(crate) fn judge_fire(core: &Core, seen: &mut Foreseen, firing: &Firing) -> Worked<()> {
    let row = seen.row(core, &firing.trigger)?;
    if !row.is_there {
        return Err(Failure::Refused(Error::TriggerNotFound(
            firing.trigger.clone(),
        )));
    }
    let Some(take) = firing.due else {
        return Ok(());
    };
    if row.version != take.version || row.due_ms != Some(take.from_ms) {
        return Err(Failure::Refused(Error::TriggerMoved(
            firing.trigger.clone(),
        )));
    }
    seen.set(
        &firing.trigger,
        Row {
            due_ms: take.to_ms,
            ..row
        },
    );
    Ok(())
}

pub(crate) fn fire(core: &Core, firing: &Firing) -> Worked<()> {
    let id = &*firing.trigger;
    match &firing.outcome {
        Fired::Run(run) => core
            .conn
            .prepare_cached(
                "UPDATE triggers SET fired = fired + 1, last_fired_ms = ?2, last_run = ?3
                 WHERE id = ?1",
            )?
            .execute(params![id, firing.now_ms, run.as_str()])?,
        Fired::Failed(error) => core
            .conn
            .prepare_cached(
                "UPDATE triggers SET failed = failed + 1, last_failed_ms = ?2, last_error = ?3
                 WHERE id = ?1",
            )?
            .execute(params![id, firing.now_ms, Sealed::json(error)])?,
        Fired::Nothing => 0,
    };
    if let Some(take) = firing.due {
        core.conn
            .prepare_cached("UPDATE triggers SET due_ms = ?2, missed = missed + ?3 WHERE id = ?1")?
            .execute(params![id, take.to_ms, take.missed])?;
    }
    Ok(())
}
