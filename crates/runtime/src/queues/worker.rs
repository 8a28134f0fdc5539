//! The worker of a queue: it claims as many jobs as there is room for, and sleeps otherwise.
//!
//! The worker does not poll. It wakes when a job is added or released, when one of its own ends,
//! when a delay or a rate's window is over, when the process changes, and when a remote worker has
//! room.

use std::sync::Arc;

use futures::future::BoxFuture;
use riverrun_contract::{MAX_CLAIM, Process};
use riverrun_store::{ClaimJobs, ClaimedJob, ClaimedJobs};
use riverrun_types::{Millis, Name, RunId};
use tokio::task::JoinHandle;

use super::{
    Queues,
    request::KeptOptions,
    room::{ReservedRoom, Room},
};
use crate::{
    base::Result,
    crashes::{StartPermit, Unit},
    processes::Current,
};

pub(super) async fn work(queues: Queues, queue: Name, mut current: Current) {
    let room = queues
        .rooms()
        .of(&queue, || queues.base().hub().work(&queue));
    loop {
        let Some(process) = current.borrow_and_update().clone() else {
            return;
        };
        if queues.base().is_stopping() {
            return;
        }
        let mut free = free(&process, &room);
        // If the room of remote workers is what counts, they signal when they have more.
        let is_full = free.jobs == 0 && free.more.is_none();
        let mut next_ms = None;
        let mut are_left = true;
        // Before it is known whether ends matter: no end that comes meanwhile is missed.
        room.wants_ends(true);
        if free.jobs > 0 {
            let start_permit = queues.alone().start_permit().await;
            if queues.base().is_stopping() {
                return;
            }
            let most = start_permit.most(free.jobs, batch_size(&process));
            match claim(&queues, &process, most).await {
                Ok(claimed) => {
                    let is_all = claimed.jobs.len() == most;
                    next_ms = claimed.next_ms;
                    are_left = claimed.are_left;
                    free.use_for(claimed.jobs.len());
                    begin(&queues, &process, &room, start_permit, claimed.jobs).await;
                    if is_all {
                        continue;
                    }
                    // Room is not the limit.
                    free.more = None;
                }
                Err(error) => {
                    tracing::warn!(%error, %queue, "jobs could not be claimed; trying again");
                    next_ms = Some(queues.base().now_ms() + 500);
                    free.more = None;
                }
            }
        }
        let more = free.more.take();
        drop(free);
        // If no job waits, an added job wakes the worker itself.
        room.wants_ends(is_full || are_left && is_limited(&process));
        if is_full && own_room(&process, &room) > 0 {
            continue;
        }
        let goes_on = async {
            tokio::select! {
                () = room.news() => true,
                () = roomier(more) => true,
                () = sleep_until(&queues, next_ms) => true,
                changed = current.changed() => changed.is_ok(),
                () = queues.base().stopping() => false,
            }
        };
        if !queues.base().clock().rest(goes_on).await {
            return;
        }
    }
}

/// How many jobs can be begun now.
struct Free<'a> {
    process: &'a Process,
    jobs: usize,
    /// Places that were reserved on remote workers.
    places: usize,
    more: Option<BoxFuture<'static, ()>>,
}

fn free<'a>(process: &'a Process, room: &Room) -> Free<'a> {
    let own = own_room(process, room);
    let Some(places) = process.provider.places() else {
        return Free {
            process,
            jobs: own,
            places: 0,
            more: None,
        };
    };
    let size = batch_size(process);
    let taken = places.take((MAX_CLAIM / size).max(1));
    Free {
        process,
        jobs: taken.count * size,
        places: taken.count,
        more: Some(taken.more),
    }
}

/// Room for whole batches: a batch that is cut short for want of room would separate jobs that
/// belong together.
fn own_room(process: &Process, room: &Room) -> usize {
    let free = room.free(process).min(MAX_CLAIM);
    free - free % batch_size(process)
}

impl Free<'_> {
    /// This many jobs use the places that they need.
    fn use_for(&mut self, jobs: usize) {
        let needed = jobs.div_ceil(batch_size(self.process));
        self.places = self.places.saturating_sub(needed);
    }
}

/// Unused places are released.
impl Drop for Free<'_> {
    fn drop(&mut self) {
        if let (Some(places), 1..) = (self.process.provider.places(), self.places) {
            places.give_back(self.places);
        }
    }
}

async fn roomier(more: Option<BoxFuture<'static, ()>>) {
    match more {
        None => std::future::pending().await,
        Some(more) => more.await,
    }
}

fn batch_size(process: &Process) -> usize {
    process.config.batch.map_or(1, |size| size.max(1) as usize)
}

