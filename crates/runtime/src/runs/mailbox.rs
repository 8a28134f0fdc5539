//! Messages to a run from tasks that do not hold its lease.
//!
//! Outcomes of jobs, emitted events and answered awaits arrive from many tasks at once. The
//! messages of one run are judged one after the other, and messages that wait together are judged
//! together and stored in one commit: a run into which a hundred branches end at once is written a
//! few times, not a hundred. This only saves work. As everywhere, the run's turn and the leases of
//! the jobs decide which write counts.

use std::time::Duration;

use foldhash::HashMap;
use parking_lot::Mutex;
use riverrun_engine::{Fact, Input, VisitKey};
use riverrun_store::{
    Change, Commit, Error as StoreError, JobLease, NewAwait, Note, Receipt, RunTaskChange, Settle,
    Settled,
};
use riverrun_types::{Draft, EventId, EventType, Json, Millis, Name, RunId, StreamName};
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    Runs,
    append::check_writes,
    cache::News,
    drive::{Driver, Effectful, open, reopen},
    orders::unwanted_jobs,
};
use crate::{
    base::{Error, Result},
    streams::{SignalSource, once},
};

/// Messages that are judged together, at most.
const BATCH: usize = 256;

/// The mailboxes of the runs that have a reader.
#[derive(Default)]
pub(crate) struct Mailboxes(Mutex<Open>);

#[derive(Default)]
struct Open {
    mailboxes: HashMap<RunId, Mailbox>,
    readers: u64,
}

struct Mailbox {
    reader: Reader,
    messages: Vec<Message>,
}

/// The reader of a mailbox, as long as it is the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader(u64);

impl Mailboxes {
    /// Queues a message behind those that are being read. If the mailbox has no reader, the caller
    /// gets the message back and becomes its reader.
    fn put(&self, run: &RunId, message: Message) -> Option<(Reader, Vec<Message>)> {
        let open = &mut *self.0.lock();
        if let Some(mailbox) = open.mailboxes.get_mut(run) {
            mailbox.messages.push(message);
            return None;
        }
        open.readers += 1;
        let reader = Reader(open.readers);
        let mailbox = Mailbox {
            reader,
            messages: Vec::new(),
        };
        open.mailboxes.insert(run.clone(), mailbox);
        Some((reader, vec![message]))
    }

    /// The messages that are read next; without any the mailbox has no reader any more.
    fn take(&self, run: &RunId, reader: Reader) -> Vec<Message> {
        let open = &mut *self.0.lock();
        let Some(mailbox) = open.of(run, reader) else {
            return Vec::new();
        };
        if mailbox.messages.is_empty() {
            open.mailboxes.remove(run);
            return Vec::new();
        }
        let count = mailbox.messages.len().min(BATCH);
        mailbox.messages.drain(..count).collect()
    }

    /// The batch is stored. If no more messages have arrived the mailbox has no reader any more:
    /// the sender of the next message becomes it.
    pub fn leave(&self, run: &RunId, reader: Reader) {
        let open = &mut *self.0.lock();
        let mailbox = open.of(run, reader);
        if mailbox.is_some_and(|mailbox| mailbox.messages.is_empty()) {
            open.mailboxes.remove(run);
        }
    }
}

impl Open {
    fn of(&mut self, run: &RunId, reader: Reader) -> Option<&mut Mailbox> {
        let mailbox = self.mailboxes.get_mut(run);
        mailbox.filter(|mailbox| mailbox.reader == reader)
    }
}

