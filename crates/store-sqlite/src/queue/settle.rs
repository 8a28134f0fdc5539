//! What becomes of attempts, judged by their leases.

use riverrun_store::{
    Error, JobLease, JobState, Note, Settle, Settled,
    judge::{Cancel, JobRow},
};
use riverrun_types::{Json, Millis, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{ACTIVE, DELAYED, PARKED, WAITING, lanes, state, state_code, steer, unique};
use crate::{
    columns::{Sealed, token_code},
    core::Core,
    error::{Failure, Worked},
};

/// The row of a job that is still under this lease. It is read before it is changed: for what a
/// change returns SQLite makes a table, which costs more than the change.
pub(crate) fn job_under(conn: &Connection, lease: &JobLease) -> Worked<Option<JobRow>> {
    let job = conn
        .prepare_cached(
            "SELECT queue, lane, taken, cancel, data IS NULL, told > 0 FROM work
             WHERE no = ?1 AND state = 2 AND lease = ?2",
        )?
        .query_row((lease.place, token_code(lease.token)), |row| {
            Ok(JobRow {
                place: lease.place,
                queue: row.get(0)?,
                lane: row.get(1)?,
                state: JobState::Active,
                unique: row.get(2)?,
                cancel: cancel(row.get(3)?),
                is_large: row.get(4)?,
                has_stream: row.get(5)?,
            })
        });
    Ok(job.optional()?)
}

/// The row of a job, with or without a lease.
pub(crate) fn job(conn: &Connection, id: &RunId) -> Worked<Option<JobRow>> {
    let job = conn
        .prepare_cached(
            "SELECT no, queue, lane, state, taken, cancel, data IS NULL, told > 0 FROM work
             WHERE id = ?1",
        )?
        .query_row([id.as_str()], |row| {
            let code: i64 = row.get(3)?;
            let job = JobRow {
                place: row.get(0)?,
                queue: row.get(1)?,
                lane: row.get(2)?,
                state: JobState::Waiting,
                unique: row.get(4)?,
                cancel: cancel(row.get(5)?),
                is_large: row.get(6)?,
                has_stream: row.get(7)?,
            };
            Ok((job, code))
        })
        .optional()?;
    job.map(|(job, code)| {
        let state = state(code).map_err(Failure::Sql)?;
        Ok(JobRow { state, ..job })
    })
    .transpose()
}

fn cancel(code: i64) -> Cancel {
    match code {
        0 => Cancel::No,
        1 => Cancel::Yes,
        _ => Cancel::WithReason,
    }
}

/// When a lease of jobs runs out.
pub(crate) fn lease_end(conn: &Connection, token: u64) -> Worked<Option<Millis>> {
    let until = conn
        .prepare_cached("SELECT until_ms FROM leases WHERE no = ?1")?
        .query_row([token_code(token)], |row| row.get(0))
        .optional()?;
    Ok(until)
}

fn lost(lease: &JobLease) -> Failure {
    Failure::Refused(Error::JobLost(lease.id.clone()))
}

/// Records an outcome that was judged.
pub(crate) fn settle(core: &Core, settle: &Settle, job: JobRow) -> Worked<()> {
    let Settle { lease, now_ms, .. } = settle;
    match &settle.outcome {
        // What failed before is forgotten: the stream knows it.
        Settled::Completed { result } => end(core, settle, job, 3, None, Some(result)),
        Settled::Failed { error } => end(core, settle, job, 4, Some(error), None),
        Settled::Cancelled { error } => end(core, settle, job, 5, Some(error), None),
        Settled::Retry { at_ms, error } => {
            let state = if *at_ms > *now_ms { DELAYED } else { WAITING };
            let lost = Losses::Ended;
            again(core, settle, job, state, *at_ms, Some(error), lost)
        }
        Settled::Lost { error } => {
            let lost = Losses::OneMore;
            again(core, settle, job, WAITING, *now_ms, Some(error), lost)
        }
        Settled::Parked { error } => {
            let lost = Losses::OneMore;
            again(core, settle, job, PARKED, *now_ms, Some(error), lost)
        }
        Settled::Released => {
            let lost = Losses::AsBefore;
            again(core, settle, job, WAITING, *now_ms, None, lost)
        }
        Settled::Dropped => {
            let owns = steer::Owns {
                no: job.place,
                queue: job.queue,
                lane: job.lane,
                state: ACTIVE,
                taken: job.unique,
                is_large: job.is_large,
                has_stream: job.has_stream,
            };
            owns.remove(core, lease.id.as_str())
        }
    }
}

fn end(
    core: &Core,
    settle: &Settle,
    job: JobRow,
    state: i64,
    error: Option<&Json>,
    result: Option<&Json>,
) -> Worked<()> {
    let (conn, lease) = (&core.conn, &settle.lease);
    conn.prepare_cached(
        "UPDATE work SET state = ?2, lease = NULL, cancel = 0,
                ended_ms = max(?3, coalesce(started_ms, created_ms)),
                error = CASE WHEN ?2 = 5 AND cancel = 2 THEN error ELSE ?4 END, result = ?5
         WHERE no = ?1",
    )?
    .execute(params![
        lease.place,
        state,
        settle.now_ms,
        error.map(Sealed::json),
        result.map(Sealed::json),
    ])?;
    let is_done = state == state_code(JobState::Completed);
    unique::free(conn, lease.place, job.unique, is_done)?;
    let queues = &mut *core.queues.borrow_mut();
    lanes::shift(
        conn,
        queues.numbered(job.queue),
        job.lane,
        Some(ACTIVE),
        Some(state),
    )
}

/// What an attempt's end does to the count of losses.
#[derive(Clone, Copy, PartialEq)]
enum Losses {
    OneMore,
    /// It was no loss: a row of them is over.
    Ended,
    AsBefore,
}

/// Lets a job wait again; without an error the attempt does not count. Nobody waits for one that
/// was cancelled: it has ended in the attempt that it was cancelled in.
fn again(
    core: &Core,
    settle: &Settle,
    job: JobRow,
    state: i64,
    at_ms: Millis,
    error: Option<&Json>,
    losses: Losses,
) -> Worked<()> {
    let (conn, lease) = (&core.conn, &settle.lease);
    conn.prepare_cached(
        "UPDATE work SET state = ?2, lease = NULL, at_ms = ?3,
                losses = losses + ?6, losses_in_row = iif(?7, 0, losses_in_row + ?6),
                attempt = attempt - CASE WHEN cancel = 0 THEN ?4 ELSE 0 END,
                error = CASE WHEN cancel = 2 THEN error ELSE coalesce(?5, error) END
         WHERE no = ?1",
    )?
    .execute(params![
        lease.place,
        state,
        at_ms,
        i64::from(error.is_none()),
        error.map(Sealed::json),
        i64::from(losses == Losses::OneMore),
        losses == Losses::Ended,
    ])?;
    lanes::shift(
        conn,
        core.queues.borrow_mut().numbered(job.queue),
        job.lane,
        Some(ACTIVE),
        Some(state),
    )?;
    match job.cancel {
        Cancel::No => Ok(()),
        Cancel::Yes | Cancel::WithReason => steer::stop(core, &lease.id, settle.now_ms),
    }
}

/// Keeps what is noted of a job whose lease was judged.
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
        return Err(lost(&note.lease));
    }
    Ok(())
}
