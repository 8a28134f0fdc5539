//! Claiming run tasks: a run is driven when its task is due, as many at once as the limit allows.
//!
//! Nothing is polled. The loop sleeps to the next due time that the store knows, and commits that
//! make a run task due earlier wake it.

use riverrun_store::ClaimRunTasks;
use riverrun_types::{RunId, time::NEVER};
use tokio::sync::AcquireError;

use super::{Runs, drive::take_up};
use crate::{
    base::Result,
    crashes::{StartPermit, Unit},
};

/// Runs between their claim and the commit of their first decision. This limit makes a hundred
/// thousand runs that are due in the same second wait here, and not before runs that are started
/// meanwhile.
pub(crate) const MOST: u32 = 24;

pub(crate) async fn claim(runs: Runs) {
    let retry = std::time::Duration::from_millis(500);
    loop {
        // Room first: claimed runs are driven at once. Several at a time, since a claim is a write.
        let drivers = runs.drivers().clone().acquire_owned();
        let taking = runs.taking().clone().acquire_many_owned(MOST / 2);
        let room = async { Ok::<_, AcquireError>((drivers.await?, taking.await?)) };
        let Ok(room) = runs.base().clock().rest(room).await else {
            return;
        };
        drop(room);
        if runs.base().is_stopping() {
            return;
        }
        let drivers = runs.drivers().available_permits();
        let limit = drivers.min(runs.taking().available_permits()).max(1);
        let start_permit = runs.alone().start_permit().await;
        if runs.base().is_stopping() {
            return;
        }
        let limit = start_permit.most(limit, 1);
        match take(&runs, limit, start_permit).await {
            Ok(taken) if taken == limit => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "run tasks could not be claimed; trying again");
                if !runs.base().pause(retry).await {
                    return;
                }
                continue;
            }
        }
        runs.base().hub().forget_due();
        match runs.base().store().next_due().await {
            Ok(due) => runs.base().hub().due_at(due.unwrap_or(NEVER)),
            Err(error) => {
                tracing::warn!(%error, "the next due time is not known; trying again");
                if !runs.base().pause(retry).await {
                    return;
                }
            }
        }
        if !sleep(&runs).await {
            return;
        }
    }
}

async fn take(runs: &Runs, limit: usize, start_permit: StartPermit) -> Result<usize> {
    let now = runs.base().now_ms();
    let claim = ClaimRunTasks {
        owner: runs.base().options().owner.clone(),
        limit,
        now_ms: now,
        until_ms: now.saturating_add(runs.base().lease_ms()),
    };
    let claimed = runs.base().store().claim_run_tasks(claim).await?;
    let taken = claimed.len();
    let ids: Vec<RunId> = claimed
        .iter()
        .map(|run_task| run_task.lease.run.clone())
        .collect();
    let units = ids.iter().cloned().map(Unit::Run).collect();
    let alone = runs.alone();
    alone.record(&start_permit, units).await;
    let mut running = Vec::new();
    for run_task in claimed {
        let (drivers, taking) = (runs.drivers().clone(), runs.taking().clone());
        let (Ok(driver), Ok(taking)) =
            (drivers.acquire_owned().await, taking.acquire_owned().await)
        else {
            break;
        };
        let task = runs.clone();
        running.push(runs.base().spawn(async move {
            take_up(task, run_task, taking).await;
            drop(driver);
        }));
    }
    if taken > 0 {
        alone.watch(start_permit, &ids, running).await;
    }
    Ok(taken)
}

/// Sleeps until something is due; false when a shutdown began.
async fn sleep(runs: &Runs) -> bool {
    loop {
        let due = runs.base().hub().next_due();
        if due <= runs.base().now_ms() {
            return !runs.base().is_stopping();
        }
        let goes_on = async {
            tokio::select! {
                () = runs.base().clock().sleep_until(due) => true,
                () = runs.base().hub().due_changed() => true,
                () = runs.base().stopping() => false,
            }
        };
        if !runs.base().clock().rest(goes_on).await {
            return false;
        }
    }
}
