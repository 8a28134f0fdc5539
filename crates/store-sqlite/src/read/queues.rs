//! Queues and their jobs.

use riverrun_store::{
    Error, EventQuery, JobFilter, JobRecord, JobState, MAX_AHEAD, Page, QueueRecord, RateWindow,
    Result, Wanted,
};
use riverrun_types::{Json, Millis, Name, RunId};
use rusqlite::{OptionalExtension, Row, types::Value};

use super::{View, lists::MAX_PAGE};
use crate::{
    columns::Payloads,
    error::translate,
    queue::{state, state_code},
};

/// The most jobs that one filtered page reads.
const LOOKED_AT: usize = 10_000;

const COLUMNS: &str = "w.no, w.id, q.name, w.name, w.state, coalesce(w.data, d.data), w.rank,
    w.key, w.attempt, w.created_ms, w.at_ms, w.started_ms, w.ended_ms, w.cancel, w.options,
    w.progress, w.checkpoint, w.result, w.error, l.owner, l.until_ms, w.lane";
const TABLES: &str = "work w JOIN queues q ON q.no = w.queue
    LEFT JOIN work_data d ON d.no = w.no LEFT JOIN leases l ON l.no = w.lease";

pub(crate) fn job(view: View<'_>, id: &RunId) -> Result<Option<JobRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE w.id = ?1");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query([id.as_str()]).map_err(translate)?;
    match rows.next().map_err(translate)? {
        Some(row) => record(row).map(Some),
        None => Ok(None),
    }
}

/// Numbers grow with every job that is added.
pub(crate) fn newest_job(view: View<'_>) -> Result<Option<RunId>> {
    let id: Option<String> = view
        .conn
        .prepare_cached("SELECT id FROM work ORDER BY no DESC LIMIT 1")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .map_err(translate)?;
    Ok(id.map(|id| RunId::new(&id)))
}

/// One read of the index of waiting jobs, as far as it has to be counted. In two parts, because
/// SQLite uses only the first half of a comparison of pairs and reads everything behind the job
/// too.
pub(crate) fn jobs_ahead(view: View<'_>, id: &RunId) -> Result<Option<u64>> {
    let read = || -> rusqlite::Result<Option<u64>> {
        let place = view
            .conn
            .prepare_cached("SELECT queue, lane, rank, no FROM work WHERE id = ?1 AND state = 0")?
            .query_row([id.as_str()], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?])
            })
            .optional()?;
        let Some([queue, lane, rank, no]) = place else {
            return Ok(None);
        };
        view.conn
            .prepare_cached(
                "SELECT count(*) FROM (
                     SELECT 1 FROM work
                     WHERE queue = ?1 AND lane = ?2 AND state = 0 AND rank < ?3
                     UNION ALL SELECT 1 FROM work
                     WHERE queue = ?1 AND lane = ?2 AND state = 0 AND rank = ?3 AND no < ?4
                     LIMIT ?5)",
            )?
            .query_row((queue, lane, rank, no, MAX_AHEAD), |row| row.get(0))
            .map(Some)
    };
    read().map_err(translate)
}

/// A key without jobs has no lane.
pub(crate) fn active_of_key(view: View<'_>, queue: &str, key: &str) -> Result<u64> {
    let read = || -> rusqlite::Result<Option<u64>> {
        view.conn
            .prepare_cached(
                "SELECT l.active FROM queues q JOIN lanes l ON l.queue = q.no
                 WHERE q.name = ?1 AND l.key = ?2",
            )?
            .query_row((queue, key), |row| row.get(0))
            .optional()
    };
    Ok(read().map_err(translate)?.unwrap_or_default())
}

fn record(row: &Row<'_>) -> Result<JobRecord> {
    let mut columns = Payloads::of(row);
    let id: String = columns.plain(1, "the id")?;
    let state = row.get(4).map_err(translate).and_then(state);
    // It can be removed.
    let state = columns
        .whole("the state", state)?
        .unwrap_or(JobState::Parked);
    let at_ms: Option<Millis> = columns.plain(10, "its time")?;
    let mut record = JobRecord {
        id: RunId::new(&id),
        queue: columns.plain(2, "the queue")?,
        name: columns.plain(3, "the name")?,
        state,
        data: columns.json(5, "data")?.unwrap_or_else(Json::null),
        priority: i32::try_from(0_i64.saturating_sub(columns.plain(6, "the priority")?))
            .unwrap_or_default(),
        key: columns.plain(7, "the key")?,
        attempt: columns.plain(8, "the attempt")?,
        created_ms: columns.plain(9, "the time of its creation")?,
        at_ms: at_ms.filter(|_| matches!(state, JobState::Delayed | JobState::Parked)),
        started_ms: columns.plain(11, "the time of its beginning")?,
        ended_ms: columns.plain(12, "the time of its end")?,
        cancelling: columns.plain::<i64>(13, "whether it is cancelled")? != 0,
        options: columns.json(14, "options")?,
        progress: columns.json(15, "progress")?,
        checkpoint: columns.json(16, "checkpoint")?,
        result: columns.json(17, "result")?,
        error: columns.json(18, "error")?,
        owner: columns.plain(19, "the worker")?,
        until_ms: columns.plain(20, "the end of its lease")?,
    };
    record.error = columns.damage().or(record.error);
    Ok(record)
}

