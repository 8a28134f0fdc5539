//! Runs and the run tasks that drive them.

use foldhash::HashMap;
use riverrun_types::{Millis, RunId, RunStatus};

use super::{Judging, Read, Rows, Write, last_ms, refuse};
use crate::{Advance, Error, Expect, NewRun, Placed, RunLease, RunTaskChange};

/// The part of a run's row that the rules read and change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRow {
    /// 0 for a run that the same commit creates.
    pub place: i64,
    pub status: RunStatus,
    /// Events in its stream.
    pub len: u64,
    /// Decisions taken.
    pub turn: u64,
    /// The time of its last event.
    pub last_ms: Millis,
}

impl RunRow {
    fn created(new: &NewRun) -> Self {
        Self {
            place: 0,
            status: new.projection.status,
            len: new.events.len() as u64,
            turn: new.turn,
            last_ms: last_ms(0, &new.events),
        }
    }

    fn advanced(self, change: &Advance) -> Self {
        Self {
            place: self.place,
            status: change.projection.status,
            len: self.len + change.events.len() as u64,
            turn: self.turn + 1,
            last_ms: last_ms(self.last_ms, &change.events),
        }
    }

    fn fits(&self, expect: Expect) -> bool {
        match expect {
            Expect::Any => true,
            Expect::Turn(turn) => turn == self.turn,
            Expect::Len(len) => len == self.len,
        }
    }
}

/// The run task: it drives a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTask {
    /// When it may be claimed, if it is not leased.
    pub at_ms: Millis,
    /// Of the lease, if it is leased.
    pub token: Option<u64>,
    /// It was woken while it was leased.
    pub is_woken: bool,
}

impl RunTask {
    /// Something for which the run waits has moved.
    pub fn wake(self) -> Self {
        match self.token {
            Some(_) => Self {
                is_woken: true,
                ..self
            },
            None => Self {
                at_ms: 0,
                is_woken: false,
                ..self
            },
        }
    }

    /// The holder of the lease parks the task until a time. A wake that it may have missed makes
    /// the task due at once.
    pub fn give_back(self, at_ms: Millis) -> Self {
        Self {
            at_ms: if self.is_woken { 0 } else { at_ms },
            token: None,
            is_woken: false,
        }
    }

    /// A task without the lease sets the time. The holder is woken, so that it looks again; a run
    /// task that is due because it was woken stays due.
    pub fn park(self, at_ms: Millis) -> Self {
        match self.token {
            Some(_) => self.wake(),
            None => Self {
                at_ms: if self.at_ms > 0 { at_ms } else { self.at_ms },
                is_woken: false,
                ..self
            },
        }
    }
}

/// The rows of runs.
pub trait RunRows: Read {
    /// Whether the storage rejects the insert of a run whose id is taken, with
    /// [`Error::RunExists`], before it has written any other part of the commit. The rules then do
    /// not read the row of a run with which a commit begins.
    const INSERT_REFUSES: bool;

    fn run(&mut self, id: &RunId) -> Result<Option<RunRow>, Self::Error>;

    /// The task of a run.
    fn run_task(&mut self, run: &RunId) -> Result<Option<RunTask>, Self::Error>;
}

/// The runs that a commit has changed; none is a run that it has deleted.
#[derive(Default)]
pub(super) struct Changed(HashMap<RunId, Option<RunRow>>);

impl Changed {
    pub(super) fn is_deleted(&self, run: &RunId) -> bool {
        matches!(self.0.get(run), Some(None))
    }
}