/// An event in a message to a run.
pub(crate) struct Message {
    /// Judged first, in this order.
    pub inputs: Vec<Input>,
    /// Recorded by an attempt, after these; an emitted event enters the steps that subscribe to it.
    pub said: Option<(VisitKey, u32, Vec<Draft>)>,
    /// From outside, handled in the same way.
    pub events: Vec<Draft>,
    /// Written to the state. The whole message is rejected if the state does not accept it.
    pub writes: Vec<Draft>,
    /// Judged last.
    pub last: Option<Input>,
    pub fence: Option<Fence>,
    /// The wait of the last input.
    pub awaits: Option<NewAwait>,
    /// Changes stored with it.
    pub more: Vec<Change>,
    /// The key under which its events from outside are stored once.
    pub key: Option<Name>,
    /// The run looks at its awaits once this is stored.
    pub look: bool,
    answer: Option<oneshot::Sender<Answer>>,
}

/// The ids of a message's events, and of what it wrote.
type Answer = Result<Vec<EventId>>;

/// The messages that the sender has to read itself.
type Posted = Option<(Reader, Vec<Message>)>;

/// The job on behalf of which a message is sent: without its lease the whole message is rejected.
pub(crate) struct Fence {
    pub lease: JobLease,
    /// The job ends with this message.
    pub settles: bool,
}

impl Message {
    pub fn new(inputs: Vec<Input>) -> Self {
        Self {
            inputs,
            said: None,
            events: Vec::new(),
            writes: Vec::new(),
            last: None,
            fence: None,
            awaits: None,
            more: Vec::new(),
            key: None,
            look: false,
            answer: None,
        }
    }

    pub fn events(events: Vec<Draft>) -> Self {
        Self {
            events,
            ..Self::new(Vec::new())
        }
    }

    fn fence(&self, now: i64) -> Option<Change> {
        let Fence { lease, settles } = self.fence.as_ref()?;
        Some(match settles {
            // The visit's stream has its outcome; the job has nothing to add.
            true => Settle::new(lease, Settled::Dropped, now).into(),
            false => Note::new(lease, now).into(),
        })
    }

    /// Whether the store refuses a commit because of this message.
    fn is_refused_by(&self, error: &StoreError) -> bool {
        match error {
            StoreError::JobLost(job) => {
                let fence = self.fence.as_ref();
                fence.is_some_and(|fence| fence.lease.id == *job)
            }
            StoreError::EventExists(key) => self.key.as_ref() == Some(key),
            _ => false,
        }
    }

    fn answer(&mut self, answer: Answer) {
        if let Some(sender) = self.answer.take() {
            // The sender may have gone.
            let _ = sender.send(answer);
        }
    }
}

impl Runs {
    /// Sends a message, and answers with the ids of its events once everything that follows from it
    /// is durable.
    pub(crate) async fn deliver(&self, run: &RunId, message: Message) -> Result<Vec<EventId>> {
        let (read, answer) = self.post(run, message);
        if let Some((reader, messages)) = read {
            self.read_messages(run, reader, messages);
        }
        answer.await.map_err(|_| Error::ShuttingDown)?
    }

    /// The same from a task that is not dropped before its end: it judges the message itself if the
    /// mailbox has no reader. The message is sent at once, not when the answer is awaited.
    pub(crate) fn deliver_here(
        &self,
        run: &RunId,
        message: Message,
    ) -> impl Future<Output = Result<Vec<EventId>>> {
        let (read, answer) = self.post(run, message);
        async move {
            if let Some((reader, messages)) = read {
                self.judge_messages(run, reader, messages).await;
                let more = self.mailboxes().take(run, reader);
                self.read_messages(run, reader, more);
            }
            answer.await.map_err(|_| Error::ShuttingDown)?
        }
    }

    /// Puts a message into a run's mailbox. A caller that gets messages back is the mailbox's only
    /// reader.
    fn post(&self, run: &RunId, mut message: Message) -> (Posted, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        message.answer = Some(sender);
        (self.mailboxes().put(run, message), answer)
    }

