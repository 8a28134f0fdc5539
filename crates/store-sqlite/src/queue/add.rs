//! Adding jobs.

use riverrun_store::{Added, ClaimedJob, JobLease, NewJob, Unique};
use riverrun_types::{Millis, Name, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{ACTIVE, DELAYED, Queue, Queues, Takes, WAITING, lanes, unique};
use crate::{
    columns::{Sealed, token_code},
    core::Core,
    error::Worked,
};

/// Data up to this size stands in the job's row.
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

/// Adds a job, unless it is there already. It is claimed at once if whoever adds it has room.
pub(crate) fn add(
    core: &Core,
    job: &NewJob,
    takes: Option<&mut Takes>,
) -> Worked<(Added, Option<ClaimedJob>)> {
    let (conn, queues) = (&core.conn, &mut *core.queues.borrow_mut());
    let queue = queues.named(conn, &job.queue, job.created_ms)?.no;
    if let Some(unique) = &job.unique
        && let Some(known) = taken(conn, queues, queue, unique, job)?
    {
        let id = known;
        return Ok((Added { id, created: false }, None));
    }
    let queue = queues.numbered(queue);
    let lane = lanes::of(conn, queue, job.key.as_deref())?;
    let at_ms = ready_ms(job);
    let takes = takes.filter(|takes| at_ms <= job.created_ms && takes.has_room(queue));
    let state = match &takes {
        Some(_) => ACTIVE,
        None if at_ms > job.created_ms => DELAYED,
        None => WAITING,
    };
    let token = takes.as_ref().map(|takes| takes.token());
    let started_ms = takes.as_ref().map(|takes| takes.now_ms());
    let started_ms = started_ms.map(|started_ms| started_ms.max(job.created_ms));
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
            state,
            -i64::from(job.priority),
            at_ms,
            unique::code(job.unique.as_ref()),
            job.created_ms,
            job.name.as_deref(),
            job.key.as_deref(),
            inline,
            job.options.as_ref().map(Sealed::json),
            token.map(token_code),
            i64::from(token.is_some()),
            started_ms,
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
        takes.use_one(queue);
        claimed(job, no, takes.token())
    });
    Ok((Added { id, created: true }, claimed))
}

/// When it may begin: not before it is there, whatever was asked for.
fn ready_ms(job: &NewJob) -> Millis {
    job.at_ms
        .map_or(job.created_ms, |at_ms| at_ms.max(job.created_ms))
}

/// A job that is born active.
fn claimed(job: &NewJob, place: i64, token: u64) -> ClaimedJob {
    ClaimedJob {
        lease: JobLease {
            id: job.id.clone(),
            queue: job.queue.clone(),
            attempt: 1,
            place,
            token,
        },
        name: job.name.clone(),
        data: job.data.clone(),
        key: job.key.clone(),
        attempt: 1,
        losses: 0,
        losses_in_row: 0,
        created_ms: job.created_ms,
        ready_ms: ready_ms(job),
        options: job.options.clone(),
        checkpoint: None,
        has_stream: false,
    }
}

/// What the job that has a name is like.
struct ExistingJob {
    no: i64,
    id: String,
    /// None: retention has removed it, and its name is taken for a while yet.
    state: Option<i64>,
    lane: i64,
    attempt: i64,
    taken: i64,
    until_ms: Millis,
}

/// The job that has the name, if somebody does. One that may be replaced becomes the new one.
fn taken(
    conn: &Connection,
    queues: &mut Queues,
    queue: i64,
    unique: &Unique,
    job: &NewJob,
) -> Worked<Option<RunId>> {
    let known: Option<ExistingJob> = conn
        .prepare_cached(
            "SELECT u.job, coalesce(w.id, u.id), w.state, coalesce(w.lane, 0),
                    coalesce(w.attempt, 0), coalesce(w.taken, 0), u.until_ms
             FROM uniques u LEFT JOIN work w ON w.no = u.job WHERE u.queue = ?1 AND u.key = ?2",
        )?
        .query_row((queue, &*unique.key), |row| {
            Ok(ExistingJob {
                no: row.get(0)?,
                id: row.get(1)?,
                state: row.get(2)?,
                lane: row.get(3)?,
                attempt: row.get(4)?,
                taken: row.get(5)?,
                until_ms: row.get(6)?,
            })
        })
        .optional()?;
    let Some(known) = known else {
        return Ok(None);
    };
    let id = RunId::new(&known.id);
    if !unique.replace {
        return Ok((known.until_ms > job.created_ms).then_some(id));
    }
    // One that failed and waits for its next attempt has begun, as has one that is tried again.
    let has_begun = known.attempt > 0 || known.taken != unique::UNTIL_END;
    if known.state != Some(DELAYED) || has_begun {
        return Ok(None);
    }
    replace(conn, queues.numbered(queue), &known, job)?;
    Ok(Some(id))
}

/// Lets a delayed job become another one, whose time counts from now on.
fn replace(conn: &Connection, queue: &mut Queue, known: &ExistingJob, job: &NewJob) -> Worked<()> {
    let at_ms = ready_ms(job);
    let state = if at_ms > job.created_ms {
        DELAYED
    } else {
        WAITING
    };
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
        at_ms,
        state,
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
    // In this order: the lane that both may have is not empty meanwhile.
    lanes::shift(conn, queue, lane, None, Some(state))?;
    lanes::shift(conn, queue, known.lane, Some(DELAYED), None)
}
