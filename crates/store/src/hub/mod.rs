//! Live delivery inside one process. Lossy by design: a reader that falls behind, or cannot be
//! sure, reads the store from the last position it saw. Correctness never depends on the hub.
//!
//! Each kind of listener has a file: readers of a stream (`subscription`), of a queue
//! (`queue_channel`) and of kinds of events (`log_channel`), holders of leases (`holder`), and
//! subscribers to the end of a run (`ending`).

mod ending;
mod hints;
mod holder;
mod jobs;
mod load;
mod log_channel;
mod publish;
mod queue_channel;
mod subscription;

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering},
};

use dashmap::DashMap;
use riverrun_types::{Millis, Name, RunId, StreamName, time::NEVER};
use tokio::sync::{Notify, broadcast, watch};

use crate::{Bus, Kinds, LocalBus};
use ending::End;
use load::Loads;
use log_channel::LogChannels;
use queue_channel::Channels;

pub use ending::Ending;
pub use holder::Holder;
pub use log_channel::{LogBatch, LogListener, LogUpdate};
pub use queue_channel::{Listener, QueueUpdate};
pub use subscription::{Batch, StreamUpdate, Subscription};

/// The listeners of this process.
pub struct Hub {
    /// Connects to the hubs of other instances.
    bus: Arc<dyn Bus>,
    /// Whether other instances can exist, kept here because it is read for every commit.
    has_others: bool,
    streams: DashMap<StreamName, broadcast::Sender<Arc<Batch>>>,
    /// The batches held for their readers.
    loads: Loads,
    /// How many of them are jobs', kept apart because it is read for every job.
    jobs: AtomicUsize,
    /// The live channels of queues.
    channels: Channels,
    /// The listeners to kinds of events, in any stream.
    log_channels: LogChannels,
    /// The groups of commits that were passed to the store, and how many of them were published.
    begun: AtomicU64,
    published: AtomicU64,
    caught_up: Notify,
    /// The holders of runs' leases here, notified when another task moves the run.
    holders: DashMap<RunId, Arc<Notify>>,
    /// The subscribers to the end of a run.
    ends: DashMap<RunId, Arc<End>>,
    /// The workers that claim jobs of a queue here.
    workers: DashMap<Name, Arc<Notify>>,
    /// The earliest reported time at which a claim may find a run task.
    due_ms: AtomicI64,
    due: Notify,
    /// The task that reads the outbox.
    signals: Notify,
    /// Counts changes of triggers.
    triggers: watch::Sender<u64>,
}

impl Default for Hub {
    fn default() -> Self {
        Self::new(Arc::new(LocalBus), Self::MAX_BYTES)
    }
}

impl Hub {
    /// The default limit of bytes that are held for slow readers.
    pub const MAX_BYTES: usize = 64 << 20;

    /// A hub that holds at most this many bytes for slow readers.
    pub fn new(bus: Arc<dyn Bus>, max_bytes: usize) -> Self {
        let loads = Loads::new(max_bytes);
        Self {
            has_others: bus.has_others(),
            bus,
            streams: DashMap::new(),
            channels: Channels::new(loads.clone()),
            loads,
            jobs: AtomicUsize::new(0),
            log_channels: LogChannels::default(),
            begun: AtomicU64::new(0),
            published: AtomicU64::new(0),
            caught_up: Notify::new(),
            holders: DashMap::new(),
            ends: DashMap::new(),
            workers: DashMap::new(),
            due_ms: AtomicI64::new(NEVER),
            due: Notify::new(),
            signals: Notify::new(),
            triggers: watch::Sender::new(0),
        }
    }
}

impl Hub {
    /// Listens to the jobs of a queue from now on.
    pub fn listen(self: &Arc<Self>, queue: &Name, now_ms: Millis) -> Listener {
        Listener::new(self.clone(), queue, now_ms)
    }

    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Listens to events of these kinds, in any stream, from now on.
    pub fn listen_to(self: &Arc<Self>, kinds: &Kinds) -> LogListener {
        LogListener::new(self.clone(), kinds)
    }

    pub(crate) fn log_channels(&self) -> &LogChannels {
        &self.log_channels
    }

    pub(crate) fn begin_group(&self) {
        self.begun.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn end_group(&self) {
        self.published.fetch_add(1, Ordering::AcqRel);
        self.caught_up.notify_waiters();
    }

    /// Waits until every commit that the store got before now is published, or was rejected.
    pub(super) async fn catch_up(&self) {
        let begun = self.begun.load(Ordering::Acquire);
        loop {
            let mut caught_up = std::pin::pin!(self.caught_up.notified());
            caught_up.as_mut().enable();
            if self.published.load(Ordering::Acquire) >= begun {
                return;
            }
            caught_up.await;
        }
    }

    /// Notified when a queue may have jobs to claim.
    pub fn work(&self, queue: &Name) -> Arc<Notify> {
        self.workers.entry(queue.clone()).or_default().clone()
    }

    /// A queue may have jobs to claim.
    pub fn work_in(&self, queue: &str) {
        if let Some(worker) = self.workers.get(queue) {
            worker.notify_one();
        }
    }

    /// A run task may be claimed at this time.
    pub fn due_at(&self, ms: Millis) {
        if self.due_ms.fetch_min(ms, Ordering::AcqRel) > ms {
            self.due.notify_one();
        }
    }

    /// Resets the earliest time, before the store is asked for it again. Times reported between the
    /// two are kept.
    pub fn forget_due(&self) {
        self.due_ms.store(NEVER, Ordering::Release);
    }

    pub fn next_due(&self) -> Millis {
        self.due_ms.load(Ordering::Acquire)
    }

    /// Waits until an earlier due time was reported.
    pub async fn due_changed(&self) {
        self.due.notified().await;
    }

    /// Notified when a signal has entered the outbox. It has one waiter; an earlier notification is
    /// not lost.
    pub fn signals(&self) -> &Notify {
        &self.signals
    }

    /// Changes whenever a trigger, or a schedule with it, is added, changed or removed.
    pub fn triggers(&self) -> watch::Receiver<u64> {
        self.triggers.subscribe()
    }
}