    /// Judges messages in a task, and those that arrive meanwhile.
    fn read_messages(&self, run: &RunId, reader: Reader, mut messages: Vec<Message>) {
        if messages.is_empty() {
            return;
        }
        let (runs, run) = (self.clone(), run.clone());
        self.base().spawn(async move {
            while !messages.is_empty() {
                runs.judge_messages(&run, reader, messages).await;
                messages = runs.mailboxes().take(&run, reader);
            }
        });
    }

    /// Judges messages until they are stored, or have become obsolete.
    async fn judge_messages(&self, run: &RunId, reader: Reader, mut messages: Vec<Message>) {
        let mut backoff = Duration::from_millis(20);
        let mut is_known = true;
        while !messages.is_empty() {
            let tried = self.try_messages(run, reader, &mut messages, is_known);
            match tried.await {
                Ok(()) => return,
                // Another writer was first: judge again on the current state.
                Err(Error::Store(StoreError::Conflict(_))) => is_known = false,
                // One of them is rejected; the others are judged again.
                Err(Error::Store(
                    error @ (StoreError::JobLost(_) | StoreError::EventExists(_)),
                )) => {
                    let is_its = |message: &mut Message| message.is_refused_by(&error);
                    let refused: Vec<Message> = messages.extract_if(.., is_its).collect();
                    if refused.is_empty() {
                        return self.refuse(messages, &error.into());
                    }
                    for mut message in refused {
                        message.answer(Err(error.clone().into()));
                    }
                }
                Err(error) if is_passing(&error) && !self.base().is_stopping() => {
                    tracing::warn!(%run, %error, "a decision could not be stored; trying again");
                    self.base().pause(backoff).await;
                    backoff = (backoff * 2).min(Duration::from_secs(5));
                }
                Err(error) => return self.refuse(messages, &error),
            }
        }
    }

    /// The run accepts no more messages: their jobs end, and the senders get the error.
    fn refuse(&self, messages: Vec<Message>, error: &Error) {
        for mut message in messages {
            let fence = message.fence.as_ref().is_some_and(|fence| fence.settles);
            if let Some(change) = message.fence(self.base().now_ms()).filter(|_| fence) {
                let runs = self.clone();
                self.base().spawn(async move {
                    if let Err(error) = runs.base().commit(Commit::of(change)).await {
                        tracing::debug!(%error, "the job of an ended run was gone already");
                    }
                });
            }
            message.answer(Err(shared_error(error)));
        }
    }

    /// Judges messages on the cached state of the run, or on the stored one.
    async fn try_messages(
        &self,
        run: &RunId,
        reader: Reader,
        messages: &mut Vec<Message>,
        is_known: bool,
    ) -> Result<()> {
        let era = self.cache().era(run);
        let mut driver = match is_known {
            true => reopen(self, run).await?,
            false => Box::pin(open(self, run)).await?,
        };
        if driver.state.status.is_ended() {
            return Err(StoreError::RunEnded(run.clone()).into());
        }
        let woke = driver.state.wake_ms();
        driver.look_before_due().await;
        let mut events = Vec::with_capacity(messages.len());
        while let Some(message) = messages.get(events.len()) {
            match driver.check(message) {
                Ok(()) => events.push(driver.read(message).await),
                // The stored state may be newer.
                Err(_) if is_known => return Err(StoreError::Conflict(run.clone()).into()),
                Err(error) => messages.remove(events.len()).answer(Err(error)),
            }
        }
        if messages.is_empty() {
            return Ok(());
        }
        driver.advance(Effectful::Leave).await;
        let unwanted = unwanted_jobs(run, &driver.pending);
        let now = self.base().now_ms();
        let task = run_task_change(&driver, woke, now);
        let (mut commit, drafts) = driver.advance_commit(task).await?;
        // The old job is removed before the new one of the same visit is added.
        let fences = messages.iter().filter_map(|message| message.fence(now));
        commit.changes.splice(..0, fences);
        for (message, places) in messages.iter().zip(&events) {
            commit.changes.extend(message.more.iter().cloned());
            if let Some(key) = &message.key {
                commit = commit.and(once(key, places.clone(), now));
            }
        }
        if messages.iter().any(|message| message.look) {
            commit = commit.and(Change::Wake(run.clone()));
        }
        let news = News {
            run: run.clone(),
            known: driver.known(),
            era: Some(era),
            is_fresh: false,
            reader: Some(reader),
        };
        let receipt: Receipt = self.commit(commit, Some(news)).await?;
        let placed = receipt.placed.first().copied();
        for job in unwanted {
            self.dispatcher().stop(&job);
        }
        for (message, events) in messages.iter_mut().zip(events) {
            let id = |index: usize| Some(placed?.id(index, drafts.get(index)?));
            message.answer(Ok(events.into_iter().filter_map(id).collect()));
        }
        Ok(())
    }
}

