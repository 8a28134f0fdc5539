//! Commits: the rules judge each completely ([`riverrun_store::judge`]) before any part of it is
//! written, so that a rejection leaves no trace. Only one writer exists, so the rows that were
//! judged are unchanged when they are written.

mod advance;
mod append;
mod create;
mod delete;
mod recent;
mod register;
mod rows;
mod run_task;
mod stream;

use riverrun_store::{
    Commit, CommitIds, Receipt, Result,
    judge::{self, StreamRow, Takes, Verdict, Write},
};
use riverrun_types::{RunId, StreamName};

pub(crate) use delete::remove;
pub(crate) use recent::Recent;
pub(crate) use run_task::wake;

use crate::{
    awaits,
    core::Core,
    error::{Failure, Worked, corrupt},
    once, queue, reserve, triggers,
};
use rows::Tables;

/// Applies a group inside the open transaction. An error is SQLite's and voids all of it.
pub(crate) fn group(core: &mut Core, group: &[Commit]) -> Worked<Vec<Result<Receipt>>> {
    let mut results = Vec::with_capacity(group.len());
    for commit in group {
        results.push(match apply(core, commit) {
            Ok(receipt) => Ok(receipt),
            Err(Failure::Refused(error)) => Err(error),
            Err(failure) => return Err(failure),
        });
    }
    Ok(results)
}

fn apply(core: &Core, commit: &Commit) -> Worked<Receipt> {
    if core.is_full() && !reserve::relieves(commit) {
        core.judge_room()?;
    }
    let Verdict { writes, receipt } = judge::commit(&mut Tables(core), commit)?;
    let mut writing = Writing {
        core,
        commit,
        receipt,
        wakes: awaits::Wakes::default(),
        takes: takes(core, commit)?,
        ids: CommitIds::of(&commit.changes),
        created: Vec::new(),
        streams: Vec::new(),
    };
    for write in writes {
        writing.write(write)?;
    }
    let Writing {
        mut receipt, wakes, ..
    } = writing;
    receipt.signalled = wakes.signalled;
    receipt.woken = wakes.runs();
    Ok(receipt)
}

/// The room that the commit brings for its jobs, unless its lease is lost.
fn takes<'a>(core: &Core, commit: &'a Commit) -> Worked<Option<Takes<'a>>> {
    let Some(take) = &commit.take else {
        return Ok(None);
    };
    let until_ms = queue::room_lease_end(core, take.token)?;
    Ok(Takes::of(take, until_ms))
}

/// The writes of a commit.
struct Writing<'a> {
    core: &'a Core,
    commit: &'a Commit,
    receipt: Receipt,
    wakes: awaits::Wakes,
    takes: Option<Takes<'a>>,
    ids: CommitIds<'a>,
    /// The runs that the commit has created so far, and their numbers.
    created: Vec<(RunId, i64)>,
    /// The streams that it has written to so far, other than runs'.
    streams: Vec<(StreamName, StreamRow)>,
}

impl Writing<'_> {
    fn write(&mut self, write: Write<'_>) -> Worked<()> {
        let core = self.core;
        match write {
            Write::CreateRun { new, row } => {
                let row = create::create(core, new, row)?;
                self.created.push((new.id.clone(), row.place));
            }
            Write::AdvanceRun {
                change,
                status,
                mut row,
            } => {
                row.place = self.run(&change.run, row.place)?;
                advance::advance(core, change, status, row)?;
            }
            Write::ExtendRun { run, mut row } => {
                row.place = self.run(&run, row.place)?;
                append::extend(core, &run, row)?;
            }
            Write::AddEvents {
                run,
                place,
                events,
                receipt,
            } => {
                let place = self.run(&run, place)?;
                if let Some(placed) = self.receipt.placed.get_mut(receipt) {
                    placed.no = core.next_no();
                    stream::write(core, place, placed, events)?;
                }
            }
            Write::AddToStream {
                change,
                stored,
                receipt,
            } => {
                let placed = append::add(core, &mut self.streams, change, stored)?;
                if let Some(slot) = self.receipt.placed.get_mut(receipt) {
                    *slot = placed;
                }
            }
            Write::GiveBackRun {
                run,
                place,
                token,
                at_ms,
            } => {
                if run_task::give_back(core, self.run(run, place)?, token, at_ms)? {
                    self.wakes.woken.push(run.clone());
                }
            }
            Write::ParkRun { run, place, at_ms } => {
                run_task::park(core, self.run(run, place)?, at_ms)?;
            }
            Write::WakeRun { run, place } => run_task::wake(core, self.run(run, place)?)?,
            Write::FinishRun { run, place } => run_task::finish(core, self.run(run, place)?)?,
            Write::DeleteRun { run, place } => delete::remove(core, self.run(run, place)?)?,
            Write::InsertFlow(flow) => register::register(core, flow)?,
            Write::InsertKey(once) => {
                let ids = once.ids(&self.commit.changes, &self.receipt.placed);
                once::keep(core, once, &ids)?;
            }
            Write::AddJobs(jobs) => {
                for job in jobs.iter() {
                    let (added, claimed) = queue::add(core, job, self.takes.as_mut())?;
                    self.receipt.added.push(added);
                    self.receipt.taken.extend(claimed);
                }
            }
            Write::SettleJob { settle, job } => queue::settle(core, settle, job)?,
            Write::NoteJob(note) => queue::note(core, note)?,
            Write::SteerJob { job, steer, now_ms } => {
                let steered = queue::steer(core, job, steer, now_ms)?;
                self.receipt.steered.push(steered);
            }
            Write::AbandonJob { job } => queue::abandon(core, job)?,
            Write::RemoveJob(job) => queue::drop_job(core, job)?,
            Write::PauseQueue {
                queue,
                paused,
                now_ms,
            } => queue::pause(core, queue, paused, now_ms)?,
            Write::AddAwait { new, place } => {
                let run = self.run(&new.run, place)?;
                awaits::add(core, new, run, &mut self.wakes)?;
            }
            Write::EndAwait(id) => awaits::end(core, id)?,
            Write::FireAwait(fire) => awaits::fire(core, fire, &mut self.wakes)?,
            Write::Signal(signal) => {
                let event = signal.whole(&mut self.ids, &self.receipt.placed);
                awaits::signal(core, signal, &event, &mut self.wakes)?;
            }
            Write::Listen { kind, on } => awaits::listen(core, kind, on)?,
            Write::RemoveSignal(no) => awaits::remove_signal(core, no, &mut self.wakes)?,
            Write::PutTrigger(new) => triggers::put(core, new)?,
            Write::RemoveTrigger { id, now_ms } => triggers::remove(core, id, now_ms)?,
            Write::FireTrigger(firing) => triggers::fire(core, firing)?,
            Write::TrimStream { stream, keep } => triggers::trim(core, stream, keep)?,
        }
        Ok(())
    }

    /// The number of a run's row.
    fn run(&self, id: &RunId, place: i64) -> Worked<i64> {
        if place != 0 {
            return Ok(place);
        }
        let mut created = self.created.iter().rev();
        let created = created.find(|(run, _)| run == id);
        let unknown = || Failure::Sql(corrupt(format_args!("run {id} has no number")));
        created.map(|(_, no)| *no).ok_or_else(unknown)
    }
}
