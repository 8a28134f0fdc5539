//! Commits: each is judged completely before anything of it is applied, so that a refusal leaves
//! no trace. There is one writer, so what was judged still holds when it is applied.

mod advance;
mod append;
mod create;
mod delete;
mod job;
mod recent;
mod register;
mod scene;
mod stream;

use riverrun_store::{Change, Commit, Error, Expect, NewRun, Receipt, Result};

pub(crate) use delete::remove;
pub(crate) use job::wake;
pub(crate) use recent::Recent;

use crate::{
    awaits,
    core::Core,
    error::{Failure, Worked},
    once, queue, reserve, triggers,
};
use scene::{RunRow, Scene};

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
    job::judge_lease(core, commit.lease.as_ref())?;
    // An insert judges itself: what stands alone need not be looked up before.
    if let [Change::Create(new)] = &commit.changes[..] {
        if let Some(run) = create::same_key(core, new)? {
            return refuse(Error::Duplicate(run));
        }
        return Ok(Receipt {
            placed: vec![create::create(core, new)?.1],
            ..Receipt::default()
        });
    }
    if let [Change::Settle(settle)] = &commit.changes[..] {
        let held = queue::judge_settle(core, settle)?;
        queue::settle(core, settle, held)?;
        return Ok(Receipt::default());
    }
    let mut scene = Scene::default();
    if let [_, _, ..] = &commit.changes[..] {
        for (at, change) in commit.changes.iter().enumerate() {
            match change {
                Change::Create(new) if at == 0 => judge_first(core, &mut scene, new)?,
                _ => judge(core, &mut scene, change, &commit.changes[at + 1..])?,
            }
        }
        scene.rewind();
    } else if let [change] = &commit.changes[..] {
        judge_alone(core, &mut scene, change)?;
    }
    let mut receipt = Receipt::default();
    let mut told = awaits::Told::default();
    let mut takes = queue::Takes::of(core, commit.take.as_ref())?;
    for change in &commit.changes {
        match change {
            Change::Create(new) => {
                let (row, placed) = create::create(core, new)?;
                scene.set_run(&new.id, Some(row));
                receipt.placed.push(placed);
            }
            Change::Advance(change) => {
                receipt.placed.push(advance::advance(
                    core,
                    &mut scene,
                    change,
                    commit.lease.as_ref(),
                    &mut told,
                )?);
            }
            Change::Append(change) => {
                receipt
                    .placed
                    .push(append::append(core, &mut scene, change)?);
            }
            Change::Register(flow) => register::register(core, flow)?,
            Change::Enqueue(jobs) => {
                for job in jobs.iter() {
                    let (added, claimed) = queue::add(core, job, takes.as_mut())?;
                    receipt.added.push(added);
                    receipt.taken.extend(claimed);
                }
            }
            Change::Settle(settle) => {
                let held = scene.held(core, settle)?;
                queue::settle(core, settle, held)?;
            }
            Change::Note(note) => queue::note(core, note)?,
            Change::Steer { job, steer, now_ms } => {
                scene.forget_held();
                receipt
                    .steered
                    .push(queue::steer(core, job, steer, *now_ms)?);
            }
            Change::Abandon { job, now_ms } => {
                scene.forget_held();
                queue::abandon(core, job, *now_ms)?;
            }
            Change::DropJob { job, .. } => {
                scene.forget_held();
                queue::drop_job(core, job)?;
            }
            Change::Pause {
                queue,
                paused,
                now_ms,
            } => queue::pause(core, queue, *paused, *now_ms)?,
            Change::Wake(run) => {
                if let Some(row) = scene.run(core, run)? {
                    job::wake(core, row.no)?;
                }
            }
            Change::Await(new) => {
                let run = scene.known(core, &new.run)?.no;
                awaits::add(core, new, run, &mut told)?;
            }
            Change::Unawait(id) | Change::Expire { id, .. } => awaits::end(core, id)?,
            Change::Fire(fire) => awaits::fire(core, fire, &mut told)?,
            Change::Signal(signal) => {
                let event = signal.whole(&commit.changes, &receipt.placed);
                awaits::signal(core, signal, &event, &mut told)?;
            }
            Change::Listen { kind, on } => awaits::listen(core, kind, *on)?,
            Change::Heard(no) => awaits::heard(core, *no, &mut told)?,
            Change::Trigger(new) => triggers::put(core, new)?,
            Change::Untrigger { id, now_ms, .. } => triggers::remove(core, id, *now_ms)?,
            Change::Fired(firing) => triggers::fire(core, firing)?,
            Change::Trim { stream, keep } => triggers::trim(core, stream, *keep)?,
            Change::Once(once) => once::keep(core, once, &commit.changes, &receipt)?,
            Change::Delete(run) => {
                if let Some(row) = scene.run(core, run)? {
                    delete::remove(core, row.no)?;
                    scene.set_run(run, None);
                }
            }
        }
    }
    receipt.signalled = told.signalled;
    receipt.woken = told.runs();
    Ok(receipt)
}