impl Driver {
    /// Whether the state accepts a message's writes.
    fn check(&self, message: &Message) -> Result<()> {
        if message.writes.is_empty() {
            return Ok(());
        }
        // An earlier message may have ended the run.
        if self.state.status.is_ended() {
            return Err(StoreError::RunEnded(self.run.clone()).into());
        }
        check_writes(&self.flow.plan, &self.state, &message.writes)
    }

    /// Judges a message; returns the places of its events among the decisions.
    async fn read(&mut self, message: &Message) -> Vec<usize> {
        for input in &message.inputs {
            self.judge(input.clone());
        }
        if let Some((visit, attempt, said)) = &message.said {
            for draft in said {
                match Fact::read(draft) {
                    Fact::Emitted { .. } => self.emit(draft.clone()).await,
                    _ => self.record(visit, *attempt, vec![draft.clone()]),
                }
            }
        }
        let mut places = Vec::with_capacity(message.events.len());
        for event in &message.events {
            places.push(self.pending.events.len());
            self.emit(event.clone()).await;
        }
        for write in &message.writes {
            places.push(self.pending.events.len());
            let ms = write.ms.max(self.state.updated_ms);
            self.append(Draft {
                ms,
                ..write.clone()
            });
        }
        if let Some(last) = &message.last {
            self.judge(last.clone());
        }
        let signalled = self.signals.len();
        let awaits = message.awaits.iter().cloned();
        self.awaits.extend(awaits.map(|new| (signalled, new)));
        places
    }

    /// Records an event and enters the steps that subscribe to it.
    pub(crate) async fn emit(&mut self, mut event: Draft) {
        let Fact::Emitted { kind, payload, .. } = Fact::read(&event) else {
            return;
        };
        // The time at which it is stored; expressions see it.
        let ms = self.runs.base().now_ms().max(self.state.updated_ms);
        event.ms = ms;
        let (entries, failures) = self.entries(&event, &kind, &payload).await;
        let stream = StreamName::flow(&self.run);
        let source = SignalSource {
            stream: &stream,
            context: &self.context,
            correlation: self.state.correlation.as_ref(),
            chain: self.state.chain,
        };
        let (own, place) = (std::slice::from_ref(&event), self.pending.events.len());
        // A run that undoes its steps begins no new ones.
        let (plan, subscribes) = (&self.flow.plan, !self.state.compensating);
        let signals = source.signals(own, place, ms, |kind| {
            subscribes && plan.subscribes_to(kind)
        });
        self.signals.extend(signals);
        let event = Box::new(event);
        self.judge_at(Input::Emitted { event, entries }, ms);
        for failure in failures {
            let data = json!({"message": failure.message, "code": failure.code});
            let mut warning = Draft::new(ms.max(self.state.updated_ms), EventType::LogWarn);
            warning.data = Some(Json::of(&data));
            self.append(warning);
        }
    }
}

