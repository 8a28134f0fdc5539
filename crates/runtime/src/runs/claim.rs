//! Claiming run tasks: a run is driven when its task is due, as many at once as there is room for.
//!
//! Nothing is polled. The loop sleeps to the next due time that the store knows, and commits that
//! make a run task due earlier wake it.

use riverrun_store::ClaimRunTasks;
use riverrun_types::{RunId, time::NEVER};
use tokio::sync::AcquireError;

use super::{drive::take_up, leases::lease_ms};
use crate::{
    base::Result,
    crashes::{StartPermit, Unit},
    runtime::{Runtime, pause},
};

/// Runs that are being taken up at once: from their claim until what is decided first is stored. A
/// hundred thousand that are due in the same second stand in line here, and not before those that
/// begin meanwhile.
pub(crate) const MOST: u32 = 24;

pub(crate) async fn claim(runtime: Runtime) {
    let retry = std::time::Duration::from_millis(500);
    loop {
        // Room first: what is claimed is driven at once. Several at a time, since a claim is a write.
        let drivers = runtime.drivers().clone().acquire_owned();
        let taking = runtime.taking().clone().acquire_many_owned(MOST / 2);
        let room = async { Ok::<_, AcquireError>((drivers.await?, taking.await?)) };
        let Ok(room) = runtime.clock().rest(room).await else {
            return;
        };
        drop(room);
        if runtime.is_stopping() {
            return;
        }
        let drivers = runtime.drivers().available_permits();
        let limit = drivers.min(runtime.taking().available_permits()).max(1);
        let start_permit = runtime.alone().start_permit(&runtime).await;
        if runtime.is_stopping() {
            return;
        }
        let limit = start_permit.most(limit, 1);
        match take(&runtime, limit, start_permit).await {
            Ok(taken) if taken == limit => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "no work could be claimed; trying again");
                if !pause(&runtime, retry).await {
                    return;
                }
                continue;
            }
        }
        runtime.bus().forget_due();
        match runtime.store().next_due().await {
            Ok(due) => runtime.bus().due_at(due.unwrap_or(NEVER)),
            Err(error) => {
                tracing::warn!(%error, "the next due time is not known; trying again");
                if !pause(&runtime, retry).await {
                    return;
                }
            }
        }
        if !sleep(&runtime).await {
            return;
        }
    }
}

async fn take(runtime: &Runtime, limit: usize, start_permit: StartPermit) -> Result<usize> {
    let now = runtime.now_ms();
    let claim = ClaimRunTasks {
        owner: runtime.options().owner.clone(),
        limit,
        now_ms: now,
        until_ms: now.saturating_add(lease_ms(runtime)),
    };
    let claimed = runtime.store().claim_run_tasks(claim).await?;
    let taken = claimed.len();
    let runs: Vec<RunId> = claimed
        .iter()
        .map(|run_task| run_task.lease.run.clone())
        .collect();
    let units = runs.iter().cloned().map(Unit::Run).collect();
    let alone = runtime.alone();
    alone.record(runtime, &start_permit, units).await;
    let mut running = Vec::new();
    for run_task in claimed {
        let (drivers, taking) = (runtime.drivers().clone(), runtime.taking().clone());
        let (Ok(driver), Ok(taking)) =
            (drivers.acquire_owned().await, taking.acquire_owned().await)
        else {
            break;
        };
        let task = runtime.clone();
        running.push(runtime.spawn(async move {
            take_up(task, run_task, taking).await;
            drop(driver);
        }));
    }
    if taken > 0 {
        alone.watch(runtime, start_permit, &runs, running).await;
    }
    Ok(taken)
}

/// Sleeps until something is due; false when a shutdown began.
async fn sleep(runtime: &Runtime) -> bool {
    loop {
        let due = runtime.bus().next_due();
        if due <= runtime.now_ms() {
            return !runtime.is_stopping();
        }
        let goes_on = async {
            tokio::select! {
                () = runtime.clock().sleep_until(due) => true,
                () = runtime.bus().due_changed() => true,
                () = runtime.stopping() => false,
            }
        };
        if !runtime.clock().rest(goes_on).await {
            return false;
        }
    }
}
