//! The runs, streams and awaits that a commit speaks of, as they are and as its earlier changes leave
//! them.

use foldhash::{HashMap, HashSet};
use riverrun_store::{Error, FlowRecord, NewRun, Settle};
use riverrun_types::{Json, Millis, Name, RunId, RunStatus, StreamName};
use rusqlite::OptionalExtension;

use super::{refuse, register};
use crate::{
    awaits::Foreseen,
    columns,
    core::Core,
    error::{Failure, Worked},
    queue::{self, life::life},
    triggers,
};

/// What judging and advancing a run needs of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunRow {
    pub(crate) no: i64,
    pub(crate) status: RunStatus,
    pub(crate) len: u64,
    pub(crate) turn: u64,
    pub(crate) last_ms: Millis,
}

/// A stream that is no run's.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamRow {
    /// 0 for one that is not stored yet.
    pub(super) no: i64,
    pub(super) len: u64,
    pub(super) last_ms: Millis,
    /// Of a job: what its row knows and the stream does not hold, at its end.
    pub(super) untold: u64,
}

impl StreamRow {
    /// How long it is for a reader.
    pub(super) fn now_len(self) -> u64 {
        self.len + self.untold
    }
}

/// A row as it is stored and as it stands now. `None` is a row that does not exist.
struct Seen<T> {
    stored: Option<T>,
    now: Option<T>,
}

#[derive(Default)]
pub(super) struct Scene {
    runs: HashMap<RunId, Seen<RunRow>>,
    streams: HashMap<StreamName, Seen<StreamRow>>,
    keys: HashSet<(Name, Name, Option<Name>)>,
    flows: HashMap<(Name, Name), Json>,
    /// The jobs whose outcomes the commit records, as their rows are.
    held: Vec<queue::Held>,
    /// Only the judging needs them.
    pub(super) awaits: Foreseen,
    pub(super) triggers: triggers::Foreseen,
}

impl Scene {
    pub(super) fn run(&mut self, core: &Core, id: &RunId) -> Worked<Option<RunRow>> {
        if let Some(seen) = self.runs.get(id) {
            return Ok(seen.now);
        }
        let stored = load_run(core, id)?;
        let seen = Seen {
            stored,
            now: stored,
        };
        self.runs.insert(id.clone(), seen);
        Ok(stored)
    }

    /// A run that the judging has found.
    pub(super) fn known(&mut self, core: &Core, id: &RunId) -> Worked<RunRow> {
        self.run(core, id)?
            .ok_or_else(|| Failure::Refused(Error::RunNotFound(id.clone())))
    }

    pub(super) fn set_run(&mut self, id: &RunId, row: Option<RunRow>) {
        match self.runs.get_mut(id) {
            Some(seen) => seen.now = row,
            None => {
                let seen = Seen {
                    stored: None,
                    now: row,
                };
                self.runs.insert(id.clone(), seen);
            }
        }
    }

    pub(super) fn stream(&mut self, core: &Core, name: &StreamName) -> Worked<Option<StreamRow>> {
        if let Some(seen) = self.streams.get(name) {
            return Ok(seen.now);
        }
        let stored = load_stream(core, name)?;
        let stored = match name.is_job() {
            true => with_life(core, name, stored)?,
            false => stored,
        };
        let seen = Seen {
            stored,
            now: stored,
        };
        self.streams.insert(name.clone(), seen);
        Ok(stored)
    }

    pub(super) fn set_stream(&mut self, name: &StreamName, row: StreamRow) {
        if let Some(seen) = self.streams.get_mut(name) {
            seen.now = Some(row);
        }
    }

    /// Judges the outcome of a job, and remembers the job's row for it.
    pub(super) fn hold(&mut self, core: &Core, settle: &Settle) -> Worked<()> {
        self.held.push(queue::judge_settle(core, settle)?);
        Ok(())
    }

    /// The row of a job whose outcome was judged. It is used once: it is not what it was after that.
    pub(super) fn held(&mut self, core: &Core, settle: &Settle) -> Worked<queue::Held> {
        let is_its = |held: &mut queue::Held| held.no == settle.lease.place;
        match self.held.extract_if(.., is_its).last() {
            Some(held) => Ok(held),
            None => queue::judge_settle(core, settle),
        }
    }

    /// Rows of jobs have changed since they were judged.
    pub(super) fn forget_held(&mut self) {
        self.held.clear();
    }

    /// Notes the idempotency key of a run that this commit creates.
    pub(super) fn claim_key(&mut self, new: &NewRun) -> Worked<()> {
        let Some(key) = &new.idempotency_key else {
            return Ok(());
        };
        let key = (key.clone(), new.flow.clone(), new.tenant.clone());
        if self.keys.insert(key) {
            return Ok(());
        }
        // The other run is of this very commit, so neither comes to be; its id is as good.
        refuse(Error::Duplicate(new.id.clone()))
    }

    /// Notes a definition that this commit registers.
    pub(super) fn claim_flow(&mut self, flow: &FlowRecord) -> Worked<()> {
        let key = (flow.id.clone(), flow.version.clone());
        match self.flows.insert(key, flow.definition.clone()) {
            None => Ok(()),
            Some(other) => refuse(register::known_as(flow, other == flow.definition)),
        }
    }

    /// Back to what is stored: the judging is over, the applying begins.
    pub(super) fn rewind(&mut self) {
        self.runs
            .values_mut()
            .for_each(|seen| seen.now = seen.stored);
        self.streams
            .values_mut()
            .for_each(|seen| seen.now = seen.stored);
    }
}

fn load_run(core: &Core, id: &RunId) -> Worked<Option<RunRow>> {
    if let Some(row) = core.recent.get(id) {
        return Ok(Some(row));
    }
    let mut statement = core
        .conn
        .prepare_cached("SELECT no, status, len, turn, last_ms FROM runs WHERE id = ?1")?;
    let mut rows = statement.query([id.as_str()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(RunRow {
        no: row.get(0)?,
        status: columns::status(row.get(1)?).map_err(Failure::Sql)?,
        len: row.get(2)?,
        turn: row.get(3)?,
        last_ms: row.get(4)?,
    }))
}

fn load_stream(core: &Core, name: &StreamName) -> Worked<Option<StreamRow>> {
    let Some(kind) = core.names.find(&name.kind) else {
        return Ok(None);
    };
    let mut statement = core
        .conn
        .prepare_cached("SELECT no, len, last_ms FROM streams WHERE kind = ?1 AND id = ?2")?;
    let row = statement.query_row((kind, &*name.id), |row| {
        Ok(StreamRow {
            no: row.get(0)?,
            len: row.get(1)?,
            last_ms: row.get(2)?,
            untold: 0,
        })
    });
    Ok(row.optional()?)
}

/// The stream of a job begins when the job is added, though nothing is stored of it yet.
fn with_life(
    core: &Core,
    name: &StreamName,
    stored: Option<StreamRow>,
) -> Worked<Option<StreamRow>> {
    let Some((_, life)) = life(core, &name.id)? else {
        return Ok(stored);
    };
    let row = stored.unwrap_or(StreamRow {
        no: 0,
        len: 0,
        last_ms: 0,
        untold: 0,
    });
    let untold = life.untold().len() as u64;
    Ok(Some(StreamRow { untold, ..row }))
}
