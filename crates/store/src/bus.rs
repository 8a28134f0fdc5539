//! Live delivery inside one process. Lossy by design: a reader that falls behind, or that doubts,
//! reads the store from the last position it saw. Correctness never depends on the bus.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering},
};

use dashmap::DashMap;
use riverrun_types::{
    Draft, Event, EventType, Millis, Name, RunId, StreamName, event::EventContext, time::NEVER,
};
use tokio::sync::{Notify, broadcast, watch};

use crate::{
    Change, ClaimedJob, Commit, JobChange, JobState, Kinds, Listener, LogListener, NewJob, Placed,
    Receipt, Settled, Steer, channel::Channels, log_channel::LogChannels,
};

/// Batches that a slow reader may lag behind before it has to read the store.
const BACKLOG: usize = 64;

/// Events of one commit to one stream. Readers of the same stream share it and what they make of
/// it.
#[derive(Debug)]
pub struct Batch {
    pub events: Vec<Event>,
    /// The batch in the form in which readers send it on, made by the first who asks.
    wire: OnceLock<Arc<str>>,
}

impl Batch {
    pub(crate) fn new(events: Vec<Event>) -> Self {
        Self {
            events,
            wire: OnceLock::new(),
        }
    }

    pub fn wire(&self, encode: impl FnOnce(&[Event]) -> String) -> Arc<str> {
        self.wire
            .get_or_init(|| Arc::from(encode(&self.events)))
            .clone()
    }
}

/// Who listens to what.
pub struct Bus {
    streams: DashMap<StreamName, broadcast::Sender<Arc<Batch>>>,
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

impl Default for Bus {
    fn default() -> Self {
        Self {
            streams: DashMap::new(),
            jobs: AtomicUsize::new(0),
            channels: Channels::default(),
            log_channels: LogChannels::default(),
            begun: AtomicU64::new(0),
            published: AtomicU64::new(0),
            caught_up: Notify::new(),
            holders: DashMap::new(),
            workers: DashMap::new(),
            due_ms: AtomicI64::new(NEVER),
            due: Notify::new(),
            signals: Notify::new(),
            triggers: watch::Sender::new(0),
        }
    }
}

impl Bus {
    /// Listens to a stream from now on.
    pub fn subscribe(self: &Arc<Self>, stream: &StreamName) -> Subscription {
        let receiver = self
            .streams
            .entry(stream.clone())
            .or_insert_with(|| {
                if stream.is_job() {
                    self.jobs.fetch_add(1, Ordering::AcqRel);
                }
                broadcast::channel(BACKLOG).0
            })
            .subscribe();
        Subscription {
            bus: self.clone(),
            stream: stream.clone(),
            receiver: Some(receiver),
        }
    }

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

    /// Tells listeners that jobs of a queue have begun. What was committed before they were
    /// claimed is told first: a job begins after it was added.
    pub async fn claimed(&self, queue: &Name, jobs: &[ClaimedJob], now_ms: Millis) {
        if jobs.is_empty() {
            return;
        }
        if self.channels.has(queue) {
            self.catch_up().await;
            self.channels.claimed(queue, jobs, now_ms);
        }
        if self.jobs.load(Ordering::Acquire) > 0 {
            for job in jobs {
                self.look(&job.lease.id);
            }
        }
    }

    /// Tells listeners that a job began where it was added.
    fn taken(&self, job: &ClaimedJob) {
        if !self.channels.is_silent() {
            let queue = &job.lease.queue;
            self.channels
                .claimed(queue, std::slice::from_ref(job), job.ready_ms);
        }
        if self.jobs.load(Ordering::Acquire) > 0 {
            self.look(&job.lease.id);
        }
    }

    /// Tells listeners that jobs of a queue were removed together.
    pub fn purged(&self, queue: &Name, state: JobState, removed: u64, now_ms: Millis) {
        self.look_everywhere();
        if removed > 0 && !self.channels.is_silent() {
            let data = serde_json::json!({"queue": queue, "state": state, "removed": removed});
            let kind = EventType::parse("queue.purged");
            self.channels
                .said(queue, Draft::new(now_ms, kind).data(data));
        }
    }