/// A place in a list: the state, and the last job's key in the order of that state.
struct Place {
    state: JobState,
    key: [i64; 3],
}

/// How the jobs of a state are ordered: by which three numbers, and whether downwards.
fn order(state: JobState) -> ([&'static str; 3], bool) {
    match state {
        JobState::Waiting => (["w.lane", "w.rank", "w.no"], false),
        JobState::Delayed => (["w.at_ms", "w.no", "w.queue"], false),
        JobState::Active | JobState::Parked => (["w.no", "w.queue", "w.queue"], false),
        _ => (["w.ended_ms", "w.no", "w.queue"], true),
    }
}

/// One state after the other, each in its own order, which its index has.
pub(crate) fn list_jobs(view: View<'_>, filter: &JobFilter) -> Result<Page<JobRecord>> {
    let bad = || {
        let cursor = filter.cursor.as_deref().unwrap_or_default();
        Error::BadCursor(cursor.chars().take(64).collect())
    };
    let cursor = filter
        .cursor
        .as_deref()
        .map(|text| read_cursor(text).ok_or_else(bad));
    let mut cursor = cursor.transpose()?;
    let limit = filter.limit.clamp(1, MAX_PAGE);
    let number: Option<i64> = view
        .conn
        .prepare_cached("SELECT no FROM queues WHERE name = ?1")
        .and_then(|mut find| {
            find.query_row([&*filter.queue], |row| row.get(0))
                .optional()
        })
        .map_err(translate)?;
    let number = number.ok_or_else(|| Error::QueueNotFound(filter.queue.to_string()))?;
    let states: Vec<JobState> = JobState::ALL
        .into_iter()
        .filter(|state| filter.states.is_empty() || filter.states.contains(state))
        .collect();
    // If the state of the cursor is not selected (any more), the list goes on with the next one.
    let from = cursor.as_ref().map_or(0, |place| {
        let rank = |state: &JobState| JobState::ALL.iter().position(|known| known == state);
        let is_left = |state: &JobState| rank(state) >= rank(&place.state);
        states.iter().position(is_left).unwrap_or(states.len())
    });
    let mut list = List {
        wanted: &filter.wanted,
        limit,
        left: LOOKED_AT,
        room: EventQuery::PAGE_BYTES,
        items: Vec::new(),
        last: None,
    };
    for state in &states[from..] {
        let after = cursor.take().filter(|place| place.state == *state);
        let after = after.map(|place| place.key);
        if let Some(Place { state, key }) = list.page(view, number, *state, after)? {
            let [a, b, c] = key;
            return Ok(Page {
                items: list.items,
                next: Some(format!("{}.{a}.{b}.{c}", state.as_str())),
            });
        }
    }
    Ok(Page {
        items: list.items,
        next: None,
    })
}

/// A page under construction.
struct List<'a> {
    wanted: &'a Wanted,
    limit: usize,
    /// Jobs that may still be read.
    left: usize,
    /// Bytes of payloads that may still be taken.
    room: usize,
    items: Vec<JobRecord>,
    /// The job that was read last.
    last: Option<Place>,
}

fn read_cursor(text: &str) -> Option<Place> {
    let mut parts = text.split('.');
    let name = parts.next()?;
    let state = JobState::ALL
        .into_iter()
        .find(|state| state.as_str() == name)?;
    let mut number = || parts.next()?.parse::<i64>().ok();
    let key = [number()?, number()?, number()?];
    parts.next().is_none().then_some(Place { state, key })
}

impl List<'_> {
    /// Takes the jobs of a state. If the page ends first, returns the cursor.
    fn page(
        &mut self,
        view: View<'_>,
        queue: i64,
        state: JobState,
        after: Option<[i64; 3]>,
    ) -> Result<Option<Place>> {
        let ([a, b, c], down) = order(state);
        let (compare, direction) = if down { ("<", "DESC") } else { (">", "ASC") };
        let code = state_code(state);
        let mut values = vec![Value::from(queue)];
        let mut rest = String::new();
        if state.is_ended() {
            // The index has the end times, so no job is read in vain.
            rest.push_str("AND w.state > 2");
            for (compare, ms) in [(">=", self.wanted.after_ms), ("<=", self.wanted.before_ms)] {
                if let Some(ms) = ms {
                    values.push(Value::from(ms));
                    rest.push_str(&format!(" AND w.ended_ms {compare} ?{}", values.len()));
                }
            }
        }
        if let Some(key) = after {
            let at = values.len();
            rest.push_str(&format!(
                " AND ({a}, {b}, {c}) {compare} (?{}, ?{}, ?{})",
                at + 1,
                at + 2,
                at + 3
            ));
            values.extend(key.map(Value::from));
        }
        let sql = format!(
            "SELECT {COLUMNS}, {a}, {b}, {c} FROM {TABLES}
             WHERE w.queue = ?1 AND w.state = {code} {rest}
             ORDER BY {a} {direction}, {b} {direction}, {c} {direction} LIMIT ?{}",
            values.len() + 1
        );
        values.push(Value::from(self.most() as i64));
        let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
        let values = rusqlite::params_from_iter(values);
        let mut rows = statement.query(values).map_err(translate)?;
        while let Some(row) = rows.next().map_err(translate)? {
            if (self.items.len() == self.limit || self.left == 0) && self.last.is_some() {
                return Ok(self.last.take());
            }
            let key = || -> rusqlite::Result<_> { Ok([row.get(22)?, row.get(23)?, row.get(24)?]) };
            let found = record(row)?;
            let is_wanted = self.wanted.fits(&found);
            if is_wanted {
                let bytes = found.payload_bytes();
                // A single larger job is a page of its own.
                if bytes > self.room && !self.items.is_empty() {
                    return Ok(self.last.take());
                }
                self.room = self.room.saturating_sub(bytes);
                self.items.push(found);
            }
            self.left -= 1;
            // The list ends at a damaged place.
            self.last = key()
                .map(|key| Place { state, key })
                .ok()
                .or(self.last.take());
        }
        Ok(None)
    }

    /// The most rows that are read: one more than the page takes, to know whether any follow.
    fn most(&self) -> usize {
        match self.wanted.is_any() {
            true => self.limit + 1 - self.items.len(),
            false => self.left + 1,
        }
    }
}