/// Rejects a decision made under a lost lease.
pub(super) fn judge_lease<R: Rows>(rows: &mut R, lease: Option<&RunLease>) -> Result<(), R::Error> {
    let Some(lease) = lease else {
        return Ok(());
    };
    match rows.run_task(&lease.run)? {
        Some(task) if task.token == Some(lease.token) => Ok(()),
        _ => refuse(Error::Fenced(lease.run.clone())),
    }
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    /// The run as the commit has left it so far.
    pub(super) fn run(&mut self, id: &RunId) -> Result<Option<RunRow>, R::Error> {
        match self.changed.runs.0.get(id) {
            Some(row) => Ok(*row),
            None => self.rows.run(id),
        }
    }

    pub(super) fn set_run(&mut self, id: &RunId, row: Option<RunRow>) {
        if self.is_followed() {
            self.changed.runs.0.insert(id.clone(), row);
        }
    }

    pub(super) fn create(&mut self, new: &'a NewRun) -> Result<(), R::Error> {
        self.claim_run_key(new)?;
        let is_first = self.writes.is_empty();
        if !(R::INSERT_REFUSES && is_first) && self.run(&new.id)?.is_some() {
            return refuse(Error::RunExists(new.id.clone()));
        }
        let row = RunRow::created(new);
        self.write(Write::CreateRun { new, row })?;
        self.add_events(&new.id, None, &new.events)?;
        self.set_run(&new.id, Some(row));
        Ok(())
    }

    pub(super) fn advance(&mut self, change: &'a Advance) -> Result<(), R::Error> {
        let run = &change.run;
        let before = match self.run(run)? {
            None => return refuse(Error::RunNotFound(run.clone())),
            Some(row) if row.status.is_ended() => return refuse(Error::RunEnded(run.clone())),
            Some(row) if !row.fits(change.expect) => return refuse(Error::Conflict(run.clone())),
            Some(row) => row,
        };
        let row = before.advanced(change);
        self.write(Write::AdvanceRun {
            change,
            status: before.status,
            row,
        })?;
        self.add_events(run, Some(before), &change.events)?;
        self.change_task(run, before.place, change.task)?;
        self.set_run(run, Some(row));
        Ok(())
    }

    fn change_task(
        &mut self,
        run: &'a RunId,
        place: i64,
        change: RunTaskChange,
    ) -> Result<(), R::Error> {
        let lease = self.commit.lease.as_ref();
        let write = match (change, lease.filter(|lease| lease.run == *run)) {
            (RunTaskChange::Keep, _) => return Ok(()),
            (RunTaskChange::Finish, _) => Write::FinishRun { run, place },
            (RunTaskChange::Park { at_ms }, None) => Write::ParkRun { run, place, at_ms },
            (RunTaskChange::Park { at_ms }, Some(lease)) => Write::GiveBackRun {
                run,
                place,
                token: lease.token,
                at_ms,
            },
        };
        self.write(write)
    }

    /// Places events of a run behind those that its row counts.
    pub(super) fn add_events(
        &mut self,
        run: &RunId,
        before: Option<RunRow>,
        events: &'a [riverrun_types::Draft],
    ) -> Result<(), R::Error> {
        let (place, len, floor_ms) =
            before.map_or((0, 0, 0), |row| (row.place, row.len, row.last_ms));
        let receipt = self.receipt.placed.len();
        self.receipt.placed.push(Placed {
            first: len,
            floor_ms,
            len: len + events.len() as u64,
            no: 0,
        });
        self.write(Write::AddEvents {
            run: run.clone(),
            place,
            events,
            receipt,
        })
    }

    pub(super) fn wake(&mut self, run: &'a RunId) -> Result<(), R::Error> {
        match self.run(run)? {
            Some(RunRow { place, .. }) => self.write(Write::WakeRun { run, place }),
            None => Ok(()),
        }
    }

    pub(super) fn delete(&mut self, run: &'a RunId) -> Result<(), R::Error> {
        let place = match self.run(run)? {
            None => return refuse(Error::RunNotFound(run.clone())),
            Some(row) if !row.status.is_ended() => return refuse(Error::NotEnded(run.clone())),
            Some(row) => row.place,
        };
        self.changed.awaits.delete(run);
        self.set_run(run, None);
        self.write(Write::DeleteRun { run, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_woken_parked_and_given_back() {
        let free = |at_ms| RunTask {
            at_ms,
            token: None,
            is_woken: false,
        };
        let leased = |is_woken| RunTask {
            at_ms: 0,
            token: Some(7),
            is_woken,
        };
        let check = |task: RunTask, expected: RunTask| assert_eq!(task, expected);
        check(free(500).wake(), free(0));
        check(leased(false).wake(), leased(true));
        check(free(500).park(900), free(900));
        check(free(0).park(900), free(0));
        check(leased(false).park(900), leased(true));
        check(leased(false).give_back(900), free(900));
        check(leased(true).give_back(900), free(0));
    }
}
