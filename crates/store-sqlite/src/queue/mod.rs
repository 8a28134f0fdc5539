//! Jobs in queues.
//!
//! The writer knows every queue's counts in memory and stores those that changed once a
//! transaction, so that neither a statistic nor a limit costs a scan.

mod add;
mod claim;
mod effect;
mod lanes;
mod lease;
pub(crate) mod life;
mod rows;
mod settle;
mod steer;
mod unique;

use foldhash::HashMap;
use riverrun_store::{Error, JobState, judge::QueueRow};
use riverrun_types::{Millis, Name};
use rusqlite::{Connection, Row, params};

pub(crate) use add::{add, queue_of_job};
pub(crate) use claim::claim;
pub(crate) use lease::{keep, lease, lease_end, reclaim, room_lease_end, stalled};
pub(crate) use rows::{job, job_under};
pub(crate) use settle::{note, settle};
pub(crate) use steer::{abandon, drop_job, pause, purge, steer, sweep};

use crate::error::{Worked, corrupt};

const PARKED: i64 = -1;

/// The numbers of states from 0 on, as the migrations list them.
const STATES: [JobState; 6] = [
    JobState::Waiting,
    JobState::Delayed,
    JobState::Active,
    JobState::Completed,
    JobState::Failed,
    JobState::Cancelled,
];

pub(crate) fn state_code(state: JobState) -> i64 {
    match state {
        JobState::Waiting => 0,
        JobState::Delayed => 1,
        JobState::Active => 2,
        JobState::Parked => PARKED,
        JobState::Completed => 3,
        JobState::Failed => 4,
        JobState::Cancelled => 5,
    }
}

pub(crate) fn state(code: i64) -> Result<JobState, Error> {
    if code == PARKED {
        return Ok(JobState::Parked);
    }
    usize::try_from(code)
        .ok()
        .and_then(|code| STATES.get(code).copied())
        .ok_or_else(|| corrupt(format_args!("{code} is no state of a job")))
}

/// The writer's cached queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) no: i64,
    pub(crate) row: QueueRow,
    is_changed: bool,
}

impl Queue {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            no: row.get(0)?,
            row: QueueRow {
                paused: row.get(2)?,
                waiting: row.get(3)?,
                delayed: row.get(4)?,
                active: row.get(5)?,
                completed: row.get(6)?,
                failed: row.get(7)?,
                cancelled: row.get(8)?,
                keyed: row.get(9)?,
                turn: row.get(10)?,
                own_turn: row.get(11)?,
                rate_from_ms: row.get(12)?,
                rate_count: row.get(13)?,
                parked: row.get(14)?,
            },
            is_changed: false,
        })
    }

    /// A job was added (from nowhere), moved or was removed (to nowhere).
    fn shift(&mut self, from: Option<JobState>, to: Option<JobState>) {
        self.row.shift(from, to);
        self.is_changed = true;
    }
}

/// All queues, by name and number.
#[derive(Default)]
pub(crate) struct Queues {
    numbers: HashMap<Name, i64>,
    queues: HashMap<i64, Queue>,
}

impl Queues {
    pub(crate) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut known = Self::default();
        let mut statement = conn.prepare_cached(
            "SELECT no, name, paused, waiting, delayed, active, completed, failed, cancelled,
                    keyed, turn, own_turn, rate_from_ms, rate_count, parked
             FROM queues",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let no = row.get(0)?;
            let queue = Queue::read(row).unwrap_or_else(|error| {
                tracing::error!(queue = no, %error, "the row of a queue is damaged; its counts start again");
                Queue {
                    no,
                    ..Queue::default()
                }
            });
            match row.get::<_, String>(1) {
                Ok(name) => known.numbers.insert(Name::from(name), no),
                Err(error) => {
                    tracing::error!(queue = no, %error, "the name of a queue is damaged; it is left out");
                    None
                }
            };
            known.queues.insert(no, queue);
        }
        Ok(known)
    }

    /// The queue of a name, created if it is new.
    fn named(&mut self, conn: &Connection, name: &Name, now: Millis) -> Worked<&mut Queue> {
        let no = match self.numbers.get(name) {
            Some(no) => *no,
            None => {
                conn.prepare_cached("INSERT INTO queues (name, created_ms) VALUES (?1, ?2)")?
                    .execute((&**name, now))?;
                let no = conn.last_insert_rowid();
                self.numbers.insert(name.clone(), no);
                no
            }
        };
        Ok(self.numbered(no))
    }

    fn find(&mut self, name: &str) -> Option<&mut Queue> {
        let no = *self.numbers.get(name)?;
        Some(self.numbered(no))
    }

    fn numbered(&mut self, no: i64) -> &mut Queue {
        self.queues.entry(no).or_insert_with(|| Queue {
            no,
            ..Queue::default()
        })
    }

    fn all(&self) -> Vec<i64> {
        self.queues.keys().copied().collect()
    }

    /// Stores the changed queues, at the end of a transaction.
    pub(crate) fn store(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        for queue in self.queues.values_mut().filter(|queue| queue.is_changed) {
            let row = &queue.row;
            conn.prepare_cached(
                "UPDATE queues SET paused = ?2, waiting = ?3, delayed = ?4, active = ?5,
                        completed = ?6, failed = ?7, cancelled = ?8, keyed = ?9, turn = ?10,
                        own_turn = ?11, rate_from_ms = ?12, rate_count = ?13, parked = ?14
                 WHERE no = ?1",
            )?
            .execute(params![
                queue.no,
                row.paused,
                row.waiting,
                row.delayed,
                row.active,
                row.completed,
                row.failed,
                row.cancelled,
                row.keyed,
                row.turn,
                row.own_turn,
                row.rate_from_ms,
                row.rate_count,
                row.parked,
            ])?;
            queue.is_changed = false;
        }
        Ok(())
    }
}
