//! A running riverrun, for the program that embeds it.

use std::time::Duration;

use riverrun_runtime::{
    At, Begin, OnKind, RegisteredFlow, Runtime, SimulatedClock, StartRequest, Started, Subject,
    Tail,
};
use riverrun_store::EventQuery;
use riverrun_triggers::Triggers;
use riverrun_types::{Event, EventId, Json, RunId, StreamName};
use serde_json::Value;

use crate::{Builder, Result, Run};

/// Events read at a time.
const PAGE: usize = 1_000;

/// Longer than anything waits; `Instant` cannot add the largest duration.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A handle to a running riverrun; clones share it.
#[derive(Clone)]
pub struct Riverrun {
    runtime: Runtime,
    triggers: Triggers,
}

impl Riverrun {
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(runtime: Runtime, triggers: Triggers) -> Self {
        Self { runtime, triggers }
    }

    /// Everything else that can be done.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// What starts flows from outside: schedules, requests, events, people.
    pub fn triggers(&self) -> &Triggers {
        &self.triggers
    }

    /// Registers a definition for ever under its id and version. The same one again does nothing.
    pub async fn register(&self, definition: Value) -> Result<RegisteredFlow> {
        Ok(self.runtime.flows().register(&definition).await?)
    }

    /// Starts the newest version of a flow. When this returns, the run is on disk.
    pub async fn start(&self, flow: &str, input: impl Into<Json>) -> Result<RunId> {
        let started = self.start_with(StartRequest::new(flow, input)).await?;
        Ok(started.run)
    }

    /// Starts a run with an idempotency key, tags, a delay or a version.
    pub async fn start_with(&self, request: StartRequest) -> Result<Started> {
        Ok(self.runtime.runs().start(request).await?)
    }

    /// Starts a run and waits until it has ended, well or not.
    pub async fn run(&self, flow: &str, input: impl Into<Json>) -> Result<Run> {
        let id = self.start(flow, input).await?;
        self.wait(&id, FOR_EVER).await
    }

    /// Waits until a run has ended, at most this long; then the run as it is.
    pub async fn wait(&self, run: &RunId, timeout: Duration) -> Result<Run> {
        Ok(self.runtime.runs().wait(run, timeout).await?.into())
    }

    /// Moves a test's clock from one due moment to the next until the run has ended, or until
    /// nothing is due any more: then the run as it is, waiting for somebody.
    pub async fn advance_to_end(&self, clock: &SimulatedClock, run: &RunId) -> Result<Run> {
        loop {
            clock.settle().await?;
            let shown = self.get(run).await?;
            if shown.status.is_ended() || clock.advance_to_next().await?.is_none() {
                return Ok(shown);
            }
        }
    }

    pub async fn get(&self, run: &RunId) -> Result<Run> {
        Ok(self.runtime.runs().run(run).await?.into())
    }

    /// The run's state at a moment, as its own text: nothing in it is rounded.
    pub async fn state(&self, run: &RunId, at: At) -> Result<Json> {
        let state = self.runtime.runs().state_at(run, at).await?;
        Ok(Json::of(&state.state))
    }

    /// All events of a run so far, in their order.
    pub async fn events(&self, run: &RunId) -> Result<Vec<Event>> {
        let stream = StreamName::flow(run);
        let mut events: Vec<Event> = Vec::new();
        loop {
            let query = EventQuery::forward(events.len() as u64, PAGE);
            let page = self.runtime.base().store().events(&stream, &query).await?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    /// Reads a run's events as they come, from the first on, without a gap.
    pub fn follow(&self, run: &RunId) -> Tail {
        self.runtime.streams().tail(StreamName::flow(run), 0)
    }

    /// Subscribes to one stream: a run's, a job's, a trigger's or any other. The id of the last
    /// event that was delivered leads to those after it.
    pub async fn subscribe_subject(
        &self,
        subject: &StreamName,
        begin: Begin<EventId>,
    ) -> Result<Subject> {
        Ok(self
            .runtime
            .streams()
            .subscribe_subject(subject, begin)
            .await?)
    }

    /// Subscribes to kinds of events, of every run and stream: exact types (`order.paid`) or families
    /// (`order` takes every `order.*`).
    ///
    /// Each event has a number, which is the cursor. A subscriber that was away, or crashed, goes
    /// on after the last number that it kept, and misses nothing. One that is too slow gets
    /// [`Delivery::Late`] and is brought up from the store.
    ///
    /// ```
    /// use riverrun::{Begin, Delivery, Riverrun, StreamName, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> riverrun::Result<()> {
    /// let river = Riverrun::builder().memory().open().await?;
    /// let mut paid = river.on_kind(["order.paid"], Begin::End).await?;
    /// river.emit(&StreamName::new("webhook", "shop"), json!({
    ///     "type": "order.paid", "data": {"orderId": 7},
    /// })).await?;
    /// let Delivery::Event(logged) = paid.next().await? else { panic!("nothing was late") };
    /// assert_eq!(logged.event.kind.as_str(), "order.paid");
    /// assert_eq!(&*logged.stream.id, "shop");
    ///
    /// // Later, perhaps in another process:
    /// let mut paid = river.on_kind(["order"], Begin::After(logged.no)).await?;
    /// river.emit(&StreamName::new("webhook", "shop"), json!({"type": "order.sent"})).await?;
    /// let Delivery::Event(logged) = paid.next().await? else { panic!("nothing was late") };
    /// assert_eq!(logged.event.kind.as_str(), "order.sent");
    /// river.shutdown().await
    /// # }
    /// ```
    pub async fn on_kind<T: AsRef<str>>(
        &self,
        kinds: impl IntoIterator<Item = T>,
        begin: Begin<u64>,
    ) -> Result<OnKind> {
        Ok(self.runtime.streams().on_kind(kinds, begin).await?)
    }

    /// Appends an event to a stream. Steps of any run that wait for its type are resumed.
    pub async fn emit(&self, stream: &StreamName, event: Value) -> Result<EventId> {
        let ids = self
            .runtime
            .events()
            .append(stream, &[Json::of(&event)])
            .await?;
        let id = ids.into_iter().next();
        Ok(id.unwrap_or(EventId { ms: 0, seq: 0 }))
    }

    /// Stops a run for good.
    pub async fn cancel(&self, run: &RunId) -> Result<Run> {
        self.runtime.runs().cancel(run, None).await?;
        self.get(run).await
    }

    /// Lets running attempts finish for a while, hands every lease back and closes the store.
    pub async fn shutdown(&self) -> Result<()> {
        Ok(self.runtime.shutdown().await?)
    }
}
