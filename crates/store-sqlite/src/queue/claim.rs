//! Claiming jobs: the candidates and the rows for [`riverrun_store::judge::claim`].

use riverrun_store::{
    ClaimJobs, ClaimedJob, ClaimedJobs, Error, JobLease, JobState,
    judge::{self, ClaimRows, LaneRow, QueueRow},
};
use riverrun_types::{Json, Millis, Name, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Queue, lanes, lease, unique};
use crate::{
    columns::{Payload, Sealed, damage, json, token_code},
    core::Core,
    error::{Failure, Worked, corrupt, translate},
};

/// The most delayed jobs that one claim makes waiting; the next one goes on.
const PROMOTED: usize = 4_096;

pub(crate) fn claim(core: &mut Core, claim: &ClaimJobs) -> Worked<ClaimedJobs> {
    let token = core.token();
    let (conn, queues) = (&core.conn, &mut *core.queues.borrow_mut());
    let Some(queue) = queues.find(&claim.queue) else {
        return Ok(ClaimedJobs::default());
    };
    let before = queue.row;
    let mut rows = Claiming {
        conn,
        queue,
        claim,
        token,
    };
    let claimed = judge::claim(&mut rows, claim)?;
    queue.is_changed |= queue.row != before;
    if !claimed.jobs.is_empty() {
        lease::write(conn, token, &claim.owner, claim.until_ms)?;
    }
    Ok(claimed)
}

/// The rows of the queue that is claimed from.
struct Claiming<'a> {
    conn: &'a Connection,
    queue: &'a mut Queue,
    claim: &'a ClaimJobs,
    token: u64,
}

impl ClaimRows for Claiming<'_> {
    type Error = Failure;

    fn queue(&mut self) -> &mut QueueRow {
        &mut self.queue.row
    }

    fn promote(&mut self, now_ms: Millis) -> Worked<()> {
        promote(self.conn, self.queue, now_ms)
    }

    fn next_delayed(&mut self) -> Worked<Option<Millis>> {
        next_delayed(self.conn, self.queue)
    }

    fn lanes(&mut self, active_below: i64, most: i64) -> Worked<Vec<LaneRow>> {
        lanes::ready(self.conn, self.queue.no, active_below, most)
    }

    fn set_turn(&mut self, lane: i64, turn: i64) -> Worked<()> {
        lanes::set_turn(self.conn, lane, turn)
    }

    fn begin(&mut self, lane: i64, most: i64) -> Worked<Vec<ClaimedJob>> {
        begin(self.conn, self.queue, self.claim, self.token, lane, most)
    }

    fn oldest(&mut self, lane: i64, jobs: i64) -> Worked<Option<Millis>> {
        let since_ms = self
            .conn
            .prepare_cached(
                "SELECT min(at_ms) FROM (SELECT at_ms FROM work
                 WHERE queue = ?1 AND lane = ?2 AND state = 0 ORDER BY rank, no LIMIT ?3)",
            )?
            .query_row((self.queue.no, lane, jobs), |row| row.get(0))?;
        Ok(since_ms)
    }
}

