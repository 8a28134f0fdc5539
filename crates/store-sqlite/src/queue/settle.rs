//! Outcomes of attempts, judged by their leases.

use riverrun_store::{Error, Note, Settle, judge::JobRow};
use rusqlite::params;

use super::effect::{self, Target};
use crate::{
    columns::{Sealed, token_code},
    core::Core,
    error::{Failure, Worked},
};

/// Records an outcome that was judged.
pub(crate) fn settle(core: &Core, settle: &Settle, job: JobRow) -> Worked<()> {
    let target = Target {
        id: settle.lease.id.as_str(),
        job,
        key: None,
    };
    effect::apply(core, &target, settle.effect(job.cancel))
}

/// Stores the progress of a job whose lease was judged.
pub(crate) fn note(core: &Core, note: &Note) -> Worked<()> {
    if note.progress.is_none() && note.checkpoint.is_none() {
        return Ok(());
    }
    let noted = core
        .conn
        .prepare_cached(
            "UPDATE work SET progress = coalesce(?3, progress),
                    checkpoint = coalesce(?4, checkpoint)
             WHERE no = ?1 AND lease = ?2 AND state = 2",
        )?
        .execute(params![
            note.lease.place,
            token_code(note.lease.token),
            note.progress.as_ref().map(Sealed::json),
            note.checkpoint.as_ref().map(Sealed::json),
        ])?;
    if noted == 0 {
        return Err(Failure::Refused(Error::JobLost(note.lease.id.clone())));
    }
    Ok(())
}
