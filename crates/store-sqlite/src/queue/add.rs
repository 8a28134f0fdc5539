//! Adding jobs.

use riverrun_store::{
    Added, ClaimedJob, JobState, NewJob, Unique,
    judge::{NameHold, NameVerdict, Takes},
};
use riverrun_types::{Name, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    Queue, lanes, state_code,
    unique::{self, Holder},
};
use crate::{
    columns::{Sealed, token_code},
    core::Core,
    error::Worked,
};

/// Data up to this size is stored in the job's row.
const INLINE: usize = 1_024;

/// The queue of the job with this id.
pub(crate) fn queue_of_job(conn: &Connection, id: &RunId) -> Worked<Option<Name>> {
    let queue = conn
        .prepare_cached(
            "SELECT q.name FROM work w JOIN queues q ON q.no = w.queue WHERE w.id = ?1",
        )?
        .query_row([id.as_str()], |row| row.get::<_, Name>(0))
        .optional()?;
    Ok(queue)
}

/// Adds a job, unless it exists already. It is claimed at once if the writer has room for it.
pub(crate) fn add(
    core: &Core,
    job: &NewJob,
    takes: Option<&mut Takes<'_>>,
) -> Worked<(Added, Option<ClaimedJob>)> {
    let (conn, queues) = (&core.conn, &mut *core.queues.borrow_mut());
    let queue = queues.named(conn, &job.queue, job.created_ms)?;
    if let Some(unique) = &job.unique
        && let Some(id) = known(conn, queue, unique, job)?
    {
        return Ok((Added { id, created: false }, None));
    }
    let lane = lanes::of(conn, queue, job.key.as_deref())?;
    let takes = takes.filter(|takes| takes.has_room(job, &queue.row));
    let state = match &takes {
        Some(_) => JobState::Active,
        None => job.state(),
    };
    let token = takes.as_ref().map(|takes| takes.token);
    let data = job.data.as_str();
    let inline = (data.len() <= INLINE).then_some(Sealed(data));
    let inserted = conn
        .prepare_cached(
            "INSERT OR IGNORE INTO work
                 (id, queue, lane, state, rank, at_ms, taken, created_ms, name, key, data, options,
                  lease, attempt, started_ms, correlation)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            job.id.as_str(),
            queue.no,
            lane,
            state_code(state),
            -i64::from(job.priority),
            job.ready_ms(),
            unique::code(NameHold::of(job.unique.as_ref())),
            job.created_ms,
            job.name.as_deref(),
            job.key.as_deref(),
            inline,
            job.options.as_ref().map(Sealed::json),
            token.map(token_code),
            i64::from(token.is_some()),
            takes.as_ref().map(|takes| takes.now_ms.max(job.created_ms)),
            job.correlation.as_deref(),
        ])?;
    let id = job.id.clone();
    if inserted == 0 {
        conn.prepare_cached("DELETE FROM lanes WHERE no = ?1 AND held = 0")?
            .execute([lane])?;
        return Ok((Added { id, created: false }, None));
    }
    let no = conn.last_insert_rowid();
    if inline.is_none() {
        conn.prepare_cached("INSERT INTO work_data (no, data) VALUES (?1, ?2)")?
            .execute((no, Sealed(data)))?;
    }
    if let Some(unique) = &job.unique {
        unique::take(conn, queue.no, unique, no)?;
    }
    lanes::shift(conn, queue, lane, None, Some(state))?;
    let claimed = takes.map(|takes| {
        takes.use_one(&job.queue);
        job.begun(no, takes.token)
    });
    Ok((Added { id, created: true }, claimed))
}

/// The job that has the name, if any. A replaceable one becomes the new one.
fn known(
    conn: &Connection,
    queue: &mut Queue,
    unique: &Unique,
    job: &NewJob,
) -> Worked<Option<RunId>> {
    let Some(holder) = unique::holder(conn, queue.no, &unique.key)? else {
        return Ok(None);
    };
    match unique.judge(&holder.row, job.created_ms) {
        NameVerdict::Free => return Ok(None),
        NameVerdict::Taken => {}
        NameVerdict::Replaces => replace(conn, queue, &holder, job)?,
    }
    Ok(Some(holder.id))
}

/// Replaces a delayed job by another one, whose time counts from now on.
fn replace(conn: &Connection, queue: &mut Queue, known: &Holder, job: &NewJob) -> Worked<()> {
    let state = job.state();
    let lane = lanes::of(conn, queue, job.key.as_deref())?;
    let data = job.data.as_str();
    let inline = (data.len() <= INLINE).then_some(Sealed(data));
    conn.prepare_cached(
        "UPDATE work SET data = ?2, at_ms = ?3, state = ?4, lane = ?5, rank = ?6, name = ?7,
                key = ?8, options = ?9, correlation = ?10
         WHERE no = ?1",
    )?
    .execute(params![
        known.no,
        inline,
        job.ready_ms(),
        state_code(state),
        lane,
        -i64::from(job.priority),
        job.name.as_deref(),
        job.key.as_deref(),
        job.options.as_ref().map(Sealed::json),
        job.correlation.as_deref(),
    ])?;
    conn.prepare_cached("DELETE FROM work_data WHERE no = ?1")?
        .execute([known.no])?;
    if inline.is_none() {
        conn.prepare_cached("INSERT INTO work_data (no, data) VALUES (?1, ?2)")?
            .execute((known.no, Sealed(data)))?;
    }
    // In this order: a lane that both share is not empty meanwhile.
    lanes::shift(conn, queue, lane, None, Some(state))?;
    lanes::shift(conn, queue, known.lane, Some(JobState::Delayed), None)
}
