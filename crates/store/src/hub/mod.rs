//! Live delivery inside one process. Lossy by design: a reader that falls behind, or that doubts,
//! reads the store from the last position it saw. Correctness never depends on the hub.
//!
//! Each kind of listener has a file: readers of a stream (`subscription`), of a queue
//! (`queue_channel`) and of kinds of events (`log_channel`), holders of leases (`holder`), and those
//! who wait for the end of a run (`ending`).

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

/// Who listens to what.
pub struct Hub {
    /// Leads to the hubs of other instances.
    bus: Arc<dyn Bus>,
    /// Whether there can be any: asked for every commit, so it must cost nothing.
    has_others: bool,
    streams: DashMap<StreamName, broadcast::Sender<Arc<Batch>>>,
    /// What is held for their readers.
    loads: Loads,
    /// How many of them are jobs': looked at for every job, so it must cost nothing.
    jobs: AtomicUsize,
    /// The live channels of queues.
    channels: Channels,
    /// Those who listen to kinds of events, in whatever stream.
    log_channels: LogChannels,
    /// Groups of commits that were handed to the store, and those of them that were published.
    begun: AtomicU64,
    published: AtomicU64,
    caught_up: Notify,
    /// Those who hold a run's lease here and want to know when somebody else moves it.
    holders: DashMap<RunId, Arc<Notify>>,
    /// Those who wait for the end of a run.
    ends: DashMap<RunId, Arc<End>>,
    /// Those who claim jobs of a queue here.
    workers: DashMap<Name, Arc<Notify>>,
    /// The earliest time at which a claim may find something, as far as anybody said.
    due_ms: AtomicI64,
    due: Notify,
    /// Whoever looks after the outbox.
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
    /// The bytes that are held for slow readers where nothing else is said.
    pub const MAX_BYTES: usize = 64 << 20;

    /// A hub that holds at most so many bytes for readers that have not read them yet.
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
    /// Listens to what happens to the jobs of a queue from now on.
    pub fn listen(self: &Arc<Self>, queue: &Name, now_ms: Millis) -> Listener {
        Listener::new(self.clone(), queue, now_ms)
    }

    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Listens to events of these kinds, of whatever stream, from now on.
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

    /// Waits until all that the store was given before now is published, or was refused.
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

    /// What is notified when a queue may have something to claim.
    pub fn work(&self, queue: &Name) -> Arc<Notify> {
        self.workers.entry(queue.clone()).or_default().clone()
    }

    /// A queue may have something to claim.
    pub fn work_in(&self, queue: &str) {
        if let Some(worker) = self.workers.get(queue) {
            worker.notify_one();
        }
    }

    /// Somebody may claim something at this time.
    pub fn due_at(&self, ms: Millis) {
        if self.due_ms.fetch_min(ms, Ordering::AcqRel) > ms {
            self.due.notify_one();
        }
    }

    /// Forgets the earliest time, before the store is asked for it again. What is said between
    /// the two is kept.
    pub fn forget_due(&self) {
        self.due_ms.store(NEVER, Ordering::Release);
    }

    pub fn next_due(&self) -> Millis {
        self.due_ms.load(Ordering::Acquire)
    }

    /// Waits until an earlier due time was said.
    pub async fn due_changed(&self) {
        self.due.notified().await;
    }

    /// What is notified when something has entered the outbox. It is for one who waits; a signal
    /// that comes before is not lost.
    pub fn signals(&self) -> &Notify {
        &self.signals
    }

    /// Changes whenever a trigger comes, goes or is changed, and a schedule with it.
    pub fn triggers(&self) -> watch::Receiver<u64> {
        self.triggers.subscribe()
    }
}
