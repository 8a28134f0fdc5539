//! The rows that the rules of a commit read, each loaded on first use.

use std::ops::ControlFlow;

use riverrun_store::{
    AwaitRecord, Error, JobLease, Life,
    judge::{
        AwaitRows, JobRow, JobRows, KeyRows, Read, RunKey, RunRow, RunRows, RunTask, StreamRow,
        StreamRows, TriggerRow, TriggerRows,
    },
};
use riverrun_types::{Json, Millis, Name, RunId, RunStatus, StreamName};
use rusqlite::{Connection, OptionalExtension, Row};

use super::register;
use crate::{
    awaits, columns,
    core::Core,
    error::{Failure, Worked, translate},
    names::NONE,
    once,
    queue::{self, life::life},
    read::chunked_len,
    triggers,
};

/// The tables as the writer sees them.
pub(super) struct Tables<'a>(pub(super) &'a Core);

impl Read for Tables<'_> {
    type Error = Failure;
}

impl RunRows for Tables<'_> {
    const INSERT_REFUSES: bool = true;

    fn run(&mut self, id: &RunId) -> Worked<Option<RunRow>> {
        if let Some(row) = self.0.recent.get(id) {
            return Ok(Some(row));
        }
        let conn = &self.0.conn;
        let mut statement =
            conn.prepare_cached("SELECT no, status, len, turn, last_ms FROM runs WHERE id = ?1")?;
        let mut rows = statement.query([id.as_str()])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let read = || -> Result<RunRow, Error> {
            Ok(RunRow {
                place: row.get(0).map_err(translate)?,
                status: columns::status(row.get(1).map_err(translate)?)?,
                len: columns::count(row, 2)?,
                turn: columns::count(row, 3)?,
                last_ms: row.get(4).map_err(translate)?,
            })
        };
        match read() {
            Ok(row) => Ok(Some(row)),
            Err(Error::Corrupt(_)) => Ok(Some(mended(conn, row)?)),
            Err(error) => Err(Failure::Sql(error)),
        }
    }

    fn run_task(&mut self, run: &RunId) -> Worked<Option<RunTask>> {
        let task = self
            .0
            .conn
            .prepare_cached(
                "SELECT at_ms, token, woken <> 0 FROM jobs
                 WHERE run = (SELECT no FROM runs WHERE id = ?1)",
            )?
            .query_row([run.as_str()], |row| {
                let token: Option<i64> = row.get(1)?;
                Ok(RunTask {
                    at_ms: row.get(0)?,
                    token: token.map(i64::cast_unsigned),
                    is_woken: row.get(2)?,
                })
            });
        Ok(task.optional()?)
    }
}

/// A row with a damaged number, as lists show it, so that the run can be cancelled and removed; and
/// as its stream shows where the next event goes.
fn mended(conn: &Connection, row: &Row<'_>) -> Worked<RunRow> {
    let place = row.get(0)?;
    let status = row.get(1).map_err(translate).and_then(columns::status);
    Ok(RunRow {
        place,
        status: status.unwrap_or(RunStatus::Waiting),
        // Chunks of a run are removed with the run only.
        len: chunked_len(conn, place)?.unwrap_or_default(),
        turn: columns::count(row, 3).unwrap_or_default(),
        last_ms: row.get(4).unwrap_or_default(),
    })
}

impl StreamRows for Tables<'_> {
    fn stream(&mut self, name: &StreamName) -> Worked<Option<StreamRow>> {
        let Some(kind) = self.0.names.find(&name.kind) else {
            return Ok(None);
        };
        let mut statement = self
            .0
            .conn
            .prepare_cached("SELECT no, len, last_ms FROM streams WHERE kind = ?1 AND id = ?2")?;
        let row = statement.query_row((kind, &*name.id), |row| {
            let place: i64 = row.get(0)?;
            let last_ms: Millis = row.get(2).unwrap_or_default();
            // If a number is damaged, its chunks show where the next event goes.
            let len = match columns::count(row, 1) {
                Ok(len) => len,
                Err(_) => match chunked_len(&self.0.conn, -place)? {
                    Some(len) => len,
                    // All were removed. No stream had an event for each millisecond since 1970, so
                    // readers that wait behind its last event get the next one.
                    None => u64::try_from(last_ms).unwrap_or_default(),
                },
            };
            Ok(StreamRow {
                place,
                len,
                last_ms,
            })
        });
        Ok(row.optional()?)
    }

    fn job_life(&mut self, id: &str) -> Worked<Option<Life>> {
        Ok(life(self.0, id)?.map(|(_, life)| life))
    }
}

impl KeyRows for Tables<'_> {
    fn run_with_key(&mut self, key: &RunKey<'_>) -> Worked<Option<RunId>> {
        let names = &self.0.names;
        let tenant = match key.tenant {
            None => Some(NONE),
            Some(tenant) => names.find(tenant),
        };
        let (Some(flow), Some(tenant)) = (names.find(key.flow), tenant) else {
            return Ok(None);
        };
        let run: Option<String> = self
            .0
            .conn
            .prepare_cached("SELECT id FROM runs WHERE idem = ?1 AND flow = ?2 AND tenant = ?3")?
            .query_row((&**key.key, flow, tenant), |row| row.get(0))
            .optional()?;
        Ok(run.as_deref().map(RunId::new))
    }

    fn has_event_key(&mut self, key: &Name) -> Worked<bool> {
        once::is_used(self.0, key)
    }

    fn flow(&mut self, id: &Name, version: &Name) -> Worked<Option<Json>> {
        register::definition(self.0, id, version)
    }
}

impl JobRows for Tables<'_> {
    fn job_under(&mut self, lease: &JobLease) -> Worked<Option<JobRow>> {
        queue::job_under(&self.0.conn, lease)
    }

    fn job(&mut self, id: &RunId) -> Worked<Option<JobRow>> {
        queue::job(&self.0.conn, id)
    }

    fn queue_of_job(&mut self, id: &RunId) -> Worked<Option<Name>> {
        queue::queue_of_job(&self.0.conn, id)
    }

    fn lease_end(&mut self, token: u64) -> Worked<Option<Millis>> {
        queue::lease_end(&self.0.conn, token)
    }
}

impl AwaitRows for Tables<'_> {
    fn await_by(&mut self, id: &Name) -> Worked<Option<AwaitRecord>> {
        awaits::load(self.0, id)
    }

    fn has_unjudged(&mut self, id: &Name, judged: u64) -> Worked<bool> {
        Ok(awaits::has_unjudged(&self.0.conn, id, judged)?)
    }

    fn each_emitted(
        &mut self,
        kind: &Name,
        from_ms: Millis,
        mut visit: impl FnMut(Option<Name>, Json) -> ControlFlow<()>,
    ) -> Worked<()> {
        let conn = &self.0.conn;
        awaits::each_emitted(conn, kind, from_ms, i64::MAX, |_, _, tenant, event| {
            Ok(visit(tenant.map(Name::from), event))
        })
    }
}

impl TriggerRows for Tables<'_> {
    fn trigger(&mut self, id: &Name) -> Worked<TriggerRow> {
        triggers::load(self.0, id)
    }

    fn trigger_of_route(&mut self, route: &Name) -> Worked<Option<Name>> {
        triggers::of_route(self.0, route)
    }
}