/// Judges a run that is brought forth before anything else: whether its id is free the insert finds
/// out itself, and nothing is changed by then.
fn judge_first(core: &Core, scene: &mut Scene, new: &NewRun) -> Worked<()> {
    if let Some(run) = create::same_key(core, new)? {
        return refuse(Error::Duplicate(run));
    }
    scene.claim_key(new)?;
    scene.set_run(&new.id, Some(create::foreseen(new)));
    Ok(())
}

/// Judges a change and plays it on the scene, for the changes after it.
fn judge(core: &Core, scene: &mut Scene, change: &Change, later: &[Change]) -> Worked<()> {
    judge_alone(core, scene, change)?;
    match change {
        Change::Create(new) => {
            scene.claim_key(new)?;
            scene.set_run(&new.id, Some(create::foreseen(new)));
        }
        Change::Advance(change) => {
            if let Some(row) = scene.run(core, &change.run)? {
                scene.set_run(&change.run, Some(advance::foreseen(row, change)));
            }
        }
        Change::Append(change) => append::foresee(core, scene, change)?,
        Change::Delete(run) => {
            scene.set_run(run, None);
            scene.awaits.delete(run);
        }
        Change::Register(flow) => scene.claim_flow(flow)?,
        Change::Await(new) => {
            let fires = |change: &Change| matches!(change, Change::Fire(fire) if fire.id == new.id);
            let is_fired_later = later.iter().any(fires);
            scene.awaits.add(core, new, is_fired_later)?;
        }
        Change::Unawait(id) | Change::Expire { id, .. } => scene.awaits.end(core, id)?,
        Change::Fire(fire) => scene.awaits.fire(&fire.id),
        Change::Signal(signal) => scene.awaits.tell(signal),
        Change::Trigger(_)
        | Change::Untrigger { .. }
        | Change::Fired(_)
        | Change::Trim { .. }
        | Change::Once(_)
        | Change::Listen { .. }
        | Change::Heard(_)
        | Change::Enqueue(_)
        | Change::Settle(_)
        | Change::Note(_)
        | Change::Steer { .. }
        | Change::Abandon { .. }
        | Change::DropJob { .. }
        | Change::Pause { .. }
        | Change::Wake(_) => {}
    }
    Ok(())
}

fn judge_alone(core: &Core, scene: &mut Scene, change: &Change) -> Worked<()> {
    match change {
        Change::Create(new) => {
            if let Some(run) = create::same_key(core, new)?
                && scene.run(core, &run)?.is_some()
            {
                return refuse(Error::Duplicate(run));
            }
            match scene.run(core, &new.id)? {
                None => Ok(()),
                Some(_) => refuse(Error::RunExists(new.id.clone())),
            }
        }
        Change::Advance(change) => match scene.run(core, &change.run)? {
            None => refuse(Error::RunNotFound(change.run.clone())),
            Some(row) if row.status.is_ended() => refuse(Error::RunEnded(change.run.clone())),
            Some(row) if !holds(change.expect, row.turn, row.len) => {
                refuse(Error::Conflict(change.run.clone()))
            }
            Some(_) => Ok(()),
        },
        Change::Append(change) => append::judge(core, scene, change),
        Change::Register(flow) => register::judge(core, flow),
        Change::Enqueue(jobs) => queue::judge_add(core, jobs),
        Change::Settle(settle) => scene.hold(core, settle),
        Change::Note(note) => queue::judge_lease(core, &note.lease),
        Change::Steer { job, steer, .. } => queue::judge_steer(core, job, steer),
        Change::Await(new) => {
            if scene.run(core, &new.run)?.is_none() {
                return refuse(Error::RunNotFound(new.run.clone()));
            }
            scene.awaits.judge_new(core, new)
        }
        Change::Fire(fire) => scene.awaits.judge_fire(core, fire),
        Change::Expire { id, fired, judged } => {
            scene.awaits.judge_expiry(core, id, *fired, *judged)
        }
        Change::Trigger(new) => triggers::judge_put(core, &mut scene.triggers, new),
        Change::Untrigger { id, version, .. } => {
            triggers::judge_removal(core, &mut scene.triggers, id, *version)
        }
        Change::Fired(firing) => triggers::judge_fire(core, &mut scene.triggers, firing),
        Change::Once(once) => once::judge(core, once),
        Change::Trim { .. }
        | Change::Abandon { .. }
        | Change::DropJob { .. }
        | Change::Pause { .. }
        | Change::Wake(_)
        | Change::Unawait(_)
        | Change::Signal(_)
        | Change::Listen { .. }
        | Change::Heard(_) => Ok(()),
        Change::Delete(run) => match scene.run(core, run)? {
            None => refuse(Error::RunNotFound(run.clone())),
            Some(row) if !row.status.is_ended() => refuse(Error::NotEnded(run.clone())),
            Some(_) => Ok(()),
        },
    }
}

fn holds(expect: Expect, turn: u64, len: u64) -> bool {
    match expect {
        Expect::Any => true,
        Expect::Turn(expected) => expected == turn,
        Expect::Len(expected) => expected == len,
    }
}

fn refuse<T>(error: Error) -> Worked<T> {
    Err(Failure::Refused(error))
}
