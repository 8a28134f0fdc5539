//! Adding jobs.

use riverrun_store::{Added, ClaimedJob, JobLease, Lasts, NewQueued, Unique};
use riverrun_types::{Millis, RunId, time::NEVER};
use rusqlite::{Connection, OptionalExtension, params};

use super::{ACTIVE, DELAYED, Queues, Takes, WAITING, lanes};
use crate::{columns::token_code, core::Core, error::Worked};

/// Data up to this size stands in the job's row.
const INLINE: usize = 1_024;

/// Adds a job, unless it is there already. It is claimed at once if whoever adds it has room.
pub(crate) fn add(
    core: &Core,
    job: &NewQueued,
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
    let at_ms = job.at_ms.unwrap_or(job.created_ms);
    let takes = takes.filter(|takes| at_ms <= job.created_ms && takes.has_room(queue));
    let state = match &takes {
        Some(_) => ACTIVE,
        None if at_ms > job.created_ms => DELAYED,
        None => WAITING,
    };
    let token = takes.as_ref().map(|takes| takes.token());
    let started_ms = takes.as_ref().map(|takes| takes.now_ms());
    let data = job.data.as_str();
    let inline = (data.len() <= INLINE).then_some(data);
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
            job.unique.as_ref().map_or(0, taking),
            job.created_ms,
            job.name.as_deref(),
            job.key.as_deref(),
            inline,
            job.options.as_ref().map(riverrun_types::Json::as_str),
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
            .execute((no, data))?;
    }
    if let Some(unique) = &job.unique {
        let until = match unique.lasts {
            Lasts::UntilEnd | Lasts::Always => NEVER,
            Lasts::Until(ms) => ms,
        };
        conn.prepare_cached(
            "INSERT OR REPLACE INTO uniques (queue, key, job, until_ms) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((queue.no, &*unique.key, no, until))?;
    }
    lanes::shift(conn, queue, lane, None, Some(state))?;
    let claimed = takes.map(|takes| {
        takes.use_one(queue);
        claimed(job, no, takes.token())
    });
    Ok((Added { id, created: true }, claimed))
}

/// A job that is born active.
fn claimed(job: &NewQueued, place: i64, token: u64) -> ClaimedJob {
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
        created_ms: job.created_ms,
        ready_ms: job.at_ms.unwrap_or(job.created_ms),
        options: job.options.clone(),
        checkpoint: None,
    }
}

fn taking(unique: &Unique) -> i64 {
    match unique.lasts {
        Lasts::UntilEnd => 1,
        Lasts::Always | Lasts::Until(_) => 2,
    }
}

/// The job that has the name, if somebody does. One that may be replaced is given the new data.
fn taken(
    conn: &Connection,
    queues: &mut Queues,
    queue: i64,
    unique: &Unique,
    job: &NewQueued,
) -> Worked<Option<RunId>> {
    let known: Option<(i64, String, i64, i64, Millis)> = conn
        .prepare_cached(
            "SELECT w.no, w.id, w.state, w.lane, u.until_ms
             FROM uniques u JOIN work w ON w.no = u.job WHERE u.queue = ?1 AND u.key = ?2",
        )?
        .query_row((queue, &*unique.key), |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
            ))
        })
        .optional()?;
    let Some((no, id, state, lane, until_ms)) = known else {
        return Ok(None);
    };
    if unique.replace {
        if state != DELAYED {
            return Ok(None);
        }
        let at_ms = job.at_ms.unwrap_or(job.created_ms);
        let state = if at_ms > job.created_ms {
            DELAYED
        } else {
            WAITING
        };
        let data = job.data.as_str();
        let inline = (data.len() <= INLINE).then_some(data);
        conn.prepare_cached("UPDATE work SET data = ?2, at_ms = ?3, state = ?4 WHERE no = ?1")?
            .execute((no, inline, at_ms, state))?;
        conn.prepare_cached("DELETE FROM work_data WHERE no = ?1")?
            .execute([no])?;
        if inline.is_none() {
            conn.prepare_cached("INSERT INTO work_data (no, data) VALUES (?1, ?2)")?
                .execute((no, data))?;
        }
        lanes::shift(
            conn,
            queues.numbered(queue),
            lane,
            Some(DELAYED),
            Some(state),
        )?;
        return Ok(Some(RunId::new(&id)));
    }
    Ok((until_ms > job.created_ms).then(|| RunId::new(&id)))
}
