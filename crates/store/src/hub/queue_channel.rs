//! The live channel of a queue: the events of its jobs, as they happen.
//!
//! None of it is stored, and without a listener no event is built. A listener that falls behind
//! gets the number of batches that it missed; the jobs themselves are in the store.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use dashmap::DashMap;
use parking_lot::Mutex;
use riverrun_types::{Draft, EventId, Json, Millis, Name, RunId, StreamName, event::EventContext};
use tokio::sync::broadcast;

use super::load::Loads;
use crate::{
    Batch, ClaimedJob, NewJob, Note, Reason, Settle, Settled, Steer, Steered, Waits, life,
};

/// Batches that a listener may lag behind before it misses some.
const BACKLOG: usize = 1_024;
/// Larger results and errors are left out here: they are in the job's own stream.
const MAX_BYTES: usize = 8 << 10;

/// The channels of the queues that have listeners.
pub(crate) struct Channels {
    /// The batches held for their listeners.
    loads: Loads,
    open: DashMap<Name, Arc<Channel>>,
    /// The number of channels, kept apart because it is read for every job.
    count: AtomicUsize,
    /// Grows with every event of any channel, so that ids stay in order when one is opened again.
    next: AtomicU64,
}

struct Channel {
    sender: broadcast::Sender<Arc<Batch>>,
    /// The time of the last event. Held while sending, so that ids have the order of the channel.
    last_ms: Mutex<Millis>,
}