/// Makes delayed jobs whose time has come waiting.
pub(super) fn promote(conn: &Connection, queue: &mut Queue, now: Millis) -> Worked<()> {
    if queue.row.delayed == 0 {
        return Ok(());
    }
    let due: Vec<(i64, i64)> = conn
        .prepare_cached(
            "SELECT no, lane FROM work WHERE queue = ?1 AND state = 1 AND at_ms <= ?2
             ORDER BY at_ms LIMIT ?3",
        )?
        .query_map((queue.no, now, PROMOTED), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (no, lane) in due {
        conn.prepare_cached("UPDATE work SET state = 0 WHERE no = ?1")?
            .execute([no])?;
        lanes::shift(
            conn,
            queue,
            lane,
            Some(JobState::Delayed),
            Some(JobState::Waiting),
        )?;
    }
    Ok(())
}

fn next_delayed(conn: &Connection, queue: &Queue) -> Worked<Option<Millis>> {
    if queue.row.delayed == 0 {
        return Ok(None);
    }
    Ok(conn
        .prepare_cached(
            "SELECT at_ms FROM work WHERE queue = ?1 AND state = 1 ORDER BY at_ms LIMIT 1",
        )?
        .query_row([queue.no], |row| row.get(0))
        .optional()?)
}

fn begin(
    conn: &Connection,
    queue: &mut Queue,
    claim: &ClaimJobs,
    token: u64,
    lane: i64,
    most: i64,
) -> Worked<Vec<ClaimedJob>> {
    let mut damaged = Vec::new();
    let mut jobs: Vec<(i64, ClaimedJob)> = {
        let mut statement = conn.prepare_cached(
            "UPDATE work SET state = 2, lease = ?1, attempt = attempt + 1,
                    started_ms = max(?2, created_ms), told = min(told, 1)
             WHERE no IN (SELECT no FROM work WHERE queue = ?3 AND lane = ?4 AND state = 0
                          ORDER BY rank, no LIMIT ?5)
             RETURNING no, id, name, data, key, attempt, created_ms, options, checkpoint, at_ms,
                       told > 0, losses, losses_in_row, rank",
        )?;
        let mut rows = statement.query(params![
            token_code(token),
            claim.now_ms,
            queue.no,
            lane,
            most
        ])?;
        let mut jobs = Vec::new();
        while let Some(row) = rows.next()? {
            match whole(claimed(row, &claim.queue, token))? {
                Ok(job) => jobs.push((row.get(13).unwrap_or_default(), job)),
                Err(error) => damaged.push(Damaged::of(row, error)?),
            }
        }
        jobs
    };
    jobs.sort_by_key(|(rank, job)| (*rank, job.lease.place));
    let mut taken = Vec::with_capacity(jobs.len());
    for (_, mut job) in jobs {
        lanes::shift(
            conn,
            queue,
            lane,
            Some(JobState::Waiting),
            Some(JobState::Active),
        )?;
        if job.data.is_null() {
            match whole(large(conn, job.lease.place))? {
                Ok(data) => job.data = data,
                Err(error) => {
                    let (no, id) = (job.lease.place, job.lease.id.clone());
                    Damaged { no, id, error }.fail(conn, queue, lane, claim.now_ms)?;
                    continue;
                }
            }
        }
        taken.push(job);
    }
    for job in damaged {
        lanes::shift(
            conn,
            queue,
            lane,
            Some(JobState::Waiting),
            Some(JobState::Active),
        )?;
        job.fail(conn, queue, lane, claim.now_ms)?;
    }
    Ok(taken)
}

/// An active job with damaged data that its handler needs.
pub(super) struct Damaged {
    no: i64,
    id: RunId,
    error: Error,
}

impl Damaged {
    /// Reads a row that begins with `no, id`.
    pub(super) fn of(row: &Row<'_>, error: Error) -> Worked<Self> {
        let id: String = row.get(1)?;
        Ok(Self {
            no: row.get(0)?,
            id: RunId::new(&id),
            error,
        })
    }

    /// Ends the job: no attempt can succeed, and it must not block those behind it. A flow that
    /// waits for it goes on waiting, and undoes nothing.
    pub(super) fn fail(
        &self,
        conn: &Connection,
        queue: &mut Queue,
        lane: i64,
        now: Millis,
    ) -> Worked<()> {
        tracing::error!(job = %self.id, error = %self.error, "the job is damaged; it has failed");
        let error = damage(&self.error.to_string());
        conn.prepare_cached(
            "UPDATE work SET state = 4, lease = NULL, cancel = 0, error = ?3,
                    ended_ms = max(?2, coalesce(started_ms, created_ms))
             WHERE no = ?1",
        )?
        .execute((self.no, now, Sealed::json(&error)))?;
        let taken: i64 = conn
            .prepare_cached("SELECT taken FROM work WHERE no = ?1")?
            .query_row([self.no], |row| Ok(row.get(0).unwrap_or_default()))?;
        unique::end(conn, self.no, unique::hold(taken), JobState::Failed)?;
        lanes::shift(
            conn,
            queue,
            lane,
            Some(JobState::Active),
            Some(JobState::Failed),
        )
    }
}

/// Separates damage of the row that was read from failures that void the transaction.
pub(super) fn whole<T>(read: Worked<T>) -> Worked<std::result::Result<T, Error>> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(
            Failure::Refused(error @ Error::Corrupt(_)) | Failure::Sql(error @ Error::Corrupt(_)),
        ) => Ok(Err(error)),
        Err(failure) => Err(failure),
    }
}

/// The columns `no, id, name, data, key, attempt, created_ms, options, checkpoint, at_ms, told > 0,
/// losses, losses_in_row`.
/// Data that is kept apart is null.
pub(super) fn claimed(row: &Row<'_>, queue: &Name, token: u64) -> Worked<ClaimedJob> {
    let text = |at: usize| row.get::<_, Option<String>>(at);
    let parsed = |at: usize, name: &str| {
        let read = || {
            let payload: Option<Payload> = row.get(at).map_err(translate)?;
            payload.map(json).transpose()
        };
        read().map_err(|error| match error {
            Error::Corrupt(text) => Failure::Refused(corrupt(format_args!("its {name}: {text}"))),
            error => Failure::Sql(error),
        })
    };
    let id: String = row.get(1)?;
    Ok(ClaimedJob {
        lease: JobLease {
            id: RunId::new(&id),
            queue: queue.clone(),
            attempt: row.get(5)?,
            place: row.get(0)?,
            token,
        },
        name: text(2)?.map(Name::from),
        data: parsed(3, "data")?.unwrap_or_else(Json::null),
        key: text(4)?.map(Name::from),
        attempt: row.get(5)?,
        losses: row.get(11)?,
        losses_in_row: row.get(12)?,
        created_ms: row.get(6)?,
        options: parsed(7, "options")?,
        checkpoint: parsed(8, "checkpoint")?,
        ready_ms: row.get(9)?,
        has_stream: row.get(10)?,
    })
}

/// Data that is too large for the row; null if it is null.
fn large(conn: &Connection, no: i64) -> Worked<Json> {
    let data = conn
        .prepare_cached("SELECT data FROM work_data WHERE no = ?1")?
        .query_row([no], |row| Ok(row.get::<_, Payload>(0)))
        .optional()?;
    let Some(data) = data else {
        return Ok(Json::null());
    };
    match data.map_err(translate).and_then(json) {
        Ok(data) => Ok(data),
        Err(error @ Error::Corrupt(_)) => Err(Failure::Refused(error)),
        Err(error) => Err(Failure::Sql(error)),
    }
}
