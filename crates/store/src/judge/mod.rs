//! The rules of a commit: which rows it needs, when it is rejected, and which rows it changes.
//!
//! Every adapter follows the same steps in the same order, so that it brings storage and no rules:
//!
//! 1. [`Needs::of`] names the rows that a group of commits may read. An adapter that is far from its
//!    data loads and locks all of them in one trip. One that is near loads each row when it is asked
//!    for. Debug builds check that no other row is read (`named`).
//! 2. [`commit`] judges one commit on [`Rows`]. It reads, and changes nothing: a refusal leaves no
//!    trace, and later changes of the commit see the rows as the earlier ones leave them.
//! 3. The [`Verdict`] holds the [`Write`]s, in order, and the receipt. The adapter makes the writes,
//!    so that the next commit of the group reads their results, and completes the receipt with the
//!    numbers that only the storage knows ([`crate::Placed::no`]).
//!
//! A write is either a new row, or a change for which no rule has to know the row, such as a
//! counter that grows or a run that is woken. The function that computes the new row for the latter
//! is here too (such as [`RunTask::wake`]); an adapter may do the same in its own statement, to
//! save a read. The conformance suite compares the results.
//!
//! Rows carry a `place`: where the adapter finds them again. The rules ignore it.

mod added;
mod awaits;
mod claim;
mod delivery;
mod effects;
mod jobs;
mod keys;
#[cfg(debug_assertions)]
mod named;
mod needs;
mod queues;
mod runs;
mod streams;
mod triggers;
mod write;

pub use added::{NameFate, NameHold, NameRow, NameVerdict, Takes};
pub use awaits::{AwaitEnd, AwaitRows};
pub use claim::{ClaimRows, claim};
pub use delivery::{Delivery, DeliveryRows, ShapeRow, deliver};
pub use effects::{ErrorChange, JobEffect, Losses};
pub use jobs::{Cancel, JobRow, JobRows};
pub use keys::KeyRows;
pub use needs::{Needs, RunKey};
pub use queues::{BLOCKED, LaneRow, LaneShift, QueueRow};
pub use runs::{RunRow, RunRows, RunTask};
pub use streams::{Extension, StreamRow, StreamRows, last_ms};
pub use triggers::{TriggerRow, TriggerRows};
pub use write::Write;

use crate::{Change, Commit, Error, Receipt};

/// The rules reject a commit. No part of it was written.
#[derive(Debug)]
pub struct Refused(pub Error);

/// Reading rows failed, or the rules rejected the commit.
pub trait Read {
    /// Separates a rejection, which concerns one commit, from a storage failure, which concerns
    /// all.
    type Error: From<Refused>;
}

/// All rows that the rules read, by subject. They are as the commits before have left them.
pub trait Rows: RunRows + StreamRows + KeyRows + JobRows + AwaitRows + TriggerRows {}

impl<R: RunRows + StreamRows + KeyRows + JobRows + AwaitRows + TriggerRows> Rows for R {}

/// A commit that is allowed.
#[derive(Debug)]
pub struct Verdict<'a> {
    /// In the order in which they are applied.
    pub writes: Vec<Write<'a>>,
    /// With the fields that the rules know.
    pub receipt: Receipt,
}

/// Judges a commit.
pub fn commit<'a, R: Rows>(rows: &mut R, commit: &'a Commit) -> Result<Verdict<'a>, R::Error> {
    #[cfg(debug_assertions)]
    let rows = &mut named::Named {
        needs: Needs::of(std::slice::from_ref(commit)),
        rows,
    };
    judge(rows, commit)
}

fn judge<'a, R: Rows>(rows: &mut R, commit: &'a Commit) -> Result<Verdict<'a>, R::Error> {
    runs::judge_lease(rows, commit.lease.as_ref())?;
    let mut judging = Judging {
        rows,
        commit,
        later: &commit.changes,
        changed: Changed::default(),
        writes: Vec::with_capacity(commit.changes.len() + 2),
        receipt: Receipt::default(),
    };
    while let Some((change, later)) = judging.later.split_first() {
        judging.later = later;
        judging.change(change)?;
    }
    Ok(Verdict {
        writes: judging.writes,
        receipt: judging.receipt,
    })
}

/// A commit that is being judged.
struct Judging<'a, 'r, R> {
    rows: &'r mut R,
    commit: &'a Commit,
    /// The changes after the one that is being judged.
    later: &'a [Change],
    changed: Changed,
    writes: Vec<Write<'a>>,
    receipt: Receipt,
}

/// The rows that the commit has changed so far.
#[derive(Default)]
struct Changed {
    runs: runs::Changed,
    streams: streams::Changed,
    keys: keys::Changed,
    jobs: jobs::Changed,
    awaits: awaits::Changed,
    triggers: triggers::Changed,
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    fn change(&mut self, change: &'a Change) -> Result<(), R::Error> {
        match change {
            Change::Create(new) => self.create(new),
            Change::Advance(change) => self.advance(change),
            Change::Append(change) => self.append(change),
            Change::Wake(run) => self.wake(run),
            Change::Delete(run) => self.delete(run),
            Change::Register(flow) => self.register(flow),
            Change::Once(once) => self.once(once),
            Change::Enqueue(jobs) => self.enqueue(jobs),
            Change::Settle(settle) => self.settle(settle),
            Change::Note(note) => self.note(note),
            Change::Steer { job, steer, now_ms } => self.steer(job, steer, *now_ms),
            Change::Abandon { job, .. } => self.abandon(job),
            Change::DropJob { job, .. } => self.drop_job(job),
            Change::Pause {
                queue,
                paused,
                now_ms,
            } => self.write(Write::PauseQueue {
                queue,
                paused: *paused,
                now_ms: *now_ms,
            }),
            Change::Await(new) => self.add_await(new),
            Change::Unawait(id) => self.end_await(id),
            Change::Expire { id, fired, judged } => self.expire(id, *fired, *judged),
            Change::Fire(fire) => self.fire(fire),
            Change::Signal(signal) => self.signal(signal),
            Change::Listen { kind, on } => self.write(Write::Listen { kind, on: *on }),
            Change::RemoveSignal(no) => self.write(Write::RemoveSignal(*no)),
            Change::Trigger(new) => self.put_trigger(new),
            Change::Untrigger {
                id,
                version,
                now_ms,
            } => self.remove_trigger(id, *version, *now_ms),
            Change::Fired(firing) => self.fire_trigger(firing),
            Change::Trim { stream, keep } => self.write(Write::TrimStream {
                stream,
                keep: *keep,
            }),
        }
    }

    fn write(&mut self, write: Write<'a>) -> Result<(), R::Error> {
        self.writes.push(write);
        Ok(())
    }

    /// Whether a later change may read the result of this one.
    fn is_followed(&self) -> bool {
        !self.later.is_empty()
    }
}

fn refuse<T, E: From<Refused>>(error: Error) -> Result<T, E> {
    Err(Refused(error).into())
}

#[cfg(test)]
mod tests;