pub(crate) fn queues(view: View<'_>, name: Option<&str>) -> Result<Vec<QueueRecord>> {
    let read = || -> rusqlite::Result<Vec<QueueRecord>> {
        let mut statement = view.conn.prepare_cached(
            "SELECT no, name, paused, created_ms, waiting, delayed, active, completed, failed,
                    cancelled, rate_from_ms, rate_count, parked
             FROM queues WHERE ?1 IS NULL OR name = ?1 ORDER BY name",
        )?;
        let mut rows = statement.query([name])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let no: i64 = row.get(0)?;
            let name: String = match row.get(1) {
                Ok(name) => name,
                Err(error) => {
                    tracing::error!(queue = no, %error, "the name of a queue is damaged; it is left out");
                    continue;
                }
            };
            // Damaged numbers are shown as zero: `verify` compares them.
            let number = |at: usize| row.get::<_, i64>(at).unwrap_or_default();
            let count = |at: usize| number(at).max(0).cast_unsigned();
            found.push(QueueRecord {
                name: Name::from(name),
                paused: row.get(2).unwrap_or_default(),
                created_ms: number(3),
                waiting: count(4),
                delayed: count(5),
                active: count(6),
                parked: count(12),
                completed: count(7),
                failed: count(8),
                cancelled: count(9),
                oldest_ms: oldest(view, no)?,
                rate: window(number(10), count(11)),
            });
        }
        Ok(found)
    };
    read().map_err(translate)
}

/// A queue without a rate has no window.
fn window(from_ms: Millis, begun: u64) -> Option<RateWindow> {
    (from_ms > 0).then_some(RateWindow { from_ms, begun })
}

/// Since when the oldest waiting job has waited. Jobs of a lane and rank are in the order in which
/// they were added, so those that were never delayed are in the order of waiting too, and no job
/// behind the first of them has waited longer. Of very many lanes the first thousand are read, and
/// of very many jobs that were delayed the first hundred.
fn oldest(view: View<'_>, queue: i64) -> rusqlite::Result<Option<Millis>> {
    let mut lines = view.conn.prepare_cached(
        "WITH RECURSIVE heads (lane, rank) AS (
             SELECT * FROM (SELECT lane, rank FROM work WHERE queue = ?1 AND state = 0
                            ORDER BY lane, rank LIMIT 1)
             UNION ALL
             SELECT w.lane, w.rank FROM heads h JOIN work w ON w.no = (
                 SELECT no FROM work WHERE queue = ?1 AND state = 0
                     AND (lane, rank) > (h.lane, h.rank)
                 ORDER BY lane, rank, no LIMIT 1)
             LIMIT 1000)
         SELECT lane, rank FROM heads WHERE typeof(lane) = 'integer' AND typeof(rank) = 'integer'",
    )?;
    let mut jobs = view.conn.prepare_cached(
        "SELECT at_ms, created_ms FROM work
         WHERE queue = ?1 AND state = 0 AND lane = ?2 AND rank = ?3
             AND typeof(at_ms) = 'integer' AND typeof(created_ms) = 'integer'
         ORDER BY no LIMIT 100",
    )?;
    let mut oldest = None;
    let mut lines = lines.query([queue])?;
    while let Some(line) = lines.next()? {
        let (lane, rank): (i64, i64) = (line.get(0)?, line.get(1)?);
        let mut jobs = jobs.query((queue, lane, rank))?;
        while let Some(job) = jobs.next()? {
            let (at_ms, created_ms): (Millis, Millis) = (job.get(0)?, job.get(1)?);
            oldest = Some(oldest.map_or(at_ms, |oldest: Millis| oldest.min(at_ms)));
            if at_ms <= created_ms {
                break;
            }
        }
    }
    Ok(oldest)
}
