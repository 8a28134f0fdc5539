//! The worker of a queue: it claims as many jobs as there is room for, and sleeps otherwise.
//!
//! Nothing is polled. It wakes when a job is added or comes free, when one of its own ends, when a
//! delay or a rate's window is over, and when the process changes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use riverrun_store::{ClaimJobs, ClaimedJob, ClaimedJobs};
use riverrun_types::{Millis, Name};
use tokio::sync::Notify;

use super::{
    process::{Current, Process},
    request::KeptOptions,
};
use crate::{
    Runtime,
    clock::{now_ms, until},
    runtime::lease_ms,
};

/// The most jobs of one claim.
const MAX_CLAIM: usize = 1_024;

/// How many jobs of a queue run here.
struct Room {
    used: AtomicUsize,
    /// Of the queue: an end makes room as an added job makes work.
    work: Arc<Notify>,
}

/// Room that jobs take; given back when they have ended.
struct Taken {
    room: Arc<Room>,
    count: usize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.used.fetch_sub(self.count, Ordering::AcqRel);
        self.room.work.notify_one();
    }
}

pub(super) async fn work(runtime: Runtime, queue: Name, mut current: Current) {
    let room = Arc::new(Room {
        used: AtomicUsize::new(0),
        work: runtime.bus().work(&queue),
    });
    loop {
        let Some(process) = current.borrow_and_update().clone() else {
            return;
        };
        if runtime.is_stopping() {
            return;
        }
        let free = (process.config.concurrency as usize)
            .saturating_sub(room.used.load(Ordering::Acquire))
            .min(MAX_CLAIM);
        let mut next_ms = None;
        if free > 0 {
            match claim(&runtime, &process, free).await {
                Ok(claimed) => {
                    let is_all = claimed.jobs.len() == free;
                    next_ms = claimed.next_ms;
                    launch(&runtime, &process, &room, claimed.jobs);
                    if is_all {
                        continue;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, %queue, "no jobs could be claimed; trying again");
                    next_ms = Some(now_ms() + 500);
                }
            }
        }
        tokio::select! {
            () = room.work.notified() => {}
            () = sleep_until(next_ms) => {}
            changed = current.changed() => if changed.is_err() { return },
            () = runtime.stopping() => return,
        }
    }
}

async fn sleep_until(ms: Option<Millis>) {
    match ms {
        None => std::future::pending().await,
        // Never at once again: what is due now and still cannot begin is waited for a little.
        Some(ms) => tokio::time::sleep(until(ms).max(Duration::from_millis(1))).await,
    }
}

async fn claim(runtime: &Runtime, process: &Process, limit: usize) -> crate::Result<ClaimedJobs> {
    let now = now_ms();
    let claim = ClaimJobs {
        queue: process.config.queue.clone(),
        owner: runtime.options().owner.clone(),
        limit,
        now_ms: now,
        until_ms: now.saturating_add(lease_ms(runtime)),
        limits: process.config.limits,
    };
    let queue = claim.queue.clone();
    let claimed = runtime.store().claim_jobs(claim).await?;
    runtime.bus().claimed(&queue, &claimed.jobs, now).await;
    Ok(claimed)
}

/// Begins what was claimed: each job on its own, or in batches where the process wants them.
fn launch(runtime: &Runtime, process: &Arc<Process>, room: &Arc<Room>, jobs: Vec<ClaimedJob>) {
    let size = process.config.batch.map_or(1, |size| size as usize);
    // Steps of flows are run one by one: each belongs to a run of its own.
    let (steps, jobs): (Vec<_>, Vec<_>) = match size {
        1 => (Vec::new(), jobs),
        _ => jobs.into_iter().partition(is_step),
    };
    for step in steps {
        launch_one(runtime, process, room, vec![step]);
    }
    let mut jobs = jobs.into_iter();
    loop {
        let batch: Vec<ClaimedJob> = jobs.by_ref().take(size).collect();
        if batch.is_empty() {
            return;
        }
        launch_one(runtime, process, room, batch);
    }
}

fn is_step(job: &ClaimedJob) -> bool {
    KeptOptions::read(job.options.as_ref()).step.is_some()
}

fn launch_one(runtime: &Runtime, process: &Arc<Process>, room: &Arc<Room>, jobs: Vec<ClaimedJob>) {
    room.used.fetch_add(jobs.len(), Ordering::AcqRel);
    let taken = Taken {
        room: room.clone(),
        count: jobs.len(),
    };
    let (task, process) = (runtime.clone(), process.clone());
    runtime.spawn(async move {
        task.attempt(&process, jobs).await;
        drop(taken);
    });
}