impl Channels {
    pub(crate) fn new(loads: Loads) -> Self {
        Self {
            loads,
            open: DashMap::new(),
            count: AtomicUsize::new(0),
            next: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(crate) fn has(&self, queue: &str) -> bool {
        !self.is_silent() && self.open.contains_key(queue)
    }

    fn listen(&self, queue: &Name, now_ms: Millis) -> (broadcast::Receiver<Arc<Batch>>, EventId) {
        let channel = self.open.entry(queue.clone()).or_insert_with(|| {
            self.count.fetch_add(1, Ordering::AcqRel);
            Arc::new(Channel {
                sender: broadcast::channel(BACKLOG).0,
                last_ms: Mutex::new(now_ms),
            })
        });
        let last_ms = channel.last_ms.lock();
        let begin = EventId {
            ms: *last_ms,
            seq: self.next.fetch_add(1, Ordering::Relaxed),
        };
        (channel.sender.subscribe(), begin)
    }

    fn close(&self, queue: &Name) {
        let closed = self
            .open
            .remove_if(queue, |_, channel| channel.sender.receiver_count() == 0);
        if closed.is_some() {
            self.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Sends the events of `drafts`, if the queue has a listener.
    fn send(&self, queue: &Name, drafts: impl FnOnce() -> Vec<(RunId, Draft)>) {
        let Some(channel) = self.open.get(queue).map(|channel| channel.clone()) else {
            return;
        };
        let drafts = drafts();
        if drafts.is_empty() {
            return;
        }
        let load = self.loads.take(drafts.iter().map(|(_, draft)| draft));
        let mut last_ms = channel.last_ms.lock();
        let first = self.next.fetch_add(drafts.len() as u64, Ordering::Relaxed);
        let events = (first..).zip(drafts).map(|(seq, (job, draft))| {
            *last_ms = draft.ms.max(*last_ms);
            let context = EventContext {
                run_id: Name::from(job.as_str()),
                flow_name: Name::from(StreamName::JOB),
                tenant_id: None,
            };
            draft.at(seq, *last_ms, &context)
        });
        let mut events: Vec<_> = events.collect();
        if load.is_none() {
            // Without room the listeners miss them.
            events.clear();
        }
        // Sending to no receiver is fine: the channel is about to be closed.
        let _ = channel.sender.send(Arc::new(Batch::new(events, load)));
    }

    pub(crate) fn added(&self, job: &NewJob) {
        let queue = &job.queue;
        self.send(queue, || {
            let added = life::added(job.created_ms, queue, job.name.as_ref());
            vec![(job.id.clone(), added)]
        });
    }

    pub(crate) fn claimed(&self, queue: &Name, jobs: &[ClaimedJob], now_ms: Millis) {
        self.send(queue, || {
            let active = |job: &ClaimedJob| {
                let active = life::active(now_ms, queue, job.attempt);
                (job.lease.id.clone(), active)
            };
            jobs.iter().map(active).collect()
        });
    }

    pub(crate) fn noted(&self, note: &Note) {
        let Some(progress) = &note.progress else {
            return;
        };
        let (id, queue) = (&note.lease.id, &note.lease.queue);
        self.send(queue, || {
            let said = small(progress).map(|said| life::progress(note.now_ms, queue, said));
            said.map(|said| (id.clone(), said)).into_iter().collect()
        });
    }

    pub(crate) fn settled(&self, settle: &Settle) {
        let (id, queue) = (&settle.lease.id, &settle.lease.queue);
        let (ms, attempt) = (settle.now_ms, settle.lease.attempt);
        self.send(queue, || {
            let waits = |reason| Waits {
                attempt: Some(attempt),
                ..Waits::new(queue, reason)
            };
            let draft = match &settle.outcome {
                Settled::Completed { result } => life::completed(ms, queue, attempt, small(result)),
                Settled::Failed { error } => life::failed(ms, queue, attempt, small(error)),
                Settled::Cancelled { error } => life::cancelled(ms, queue, attempt, small(error)),
                Settled::Retry { at_ms, error } => {
                    let waits = Waits {
                        error: small(error),
                        ..waits(Reason::Retry)
                    };
                    waits.at(Some(*at_ms)).draft(ms)
                }
                Settled::Lost { error } | Settled::Parked { error } => {
                    let reason = match &settle.outcome {
                        Settled::Lost { .. } => Reason::Stalled,
                        _ => Reason::Parked,
                    };
                    let waits = Waits {
                        error: small(error),
                        ..waits(reason)
                    };
                    waits.draft(ms)
                }
                Settled::Released => waits(Reason::Released).draft(ms),
                // The reason is left out: a step's job is dropped when the run has its outcome.
                Settled::Dropped => life::removed(ms, queue),
            };
            vec![(id.clone(), draft)]
        });
    }

    pub(crate) fn steered(&self, job: &RunId, steer: &Steer, was: &Steered, now_ms: Millis) {
        let queue = &was.queue;
        self.send(queue, || {
            let waits = |reason, at_ms: Millis| {
                let later = Some(at_ms).filter(|at_ms| *at_ms > now_ms);
                Waits::new(queue, reason).at(later).draft(now_ms)
            };
            let draft = match steer {
                Steer::Promote => waits(Reason::Promoted, 0),
                Steer::Retry { at_ms } => waits(Reason::Redriven, *at_ms),
                Steer::Delay { at_ms } => waits(Reason::Delayed, *at_ms),
                Steer::Remove => life::removed(now_ms, queue),
                // The holder of an active job will report its end.
                Steer::Cancel { .. } if was.state == crate::JobState::Active => return Vec::new(),
                Steer::Cancel { reason } => {
                    let error = Steer::cancelled(reason.as_deref());
                    life::cancelled(now_ms, queue, was.attempt, small(&error))
                }
                Steer::Park { error } => {
                    let waits = Waits {
                        error: small(error),
                        ..Waits::new(queue, Reason::Parked)
                    };
                    waits.draft(now_ms)
                }
                Steer::Priority(_) => return Vec::new(),
            };
            vec![(job.clone(), draft)]
        });
    }

    /// Sends an event about the queue as a whole.
    pub(crate) fn said(&self, queue: &Name, draft: Draft) {
        self.send(queue, || vec![(RunId::new(queue), draft)]);
    }
}

fn small(json: &Json) -> Option<&Json> {
    (json.bytes() <= MAX_BYTES).then_some(json)
}

/// A message to a listener to a queue.
#[derive(Debug)]
pub enum QueueUpdate {
    Batch(Arc<Batch>),
    /// The listener was too slow: this many batches were dropped.
    Missed(u64),
}

/// A listener to a queue.
pub struct Listener {
    hub: Arc<crate::Hub>,
    queue: Name,
    receiver: Option<broadcast::Receiver<Arc<Batch>>>,
    begin: EventId,
}

impl Listener {
    pub(crate) fn new(hub: Arc<crate::Hub>, queue: &Name, now_ms: Millis) -> Self {
        let (receiver, begin) = hub.channels().listen(queue, now_ms);
        Self {
            hub,
            queue: queue.clone(),
            receiver: Some(receiver),
            begin,
        }
    }

    /// An id before all events that it receives.
    pub fn begin(&self) -> EventId {
        self.begin
    }

    /// Cancel safe.
    pub async fn next(&mut self) -> QueueUpdate {
        let Some(receiver) = &mut self.receiver else {
            return std::future::pending().await;
        };
        match receiver.recv().await {
            Ok(batch) if batch.events.is_empty() => QueueUpdate::Missed(1),
            Ok(batch) => QueueUpdate::Batch(batch),
            Err(broadcast::error::RecvError::Lagged(count)) => QueueUpdate::Missed(count),
            // The channel stays open for as long as it has a listener.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.receiver = None;
        self.hub.channels().close(&self.queue);
    }
}
