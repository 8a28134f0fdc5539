//! The leases of jobs that run here: renewed together, with a way to stop each job.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
};

use foldhash::HashMap;
use parking_lot::Mutex;
use riverrun_contract::Cancellation;
use riverrun_protocol::CancelReason;
use riverrun_store::JobLease;
use riverrun_types::RunId;
use tokio::sync::Notify;

use super::Queues;
use crate::base::Base;

/// How one job of an invocation is stopped. The handler of a batch is asked to stop once all of its
/// jobs are to stop: until then the others go on.
#[derive(Clone)]
pub(crate) struct Stop {
    /// The job is asked to stop, with the reason.
    wanted: Arc<OnceLock<Option<String>>>,
    /// The jobs of the invocation that are not asked to stop.
    left: Arc<AtomicUsize>,
    cancel: Cancellation,
}

impl Stop {
    /// Of the only job of an invocation.
    pub fn of(cancel: &Cancellation) -> Self {
        Self {
            wanted: Arc::default(),
            left: Arc::new(AtomicUsize::new(1)),
            cancel: cancel.clone(),
        }
    }

    /// Of each job of an invocation.
    pub fn each(cancel: &Cancellation, count: usize) -> Vec<Self> {
        let left = Arc::new(AtomicUsize::new(count));
        let one = || Self {
            wanted: Arc::default(),
            left: left.clone(),
            cancel: cancel.clone(),
        };
        std::iter::repeat_with(one).take(count).collect()
    }

    pub fn is_wanted(&self) -> bool {
        self.wanted.get().is_some()
    }

    pub fn reason(&self) -> Option<&str> {
        self.wanted.get()?.as_deref()
    }

    fn want(&self, reason: Option<&str>) {
        let is_first = self.wanted.set(reason.map(str::to_owned)).is_ok();
        if is_first && self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.cancel.cancel(CancelReason::User);
        }
    }
}

/// Jobs that run here.
#[derive(Default)]
pub(crate) struct Keeper {
    running: Mutex<HashMap<RunId, (u64, Stop)>>,
    /// Notified when the first one begins.
    begun: Notify,
    /// Notified when the last one has ended.
    emptied: Notify,
}

impl Keeper {
    pub fn begin(&self, lease: &JobLease, stop: Stop) {
        let mut running = self.running.lock();
        if running.is_empty() {
            self.begun.notify_one();
        }
        let before = running.insert(lease.id.clone(), (lease.token, stop));
        // The lease was taken from an attempt that still runs here; that attempt counts no more.
        if let Some((_, stop)) = before {
            stop.cancel.cancel(CancelReason::LeaseLost);
        }
    }

    /// Whether the job runs here, under exactly this lease.
    pub fn holds(&self, lease: &JobLease) -> bool {
        let running = self.running.lock();
        let held = running.get(&lease.id);
        held.is_some_and(|(token, _)| *token == lease.token)
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

    /// Asks the job, if it runs here, to stop because it was cancelled.
    pub fn cancel(&self, job: &RunId, reason: Option<&str>) {
        if let Some((_, stop)) = self.running.lock().get(job) {
            stop.want(reason);
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
        for (token, stop) in self.running.lock().values() {
            if tokens.contains(token) {
                stop.cancel.cancel(CancelReason::LeaseLost);
            }
        }
    }

    /// Resolves when a shutdown has begun and no job runs here any more.
    async fn idle(&self, base: &Base) {
        base.stopping().await;
        while !self.running.lock().is_empty() {
            self.emptied.notified().await;
        }
    }
}

/// Renews the leases of all jobs that run here, three times per lease duration.
pub(crate) async fn keep(queues: Queues) {
    let every = queues.base().options().lease / 3;
    let keeper = queues.keeper();
    loop {
        let beat = async {
            if keeper.running.lock().is_empty() {
                keeper.begun.notified().await;
            }
            queues.base().clock().sleep_to_beat(every).await;
        };
        // A shutdown lets jobs finish; their leases are needed until then.
        let goes_on = async {
            tokio::select! {
                () = beat => true,
                () = keeper.idle(queues.base()) => false,
            }
        };
        if !queues.base().clock().rest(goes_on).await {
            return;
        }
        let tokens = keeper.tokens();
        if tokens.is_empty() {
            continue;
        }
        let until = queues
            .base()
            .now_ms()
            .saturating_add(queues.base().lease_ms());
        match queues.base().store().keep_jobs(&tokens, until).await {
            Ok(beats) => {
                keeper.lost(&beats.lost);
                for job in &beats.cancelling {
                    keeper.cancel(job, None);
                }
            }
            Err(error) => tracing::warn!(%error, "the leases of jobs could not be renewed"),
        }
    }
}
