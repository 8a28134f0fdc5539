//! Recording the use of triggers.

use riverrun_store::{Fired, Firing};
use rusqlite::params;

use crate::{columns::Sealed, core::Core, error::Worked};

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
