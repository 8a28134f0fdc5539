//! Moves a run through simulated time, from its start to its end.

use riverrun::{Riverrun, SimulatedClock, StartRequest};
use riverrun_protocol::WorkError;
use riverrun_runtime::Error;
use riverrun_store::EventQuery;
use riverrun_types::{EventType, Json, Millis, RunId, StreamName, time};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::{
    home::MadeFlow,
    pipe::Out,
    refused::{refused, unsettled},
    report::Report,
    request::{Answer, Given, Play, Sleep},
};

/// Events that are read at a time.
const PAGE: usize = 1_000;

/// Something that the test does at a time.
enum Act {
    Emit(Given),
    Open(String, Json),
}

pub struct Walk {
    pub(super) river: Riverrun,
    pub(super) clock: SimulatedClock,
    pub(super) flow: MadeFlow,
    pub(super) answers: mpsc::UnboundedReceiver<Vec<Answer>>,
    asleep: watch::Receiver<Option<Sleep>>,
    pub(super) out: Out,
    pub(super) run: RunId,
    pub(super) report: Report,
    /// Events of the run that were read.
    read: u64,
    /// In the order of their times.
    agenda: Vec<(Millis, Act)>,
    /// Events that come as soon as they are waited for.
    ready: Vec<Given>,
}

impl Walk {
    pub fn new(
        river: Riverrun,
        clock: SimulatedClock,
        flow: MadeFlow,
        answers: mpsc::UnboundedReceiver<Vec<Answer>>,
        asleep: watch::Receiver<Option<Sleep>>,
        out: Out,
    ) -> Self {
        Self {
            river,
            clock,
            flow,
            answers,
            asleep,
            out,
            run: RunId::new("run-0"),
            report: Report::default(),
            read: 0,
            agenda: Vec::new(),
            ready: Vec::new(),
        }
    }

    pub async fn play(mut self, play: Play) -> Result<Value, WorkError> {
        for given in play.events {
            match given.at_ms {
                Some(at_ms) => self.plan(at_ms, Act::Emit(given)),
                None => self.ready.push(given),
            }
        }
        if let Some(run) = play.run_id {
            self.run = RunId::new(&run);
        }
        let mut request = StartRequest::new(&self.flow.id, play.input);
        request.run_id = Some(self.run.clone());
        request.tenant = play.tenant_id;
        request.correlation_id = play.correlation_id;
        request.state = play.state;
        self.river
            .runtime()
            .runs()
            .start(request)
            .await
            .map_err(refused)?;
        self.walk().await?;
        let (events, unclaimed) = self.emitted().await?;
        let mut report = self.report.json();
        let end_ms = self.clock.now_ms();
        for (name, value) in [
            ("events", json!(events)),
            ("unclaimed", json!(unclaimed)),
            ("startedAt", json!(time::iso(play.start_ms))),
            ("endedAt", json!(time::iso(end_ms))),
            ("elapsedMs", json!(end_ms - play.start_ms)),
        ] {
            report.insert(name.to_owned(), value);
        }
        Ok(Value::Object(report))
    }

    /// Moves time until the run has ended, or nothing is due any more.
    async fn walk(&mut self) -> Result<(), WorkError> {
        loop {
            let (clock, wakes_ms) = self.quiet().await?;
            if self.read_on().await? {
                continue;
            }
            if self.report.state.status.is_ended() {
                return Ok(());
            }
            let now = clock.now_ms();
            if self.agenda.first().is_some_and(|(at_ms, _)| *at_ms <= now) {
                let (_, act) = self.agenda.remove(0);
                self.act(act).await?;
                continue;
            }
            if let Some(at) = self.ready.iter().position(|given| self.is_wanted(given)) {
                let given = self.ready.remove(at);
                self.act(Act::Emit(given)).await?;
                continue;
            }
            let planned_ms = self.agenda.first().map(|(at_ms, _)| *at_ms);
            let stops = [clock.next_due_ms(), planned_ms, wakes_ms];
            let Some(stop_ms) = stops.into_iter().flatten().min() else {
                return Ok(());
            };
            tokio::select! {
                biased;
                _ = self.asleep.changed() => continue,
                moved = clock.advance_to_ms(stop_ms) => moved.map_err(unsettled)?,
            }
            if wakes_ms.is_some_and(|ms| ms <= clock.now_ms()) {
                self.wait_for_waking().await;
            }
        }
    }

    /// Waits until nothing goes on without time moving, except handlers that sleep. Returns the
    /// clock that passes those, and when the first of them goes on.
    async fn quiet(&mut self) -> Result<(SimulatedClock, Option<Millis>), WorkError> {
        loop {
            let asleep = self.asleep.borrow_and_update().clone();
            let passed = asleep.as_ref().map_or(0, |sleep| sleep.running.len());
            let clock = self.clock.clone().passing(passed);
            tokio::select! {
                biased;
                _ = self.asleep.changed() => {}
                settled = clock.settle() => {
                    settled.map_err(unsettled)?;
                    return Ok((clock, asleep.map(|sleep| sleep.until_ms)));
                }
            }
        }
    }

    /// Lets the first sleeping handler of the test process continue, and waits until it has.
    async fn wait_for_waking(&mut self) {
        self.out
            .send(&json!({ "kit": "time", "ms": self.clock.now_ms() }));
        let _ = self.asleep.changed().await;
    }

    fn plan(&mut self, at_ms: Millis, act: Act) {
        let place = self.agenda.partition_point(|(other, _)| *other <= at_ms);
        self.agenda.insert(place, (at_ms, act));
    }

    async fn act(&mut self, act: Act) -> Result<(), WorkError> {
        match act {
            Act::Emit(given) => self.emit(given).await,
            Act::Open(id, payload) => self.open(&id, payload).await,
        }
    }

    /// Reads what has happened, and asks for the answers of callbacks. Whether something has.
    async fn read_on(&mut self) -> Result<bool, WorkError> {
        let stream = StreamName::flow(&self.run);
        let query = EventQuery::forward(self.read, PAGE);
        let events = self
            .river
            .runtime()
            .base()
            .store()
            .events(&stream, &query)
            .await;
        let events = events.map_err(|error| refused(Error::from(error)))?;
        self.read += events.len() as u64;
        for event in &events {
            self.report.apply(event);
        }
        let callbacks = events
            .iter()
            .filter(|event| event.kind == EventType::StepAwaitTrigger);
        for event in callbacks {
            let id = event.data.as_ref().and_then(|data| data.get("triggerId"));
            if let Some(id) = id {
                let id = id.as_text();
                let now = self.clock.now_ms();
                for Answer { after_ms, payload } in self.answers_of(&id).await? {
                    let at_ms = now.saturating_add(after_ms.max(0));
                    self.plan(at_ms, Act::Open(id.to_string(), payload));
                }
            }
        }
        Ok(!events.is_empty())
    }
}