/// When the run task has to look at it: only set if that is earlier than before.
fn run_task_change(driver: &Driver, woke: Millis, now: Millis) -> RunTaskChange {
    if driver.state.status.is_ended() {
        return RunTaskChange::Finish;
    }
    let at_ms = match driver.has_more() {
        true => now,
        false => driver.state.wake_ms(),
    };
    match at_ms < woke {
        true => RunTaskChange::Park { at_ms },
        false => RunTaskChange::Keep,
    }
}

/// An error as it is returned to one of several senders.
fn shared_error(error: &Error) -> Error {
    match error {
        Error::Store(error) => Error::Store(error.clone()),
        Error::ShuttingDown => Error::ShuttingDown,
        Error::Busy => Error::Busy,
        other => Error::BadDefinition(other.to_string()),
    }
}

/// Whether a later commit may succeed.
fn is_passing(error: &Error) -> bool {
    let is_away =
        |error: &StoreError| matches!(error, StoreError::Full(_) | StoreError::Unavailable(_));
    match error {
        Error::Busy => true,
        Error::Store(error) => is_away(error),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use riverrun_expr::{Limits, Sandbox};
    use riverrun_store_sqlite::SqliteStore;

    use super::*;
    use crate::{base::Options, runs::StartRequest, runtime::Runtime};

    /// A runtime with a run whose second step each `tick` enters.
    async fn ticked() -> (Runtime, RunId) {
        let store = SqliteStore::memory().unwrap();
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store, sandbox, [], Options::default());
        let runtime = runtime.await.unwrap();
        let step = |subscriptions: serde_json::Value| json!({"type": "process", "config": {"process": "p"}, "subscriptions": subscriptions});
        let steps = json!({"a": step(json!([])), "b": step(json!([{"eventKind": "tick"}]))});
        let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": steps});
        runtime.flows().register(&flow).await.unwrap();
        let request = StartRequest::new("f", Json::null());
        let run = runtime.runs().start(request).await.unwrap().run;
        (runtime, run)
    }

    /// On one thread: messages that are delivered together wait together behind the first.
    #[tokio::test]
    async fn events_that_another_server_has_stored_reject_no_other_message() {
        let (runtime, run) = ticked().await;
        let runs = runtime.runs();
        let deliver = async |key: Option<&str>| {
            let tick = Draft::new(runs.base().now_ms(), EventType::parse("tick"));
            let mut message = Message::events(vec![tick]);
            message.key = key.map(Name::from);
            runs.deliver(&run, message).await
        };
        // As another server does it, which does not know the turns of this one.
        deliver(Some("key")).await.unwrap();
        let (first, known, other) =
            tokio::join!(deliver(None), deliver(Some("key")), deliver(None));
        assert_eq!((first.unwrap().len(), other.unwrap().len()), (1, 1));
        let refused = known.unwrap_err();
        assert_eq!(refused.code(), "EVENT_EXISTS");
        let entered = runs.run(&run).await.unwrap().state().steps["b"].visits;
        assert_eq!(entered, 3);
    }

    /// They are judged together, one after the other.
    #[tokio::test]
    async fn what_is_written_after_the_end_of_the_run_is_refused() {
        let (runtime, run) = ticked().await;
        let runs = runtime.runs();
        let now = runs.base().now_ms();
        let tick = Message::events(vec![Draft::new(now, EventType::parse("tick"))]);
        let cancelled = Message::new(vec![Input::Cancel {
            source: "user",
            reason: None,
        }]);
        let mut written = Message::new(Vec::new());
        let (key, value) = (riverrun_types::Path::new("late"), Json::null());
        let write = riverrun_types::event::StateSet { key, value };
        written.writes = vec![Fact::StateSet(write).draft(now)];
        let (first, second, third) = tokio::join!(
            runs.deliver(&run, tick),
            runs.deliver(&run, cancelled),
            runs.deliver(&run, written),
        );
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(third.unwrap_err().code(), "RUN_ENDED");
        let state = runs.run(&run).await.unwrap().loaded.state;
        assert!(state.status.is_ended() && state.state.get("late").is_none());
    }
}