    /// Tells those who read the streams of jobs to look whether theirs are still there.
    pub fn look_everywhere(&self) {
        if self.jobs.load(Ordering::Acquire) == 0 {
            return;
        }
        for entry in &self.streams {
            if entry.key().is_job() {
                let _ = entry.value().send(Arc::new(Batch::new(Vec::new())));
            }
        }
    }

    /// Tells those who read the stream of a job to look again: its row has moved.
    fn look(&self, job: &RunId) {
        if self.jobs.load(Ordering::Acquire) == 0 {
            return;
        }
        if let Some(sender) = self.streams.get(&StreamName::job(job)) {
            let _ = sender.send(Arc::new(Batch::new(Vec::new())));
        }
    }

    pub(crate) fn begin_group(&self) {
        self.begun.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn end_group(&self) {
        self.published.fetch_add(1, Ordering::AcqRel);
        self.caught_up.notify_waiters();
    }

    /// Waits until all that the store was given before now is published, or was refused.
    async fn catch_up(&self) {
        let begun = self.begun.load(Ordering::Acquire);
        loop {
            let mut told = std::pin::pin!(self.caught_up.notified());
            told.as_mut().enable();
            if self.published.load(Ordering::Acquire) >= begun {
                return;
            }
            told.await;
        }
    }

    /// The streams that somebody listens to.
    pub fn subscribed(&self) -> usize {
        self.streams.len()
    }

    /// Registers the holder of a run's lease; it is notified when anybody else moves the run.
    pub fn hold(self: &Arc<Self>, run: &RunId) -> Holder {
        let notify = Arc::new(Notify::new());
        self.holders.insert(run.clone(), notify.clone());
        Holder {
            bus: self.clone(),
            run: run.clone(),
            notify,
        }
    }

    /// Tells the holder of a run's lease, if it is here, to look again.
    pub fn nudge(&self, run: &RunId) {
        if let Some(holder) = self.holders.get(run) {
            holder.notify_one();
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

    /// Tells everybody what a commit changed. Called by the writer, in the order of commits.
    pub(crate) fn publish(&self, commit: &Commit, receipt: &Receipt) {
        let mut placed = receipt.placed.iter();
        let mut added = receipt.added.iter();
        let mut steered = receipt.steered.iter();
        let mut taken = receipt.taken.iter().peekable();
        for change in &commit.changes {
            match change {
                Change::Create(run) => {
                    if let Some(NewJob::Ready { at_ms }) = run.job {
                        self.due_at(at_ms);
                    }
                    self.deliver(
                        &StreamName::flow(&run.id),
                        &run.context(),
                        &run.events,
                        placed.next(),
                    );
                }
                Change::Advance(advance) => {
                    if let JobChange::Park { at_ms } = advance.job {
                        self.due_at(at_ms);
                    }
                    if commit
                        .lease
                        .as_ref()
                        .is_none_or(|lease| lease.run != advance.run)
                    {
                        self.nudge(&advance.run);
                    }
                    let stream = StreamName::flow(&advance.run);
                    self.deliver(&stream, &advance.context, &advance.events, placed.next());
                }
                Change::Append(append) => {
                    self.deliver(
                        &append.stream,
                        &append.context,
                        &append.events,
                        placed.next(),
                    );
                }
                Change::Enqueue(jobs) => {
                    for (job, added) in jobs.iter().zip(added.by_ref()) {
                        if added.created && !self.channels.is_silent() {
                            self.channels.added(job);
                        }
                        if let Some(job) = taken.next_if(|taken| taken.lease.id == added.id) {
                            self.taken(job);
                        } else if added.created || job.unique.is_some() {
                            self.work_in(&job.queue);
                        }
                    }
                }
                Change::Steer { job, steer, now_ms } => {
                    let Some(was) = steered.next() else {
                        continue;
                    };
                    match steer {
                        Steer::Cancel { .. } => self.nudge(job),
                        _ => self.work_in(&was.queue),
                    }
                    if !self.channels.is_silent() {
                        self.channels.steered(job, steer, was, *now_ms);
                    }
                    self.look(job);
                }
                Change::Pause {
                    queue,
                    paused,
                    now_ms,
                } => {
                    self.work_in(queue);
                    if !self.channels.is_silent() {
                        let kind = if *paused {
                            "queue.paused"
                        } else {
                            "queue.resumed"
                        };
                        let said = Draft::new(*now_ms, EventType::parse(kind));
                        let data = serde_json::json!({ "queue": queue });
                        self.channels.said(queue, said.data(data));
                    }
                }
                Change::Settle(settle) => {
                    if !self.channels.is_silent() {
                        self.channels.settled(settle);
                    }
                    self.look(&settle.lease.id);
                    if matches!(settle.outcome, Settled::Retry { .. } | Settled::Released) {
                        self.work_in(&settle.lease.queue);
                    }
                }
                Change::Note(note) => {
                    if !self.channels.is_silent() {
                        self.channels.noted(note);
                    }
                }
                Change::Register(_) => {}
                Change::Abandon { job, .. } => {
                    self.nudge(job);
                    self.look(job);
                }
                // Whom these woke is in the receipt.
                Change::Await(_)
                | Change::Unawait(_)
                | Change::Expire { .. }
                | Change::Fire(_)
                | Change::Signal(_)
                | Change::Listen { .. }
                | Change::Heard(_) => {}
                Change::Trigger(_) | Change::Untrigger { .. } => {
                    self.triggers.send_modify(|changes| *changes += 1);
                }
                // Whoever takes a due time knows the next one.
                Change::Fired(_) | Change::Trim { .. } | Change::Once(_) => {}
                Change::Wake(run) => {
                    self.nudge(run);
                    self.due_at(0);
                }
                Change::Delete(run) => {
                    self.nudge(run);
                    self.streams.remove(&StreamName::flow(run));
                }
            }
        }
        for run in &receipt.woken {
            self.nudge(run);
        }
        if !receipt.woken.is_empty() {
            self.due_at(0);
        }
        if receipt.signalled {
            self.signals.notify_one();
        }
    }

    fn deliver(
        &self,
        stream: &StreamName,
        context: &EventContext,
        drafts: &[Draft],
        placed: Option<&Placed>,
    ) {
        let Some(placed) = placed.filter(|_| !drafts.is_empty()) else {
            return;
        };
        if !self.log_channels.is_silent() {
            let ids = placed.ids(drafts);
            self.log_channels
                .deliver(stream, context, placed.no, drafts, ids);
        }
        let Some(sender) = self.streams.get(stream) else {
            return;
        };
        let events = drafts
            .iter()
            .zip(placed.ids(drafts))
            .map(|(draft, id)| draft.clone().at(id.seq, id.ms, context))
            .collect();
        // Nobody there any more is fine: the subscription is about to be removed.
        let _ = sender.send(Arc::new(Batch::new(events)));
    }
}

/// What a listener hears.
#[derive(Debug)]
pub enum Heard {
    /// One without events says: the job's row has moved, look again.
    Batch(Arc<Batch>),
    /// Batches were dropped: read the store from the last position seen.
    Missed,
    /// The stream was deleted.
    Gone,
}

/// A listener to one stream.
pub struct Subscription {
    bus: Arc<Bus>,
    stream: StreamName,
    receiver: Option<broadcast::Receiver<Arc<Batch>>>,
}

impl Subscription {
    pub async fn next(&mut self) -> Heard {
        let Some(receiver) = &mut self.receiver else {
            return Heard::Gone;
        };
        match receiver.recv().await {
            Ok(batch) => Heard::Batch(batch),
            Err(broadcast::error::RecvError::Lagged(_)) => Heard::Missed,
            Err(broadcast::error::RecvError::Closed) => Heard::Gone,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.receiver = None;
        let removed = self
            .bus
            .streams
            .remove_if(&self.stream, |_, sender| sender.receiver_count() == 0);
        if removed.is_some() && self.stream.is_job() {
            self.bus.jobs.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The holder of a run's lease, as the bus knows it.
pub struct Holder {
    bus: Arc<Bus>,
    run: RunId,
    notify: Arc<Notify>,
}

impl Holder {
    /// Waits until somebody else moved the run. A nudge that came before is not lost.
    pub async fn nudged(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.bus
            .holders
            .remove_if(&self.run, |_, notify| Arc::ptr_eq(notify, &self.notify));
    }
}
