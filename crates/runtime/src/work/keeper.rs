//! The leases of jobs that run here: renewed together, and a way to whoever runs under one.

use std::collections::HashMap;

use parking_lot::Mutex;
use riverrun_protocol::CancelReason;
use riverrun_store::JobLease;
use riverrun_types::RunId;
use tokio::sync::Notify;

use super::Cancellation;
use crate::{Runtime, clock::now_ms, runtime::lease_ms};

/// Jobs that run here.
#[derive(Default)]
pub(crate) struct Keeper {
    running: Mutex<HashMap<RunId, (u64, Cancellation)>>,
    /// Told when the last one has ended.
    emptied: Notify,
}

impl Keeper {
    pub fn begin(&self, lease: &JobLease, cancel: &Cancellation) {
        self.running
            .lock()
            .insert(lease.id.clone(), (lease.token, cancel.clone()));
    }

    pub fn end(&self, lease: &JobLease) {
        let mut running = self.running.lock();
        // A job that was claimed anew meanwhile has a newer lease here.
        if running
            .get(&lease.id)
            .is_some_and(|(token, _)| *token == lease.token)
        {
            running.remove(&lease.id);
            if running.is_empty() {
                self.emptied.notify_one();
            }
        }
    }

    /// Tells the job, if it runs here, to stop.
    pub fn cancel(&self, job: &RunId, reason: CancelReason) -> bool {
        match self.running.lock().get(job) {
            None => false,
            Some((_, cancel)) => {
                cancel.cancel(reason);
                true
            }
        }
    }

    fn tokens(&self) -> Vec<u64> {
        let running = self.running.lock();
        let mut tokens: Vec<u64> = running.values().map(|(token, _)| *token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    fn lost(&self, tokens: &[u64]) {
        for (token, cancel) in self.running.lock().values() {
            if tokens.contains(token) {
                cancel.cancel(CancelReason::LeaseLost);
            }
        }
    }

    /// Resolves when a shutdown has begun and nothing runs here any more.
    async fn idle(&self, runtime: &Runtime) {
        runtime.stopping().await;
        while !self.running.lock().is_empty() {
            self.emptied.notified().await;
        }
    }
}

/// Renews the leases of all jobs that run here, three times in a lease's life.
pub(crate) async fn keep(runtime: Runtime) {
    let every = runtime.options().lease / 3;
    let keeper = runtime.keeper();
    loop {
        // A shutdown lets jobs finish; their leases are needed until then.
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = keeper.idle(&runtime) => return,
        }
        let tokens = keeper.tokens();
        if tokens.is_empty() {
            continue;
        }
        let until = now_ms().saturating_add(lease_ms(&runtime));
        match runtime.store().keep_jobs(&tokens, until).await {
            Ok(beats) => {
                keeper.lost(&beats.lost);
                for job in &beats.cancelling {
                    keeper.cancel(job, CancelReason::User);
                }
            }
            Err(error) => tracing::warn!(%error, "the leases of jobs could not be renewed"),
        }
    }
}
