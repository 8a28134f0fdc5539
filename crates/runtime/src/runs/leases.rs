//! The leases of the runs that this instance drives, kept alive by one heartbeat.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use riverrun_store::{Beat, RunLease};
use riverrun_types::RunId;
use tokio::sync::Notify;

use super::Runs;

#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<HashMap<RunId, LeaseEntry>>,
    /// Notified when the first lease is added.
    some: Notify,
}

#[derive(Clone)]
struct LeaseEntry {
    lease: RunLease,
    is_lost: Arc<AtomicBool>,
}

/// A lease that heartbeats keep alive, until this is dropped.
pub(crate) struct Keep {
    runs: Runs,
    held: LeaseEntry,
}

impl Runs {
    pub(crate) fn keep(&self, lease: RunLease) -> Keep {
        let held = LeaseEntry {
            lease,
            is_lost: Arc::default(),
        };
        {
            let mut leases = self.leases().held.lock();
            if leases.is_empty() {
                self.leases().some.notify_one();
            }
            leases.insert(held.lease.run.clone(), held.clone());
        }
        Keep {
            runs: self.clone(),
            held,
        }
    }
}

impl Keep {
    pub fn lease(&self) -> &RunLease {
        &self.held.lease
    }

    pub fn is_lost(&self) -> bool {
        self.held.is_lost.load(Ordering::Acquire)
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        let mut leases = self.runs.leases().held.lock();
        // A run that was claimed again meanwhile has a newer lease here.
        if leases
            .get(&self.held.lease.run)
            .is_some_and(|held| held.lease == self.held.lease)
        {
            leases.remove(&self.held.lease.run);
        }
    }
}

/// Renews all leases together, three times per lease duration.
pub(crate) async fn heartbeat(runs: Runs) {
    let every = runs.base().options().lease / 3;
    let lease_ms = runs.base().lease_ms();
    loop {
        let beat = async {
            if runs.leases().held.lock().is_empty() {
                runs.leases().some.notified().await;
            }
            runs.base().clock().sleep_to_beat(every).await;
        };
        if !runs.base().rest(beat).await {
            return;
        }
        let held: Vec<LeaseEntry> = runs.leases().held.lock().values().cloned().collect();
        if held.is_empty() {
            continue;
        }
        let leases: Vec<RunLease> = held.iter().map(|held| held.lease.clone()).collect();
        match runs
            .base()
            .store()
            .heartbeat(&leases, runs.base().now_ms().saturating_add(lease_ms))
            .await
        {
            Ok(beats) => {
                for (held, beat) in held.iter().zip(beats) {
                    held.is_lost.store(beat == Beat::Lost, Ordering::Release);
                    if beat != Beat::Held {
                        runs.base().hub().nudge(&held.lease.run);
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "leases could not be renewed"),
        }
    }
}