/// Whether the jobs that may begin depend on running ones, not on room alone.
fn is_limited(process: &Process) -> bool {
    process.provider.places().is_some() || process.config.limits.start_rules().after_ends
}

async fn sleep_until(queues: &Queues, ms: Option<Millis>) {
    let Some(ms) = ms else {
        return std::future::pending().await;
    };
    // Never at once again: a job that is due now and still cannot begin is waited for a little.
    let soon = queues.base().now_ms() + 1;
    queues.base().clock().sleep_until(ms.max(soon)).await;
}

async fn claim(queues: &Queues, process: &Process, limit: usize) -> Result<ClaimedJobs> {
    let now = queues.base().now_ms();
    let claim = ClaimJobs {
        queue: process.config.queue.clone(),
        owner: queues.base().options().owner.clone(),
        limit,
        now_ms: now,
        until_ms: now.saturating_add(queues.base().lease_ms()),
        limits: process.config.limits,
    };
    let queue = claim.queue.clone();
    let claimed = queues.base().store().claim_jobs(claim).await?;
    queues
        .base()
        .hub()
        .claimed(&queue, &claimed.jobs, now)
        .await;
    Ok(claimed)
}

/// Begins the claimed jobs; if units are taken up one at a time, waits until this one has passed.
async fn begin(
    queues: &Queues,
    process: &Arc<Process>,
    room: &Arc<Room>,
    start_permit: StartPermit,
    jobs: Vec<ClaimedJob>,
) {
    let alone = queues.alone();
    if alone.is_over() || jobs.is_empty() {
        launch(queues, process, room, jobs);
        return;
    }
    let ids: Vec<RunId> = jobs.iter().map(|job| job.lease.id.clone()).collect();
    let units = ids.iter().cloned().map(Unit::Job).collect();
    alone.record(&start_permit, units).await;
    let running = launch(queues, process, room, jobs);
    alone.watch(start_permit, &ids, running).await;
}

/// Begins the claimed jobs: each on its own, or in batches if the process wants them.
fn launch(
    queues: &Queues,
    process: &Arc<Process>,
    room: &Arc<Room>,
    jobs: Vec<ClaimedJob>,
) -> Vec<JoinHandle<()>> {
    let mut running = Vec::new();
    let size = batch_size(process);
    // Steps of flows are run one by one: each belongs to a run of its own.
    let (steps, jobs): (Vec<_>, Vec<_>) = match size {
        1 => (Vec::new(), jobs),
        _ => jobs.into_iter().partition(is_step),
    };
    for step in steps {
        running.push(launch_one(queues, process, room, vec![step]));
    }
    let mut jobs = jobs.into_iter();
    loop {
        let batch: Vec<ClaimedJob> = jobs.by_ref().take(size).collect();
        if batch.is_empty() {
            return running;
        }
        running.push(launch_one(queues, process, room, batch));
    }
}

fn is_step(job: &ClaimedJob) -> bool {
    KeptOptions::read(job.options.as_ref()).step.is_some()
}

fn launch_one(
    queues: &Queues,
    process: &Arc<Process>,
    room: &Arc<Room>,
    jobs: Vec<ClaimedJob>,
) -> JoinHandle<()> {
    launch_in(queues, process, room.take(jobs.len()), jobs)
}

/// Begins jobs that have their room.
pub(super) fn launch_in(
    queues: &Queues,
    process: &Arc<Process>,
    taken: ReservedRoom,
    jobs: Vec<ClaimedJob>,
) -> JoinHandle<()> {
    if let [job] = &jobs[..]
        && let Some(place) = KeptOptions::read(job.options.as_ref()).step
    {
        return match queues.steps() {
            Some(steps) => queues
                .base()
                .spawn(steps.attempt(job.clone(), place, taken)),
            // The runtime was dropped: the lease of the job expires.
            None => queues.base().spawn(std::future::ready(())),
        };
    }
    let (task, process) = (queues.clone(), process.clone());
    // On the heap before it is spawned: a task is copied several times on its way.
    queues.base().spawn(Box::pin(async move {
        task.attempt(&process, jobs).await;
        drop(taken);
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<F>(_: impl FnOnce() -> F) -> usize {
        size_of::<F>()
    }

    /// Every job is one of these, allocated and copied when it begins: fields that an attempt
    /// seldom needs are boxed.
    #[test]
    fn attempts_are_small() {
        let queues: fn() -> &'static Queues = || unreachable!();
        let process: fn() -> &'static Arc<Process> = || unreachable!();
        let jobs = size(|| queues().attempt(process(), Vec::new()));
        assert!(jobs < 4_000, "{jobs} bytes");
    }
}
