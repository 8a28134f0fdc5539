//! Writing the effect of the rules on a job's row ([`JobEffect`]).

use riverrun_store::{
    JobState,
    judge::{Cancel, ErrorChange, JobEffect, JobRow, Losses},
};
use riverrun_types::{Json, Millis};
use rusqlite::{OptionalExtension, params};

use super::{lanes, state_code, unique};
use crate::{columns::Sealed, core::Core, error::Worked, log};

/// The job before an effect.
pub(super) struct Target<'a> {
    pub(super) id: &'a str,
    pub(super) job: JobRow,
    /// Its key, if it may join that key's lane again.
    pub(super) key: Option<&'a str>,
}

pub(super) fn apply(core: &Core, target: &Target<'_>, effect: JobEffect<'_>) -> Worked<()> {
    match effect {
        JobEffect::Ends {
            state,
            ended_ms,
            error,
            result,
            losses,
        } => {
            if losses != Losses::AsBefore {
                count_losses(core, target, losses)?;
            }
            end(core, target, state, ended_ms, &error, result)
        }
        JobEffect::Waits {
            state,
            at_ms,
            error,
            losses,
            is_uncounted,
        } => {
            let attempts = i64::from(is_uncounted);
            wait(core, target, state, at_ms, &error, losses, attempts)
        }
        JobEffect::BeginsAnew {
            state,
            at_ms,
            keeps_checkpoint,
        } => begin_anew(core, target, state, at_ms, keeps_checkpoint),
        JobEffect::Stops { cancel, error } => stop(core, target, cancel, &error),
        JobEffect::Ranks(priority) => {
            core.conn
                .prepare_cached("UPDATE work SET rank = ?2 WHERE no = ?1")?
                .execute((target.job.place, -i64::from(priority)))?;
            Ok(())
        }
        JobEffect::Removed => remove(core, target),
    }
}

fn end(
    core: &Core,
    target: &Target<'_>,
    state: JobState,
    ended_ms: Millis,
    error: &ErrorChange<'_>,
    result: Option<&Json>,
) -> Worked<()> {
    let job = &target.job;
    core.conn
        .prepare_cached(
            // The clock may have gone back.
            "UPDATE work SET state = ?2, lease = NULL, cancel = 0,
                    ended_ms = max(?3, coalesce(started_ms, created_ms)),
                    error = iif(?4, error, ?5), result = ?6
             WHERE no = ?1",
        )?
        .execute(params![
            job.place,
            state_code(state),
            ended_ms,
            error.keeps(),
            error.value().map(Sealed::json),
            result.map(Sealed::json),
        ])?;
    unique::end(&core.conn, job.place, job.name, state)?;
    shift(core, job, job.lane, Some(state))
}

fn count_losses(core: &Core, target: &Target<'_>, losses: Losses) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE work SET losses = losses + ?2,
                    losses_in_row = iif(?3, 0, losses_in_row + ?2)
             WHERE no = ?1",
        )?
        .execute(params![
            target.job.place,
            i64::from(losses == Losses::OneMore),
            losses == Losses::Ended,
        ])?;
    Ok(())
}

fn wait(
    core: &Core,
    target: &Target<'_>,
    state: JobState,
    at_ms: Millis,
    error: &ErrorChange<'_>,
    losses: Losses,
    attempts: i64,
) -> Worked<()> {
    let job = &target.job;
    core.conn
        .prepare_cached(
            "UPDATE work SET state = ?2, lease = NULL, at_ms = ?3, attempt = attempt - ?4,
                    error = iif(?5, error, ?6), losses = losses + ?7,
                    losses_in_row = iif(?8, 0, losses_in_row + ?7)
             WHERE no = ?1",
        )?
        .execute(params![
            job.place,
            state_code(state),
            at_ms,
            attempts,
            error.keeps(),
            error.value().map(Sealed::json),
            i64::from(losses == Losses::OneMore),
            losses == Losses::Ended,
        ])?;
    shift(core, job, job.lane, Some(state))
}

fn begin_anew(
    core: &Core,
    target: &Target<'_>,
    state: JobState,
    at_ms: Millis,
    keeps_checkpoint: bool,
) -> Worked<()> {
    let (conn, job) = (&core.conn, &target.job);
    let lane = {
        let queues = &mut *core.queues.borrow_mut();
        lanes::of(conn, queues.numbered(job.queue), target.key)?
    };
    conn.prepare_cached(
        "UPDATE work SET state = ?2, lane = ?3, at_ms = ?4, attempt = 0, losses = 0,
                losses_in_row = 0, started_ms = NULL, ended_ms = NULL, result = NULL,
                progress = NULL, told = min(told, 1), checkpoint = iif(?5, checkpoint, NULL)
         WHERE no = ?1",
    )?
    .execute(params![
        job.place,
        state_code(state),
        lane,
        at_ms,
        keeps_checkpoint
    ])?;
    unique::take_back(conn, job.place, job.name)?;
    shift(core, job, lane, Some(state))
}

fn stop(core: &Core, target: &Target<'_>, cancel: Cancel, error: &ErrorChange<'_>) -> Worked<()> {
    let code = match cancel {
        Cancel::No => 0,
        Cancel::Yes => 1,
        // The reason waits in `error` for the end.
        Cancel::WithReason => 2,
    };
    core.conn
        .prepare_cached("UPDATE work SET cancel = ?2, error = iif(?3, error, ?4) WHERE no = ?1")?
        .execute(params![
            target.job.place,
            code,
            error.keeps(),
            error.value().map(Sealed::json),
        ])?;
    Ok(())
}

/// Removes a job with all its data.
pub(super) fn remove(core: &Core, target: &Target<'_>) -> Worked<()> {
    let (conn, job) = (&core.conn, &target.job);
    conn.prepare_cached("DELETE FROM work WHERE no = ?1")?
        .execute([job.place])?;
    if job.is_large {
        conn.prepare_cached("DELETE FROM work_data WHERE no = ?1")?
            .execute([job.place])?;
    }
    if unique::code(job.name) != 0 {
        unique::forget(conn, job.place)?;
    }
    if job.has_stream {
        forget_stream(core, target.id)?;
    }
    let lane = if job.state.is_ended() { 0 } else { job.lane };
    shift(core, job, lane, None)
}

/// The events of the job's own stream, if it has one.
fn forget_stream(core: &Core, id: &str) -> Worked<()> {
    let Some(kind) = core.names.find("job") else {
        return Ok(());
    };
    let stream: Option<i64> = core
        .conn
        .prepare_cached("SELECT no FROM streams WHERE kind = ?1 AND id = ?2")?
        .query_row((kind, id), |row| row.get(0))
        .optional()?;
    if let Some(stream) = stream {
        core.conn
            .prepare_cached("DELETE FROM streams WHERE no = ?1")?
            .execute([stream])?;
        log::remove(core, "stream = ?1", [-stream])?;
    }
    Ok(())
}

fn shift(core: &Core, job: &JobRow, lane: i64, to: Option<JobState>) -> Worked<()> {
    let queues = &mut *core.queues.borrow_mut();
    let queue = queues.numbered(job.queue);
    lanes::shift(&core.conn, queue, lane, Some(job.state), to)
}
