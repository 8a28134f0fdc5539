//! The part of a job's row that the rules read.

use riverrun_store::{
    JobLease, JobState,
    judge::{Cancel, JobRow},
};
use riverrun_types::RunId;
use rusqlite::{Connection, OptionalExtension};

use super::{state, unique};
use crate::{
    columns::token_code,
    error::{Failure, Worked},
};

/// The row of a job that is still under this lease. It is read before it is changed: SQLite builds
/// a table for the rows that a change returns, which costs more than the change.
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
                name: unique::hold(row.get(2)?),
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
                name: unique::hold(row.get(4)?),
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

pub(super) fn cancel(code: i64) -> Cancel {
    match code {
        0 => Cancel::No,
        1 => Cancel::Yes,
        _ => Cancel::WithReason,
    }
}
