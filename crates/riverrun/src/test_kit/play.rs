//! One run, from its start to its end, in simulated time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures::{sink, stream};
use riverrun::{Riverrun, SimulatedClock, StartRequest};
use riverrun_protocol::{LoadedProcess, WorkError};
use riverrun_providers::remote::{Workers, WorkersOptions};
use riverrun_runtime::{
    Brought, Composable, Error, Home, MadeFlows, Options, Process, Visitor, compose, door_signature,
};
use riverrun_store::{Kinds, LogQuery};
use riverrun_types::{ErrorCode, Event, EventType, Json, Millis, RunId, StreamName, time};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{
    pipe::{Answer, Asked, Out},
    plan::{Planned, Wanted, plan},
    report::Report,
};

/// How long handlers may take by the machine's clock: a person may look at one with a debugger.
const PATIENCE: Duration = Duration::from_secs(600);

/// Events that are read at a time.
const PAGE: usize = 1_000;

/// The run that a test plays.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Play {
    pub start_ms: Millis,
    #[serde(default = "Json::null")]
    pub input: Json,
    #[serde(default)]
    pub flow: Option<String>,
    #[serde(default)]
    pub entry: Option<String>,
    #[serde(default)]
    pub run_id: Option<String>,
    #[serde(default)]
    pub tenant_id: Option<String>,
    #[serde(default)]
    pub correlation_id: Option<String>,
    /// Written to the state before the first step begins.
    #[serde(default)]
    pub state: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    pub events: Vec<Given>,
}

/// An event from outside.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    /// As soon as it is waited for where absent.
    #[serde(default)]
    pub at_ms: Option<Millis>,
    pub event: Value,
}

type Line = Result<String, WorkError>;

/// Where what the test process says goes while a run is played.
pub struct Inbox {
    worker: mpsc::UnboundedSender<Line>,
    answers: mpsc::UnboundedSender<Vec<Answer>>,
    clock: SimulatedClock,
    out: Out,
}

impl Inbox {
    pub fn put(&self, asked: Asked) {
        match asked {
            Asked::Worker(line) => drop(self.worker.send(Ok(line))),
            Asked::Opened { answers } => drop(self.answers.send(answers)),
            Asked::Sleep { until_ms } => {
                let (clock, out) = (self.clock.clone(), self.out.clone());
                tokio::spawn(async move {
                    let ms = until_ms
                        .saturating_sub(clock.now_ms())
                        .max(0)
                        .unsigned_abs();
                    let slept = clock.advance_regardless(Duration::from_millis(ms)).await;
                    let error = slept.err().map(|error| error.to_string());
                    out.send(&json!({ "kit": "slept", "ms": clock.now_ms(), "error": error }));
                });
            }
            // A test process plays one run at a time.
            Asked::Play(_) => {}
        }
    }
}

/// What a run is played on.
pub struct Stage {
    clock: SimulatedClock,
    worker: mpsc::UnboundedReceiver<Line>,
    answers: mpsc::UnboundedReceiver<Vec<Answer>>,
    out: Out,
}

impl Stage {
    pub fn new(play: &Play, out: Out) -> (Self, Inbox) {
        // A run whose state is written before its first step begins a moment after it was made.
        let start_ms = play.start_ms - Millis::from(play.state.is_some());
        let clock = SimulatedClock::starting_at_ms(start_ms).patience(PATIENCE);
        let (to_worker, worker) = mpsc::unbounded_channel();
        let (to_answers, answers) = mpsc::unbounded_channel();
        let inbox = Inbox {
            worker: to_worker,
            answers: to_answers,
            clock: clock.clone(),
            out: out.clone(),
        };
        let stage = Self {
            clock,
            worker,
            answers,
            out,
        };
        (stage, inbox)
    }

    pub async fn play(self, play: Play) -> Result<Value, WorkError> {
        let options = Options {
            public_url: Some("http://127.0.0.1:4600".to_owned()),
            grace: Duration::ZERO,
            ..Options::default()
        };
        let river = Riverrun::builder()
            .memory()
            .options(options)
            .clock(&self.clock)
            .open()
            .await
            .map_err(refused)?;
        let (planned, flow) = oneshot::channel::<Result<Made, WorkError>>();
        let home = Arc::new(TestHome {
            river: river.clone(),
            wanted: Wanted {
                flow: play.flow.clone(),
                entry: play.entry.clone(),
            },
            planned: Mutex::new(Some(planned)),
        });
        let workers = Workers::new(WorkersOptions {
            start: PATIENCE,
            silent: PATIENCE,
            ..WorkersOptions::default()
        });
        let mut attended = tokio::spawn(attend(
            workers.clone(),
            home,
            self.worker,
            Timed {
                out: self.out.clone(),
                clock: self.clock.clone(),
                told_ms: None,
            },
        ));
        let flow = match flow.await {
            Ok(planned) => planned,
            Err(_) => Err((&mut attended)
                .await
                .ok()
                .and_then(Result::err)
                .unwrap_or_else(|| {
                    WorkError::new(
                        ErrorCode::WorkerLost,
                        "the test process went before the run began",
                    )
                })),
        };
        let played = match flow {
            Ok((flow, hears, undone_by)) => {
                let mut scene = Playing {
                    river: river.clone(),
                    clock: self.clock,
                    answers: self.answers,
                    out: self.out,
                    run: RunId::new(play.run_id.as_deref().unwrap_or("run-0")),
                    report: Report::default(),
                    read: 0,
                    agenda: Vec::new(),
                    ready: Vec::new(),
                    hears,
                    undone_by,
                };
                scene.play(play, &flow).await
            }
            Err(error) => Err(error),
        };
        // Nothing more is said of this run once its report is.
        attended.abort();
        workers.close();
        tokio::spawn(async move { river.shutdown().await });
        played
    }
}

/// Writes what is said to the worker, each time with the time that it is.
struct Timed {
    out: Out,
    clock: SimulatedClock,
    told_ms: Option<Millis>,
}

impl Timed {
    fn say(&mut self, text: String) {
        let now = self.clock.now_ms();
        if self.told_ms.replace(now) != Some(now) {
            self.out.send(&json!({ "kit": "time", "ms": now }));
        }
        self.out.line(text.trim_end_matches('\n').to_owned());
    }
}

async fn attend(
    workers: Workers,
    home: Arc<TestHome>,
    lines: mpsc::UnboundedReceiver<Line>,
    timed: Timed,
) -> Result<(), WorkError> {
    let incoming = stream::unfold(lines, |mut lines| async move {
        let line = lines.recv().await?;
        Some((line, lines))
    });
    let outgoing = sink::unfold(timed, |mut timed, text: String| async move {
        timed.say(text);
        Ok::<_, std::convert::Infallible>(timed)
    });
    let (incoming, outgoing) = (Box::pin(incoming), Box::pin(outgoing));
    workers.attend(incoming, outgoing, &*home).await
}

/// The id of the flow, the kinds that enter its steps, and those that undo a step.
type Made = (String, BTreeSet<String>, Vec<(String, String)>);

/// Takes in the processes of the test, and makes one flow of them.
struct TestHome {
    river: Riverrun,
    wanted: Wanted,
    planned: Mutex<Option<oneshot::Sender<Result<Made, WorkError>>>>,
}

#[async_trait]
impl Home for TestHome {
    fn take_in(&self, process: Process) -> bool {
        let mut process = process;
        // The times of a test are exact.
        process.config.policy.retry.jitter = 0.0;
        self.river.runtime().take_in(process)
    }

    async fn make_flows(&self, brought: &Brought, _: &[LoadedProcess]) -> MadeFlows {
        let made = match plan(&brought.processes, &self.wanted) {
            Ok(planned) => self.register(&planned).await,
            Err(error) => Err(error),
        };
        let planned = self
            .planned
            .lock()
            .ok()
            .and_then(|mut planned| planned.take());
        if let Some(planned) = planned {
            let _ = planned.send(made);
        }
        MadeFlows::default()
    }
}

impl TestHome {
    async fn register(&self, planned: &Planned) -> Result<Made, WorkError> {
        let steps: Vec<Composable<'_>> = planned
            .steps
            .iter()
            .map(|(id, config)| Composable { id, config })
            .collect();
        let composed = compose(&steps);
        if !composed.issues.is_empty() {
            let told: Vec<String> = composed
                .issues
                .iter()
                .map(|issue| format!("{}: {}", issue.path, issue.message))
                .collect();
            let error = WorkError::new(ErrorCode::ProcessInvalid, told.join("; ")).permanent();
            return Err(error.details(&json!({ "issues": composed.issues })));
        }
        let Some(flow) = composed.flows.iter().find(|flow| flow.id() == planned.flow) else {
            let message = format!("the steps make no flow {}", planned.flow);
            return Err(WorkError::new(ErrorCode::FlowIncomplete, message).permanent());
        };
        let runtime = self.river.runtime();
        runtime.register(&flow.definition).await.map_err(refused)?;
        let steps = flow.definition["steps"].as_object().into_iter().flatten();
        let (mut hears, mut undone_by) = (BTreeSet::new(), Vec::new());
        for (name, step) in steps {
            let subscriptions = step["subscriptions"].as_array().into_iter().flatten();
            let kinds = subscriptions.filter_map(|one| one["eventKind"].as_str());
            hears.extend(kinds.map(str::to_owned));
            let on = &step["compensation"]["on"];
            let kinds = on
                .as_array()
                .map_or(std::slice::from_ref(on), Vec::as_slice);
            let kinds = kinds.iter().filter_map(Value::as_str);
            undone_by.extend(kinds.map(|kind| (kind.to_owned(), name.clone())));
        }
        Ok((planned.flow.clone(), hears, undone_by))
    }
}

/// Something that the test does at a time.
enum Act {
    Emit(Given),
    Open(String, Json),
}

struct Playing {
    river: Riverrun,
    clock: SimulatedClock,
    answers: mpsc::UnboundedReceiver<Vec<Answer>>,
    out: Out,
    run: RunId,
    report: Report,
    /// Events of the run that were read.
    read: u64,
    /// In the order of their times.
    agenda: Vec<(Millis, Act)>,
    /// Events that come as soon as they are waited for.
    ready: Vec<Given>,
    hears: BTreeSet<String>,
    undone_by: Vec<(String, String)>,
}

impl Playing {
    async fn play(&mut self, play: Play, flow: &str) -> Result<Value, WorkError> {
        for given in play.events {
            match given.at_ms {
                Some(at_ms) => self.plan(at_ms, Act::Emit(given)),
                None => self.ready.push(given),
            }
        }
        let mut request = StartRequest::new(flow, play.input);
        request.run_id = Some(self.run.clone());
        request.tenant = play.tenant_id;
        request.correlation_id = play.correlation_id;
        request.delay_ms = play.state.as_ref().map(|_| 1);
        self.river.runtime().start(request).await.map_err(refused)?;
        if let Some(state) = play.state {
            let write = |(key, value)| json!({ "type": "set", "key": key, "value": value });
            let operations: Vec<Value> = state.into_iter().map(write).collect();
            if !operations.is_empty() {
                let event = json!({ "type": "state.batch", "data": { "operations": operations } });
                self.append(&StreamName::flow(&self.run), &event).await?;
            }
        }
        self.walk().await?;
        let (events, unclaimed) = self.told().await?;
        let mut report = self.report.json();
        let end_ms = self.clock.now_ms().max(play.start_ms);
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
            self.clock.settle().await.map_err(unsettled)?;
            if self.read_on().await? {
                continue;
            }
            if self.report.state.status.is_ended() {
                return Ok(());
            }
            let now = self.clock.now_ms();
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
            let planned = self.agenda.first().map(|(at_ms, _)| *at_ms);
            let due = self.clock.next_due_ms();
            let Some(stop) = due.into_iter().chain(planned).min() else {
                return Ok(());
            };
            self.clock.advance_to_ms(stop).await.map_err(unsettled)?;
        }
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
        let query = riverrun_store::EventQuery::forward(self.read, PAGE);
        let events = self.river.runtime().store().events(&stream, &query).await;
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
                self.ask(&id.as_text()).await?;
            }
        }
        Ok(!events.is_empty())
    }

    async fn ask(&mut self, id: &str) -> Result<(), WorkError> {
        let found = self.river.runtime().door(id).await.map_err(refused)?;
        let place = match found.door.kind {
            riverrun_types::TriggerType::User => "approve",
            _ => "api/triggers",
        };
        let mut callback = json!({
            "id": id, "url": format!("http://127.0.0.1:4600/{place}/{id}"), "type": found.door.kind,
        });
        if let Some(payload) = &found.door.payload {
            callback["payload"] = json!(payload);
        }
        let count = found.door.count.unwrap_or(1);
        self.out
            .send(&json!({ "kit": "callback", "callback": callback, "count": count }));
        let answers = self.answers.recv().await.unwrap_or_default();
        let now = self.clock.now_ms();
        for Answer { after_ms, payload } in answers {
            let at_ms = now.saturating_add(after_ms.max(0));
            self.plan(at_ms, Act::Open(id.to_owned(), payload));
        }
        Ok(())
    }

    async fn open(&self, id: &str, payload: Json) -> Result<(), WorkError> {
        let runtime = self.river.runtime();
        let door = runtime.door(id).await.map_err(refused)?.door;
        let body = payload.as_str().as_bytes().to_vec();
        let signature = door.secret.map(|secret| door_signature(&secret, &body));
        let visitor = Visitor {
            payload,
            body: &body,
            signature: signature.as_deref(),
            source: "api",
        };
        match runtime.open_door(id, visitor).await {
            // A late answer is rejected, and the run continues without it.
            Err(error)
                if [
                    ErrorCode::AwaitClosed,
                    ErrorCode::AwaitExpired,
                    ErrorCode::AwaitFull,
                    ErrorCode::AwaitNotFound,
                    ErrorCode::AwaitUsed,
                ]
                .contains(&error.code()) =>
            {
                Ok(())
            }
            opened => opened.map(drop).map_err(refused),
        }
    }

    fn is_wanted(&self, given: &Given) -> bool {
        let kind = kind_of(&given.event);
        self.report.awaited().any(|awaited| awaited == kind)
            || (self.hears.contains(kind) && !self.report.state.compensating)
            || self.undoes(kind)
    }

    fn undoes(&self, kind: &str) -> bool {
        let mut steps = self.undone_by.iter().filter(|(on, _)| on == kind);
        steps.any(|(_, step)| self.report.can_undo(step))
    }

    /// Events that enter or undo a step go to the stream of the run, all others to `global`.
    async fn emit(&self, given: Given) -> Result<(), WorkError> {
        let mut event = given.event;
        let kind = kind_of(&event).to_owned();
        let is_of_run =
            self.hears.contains(&kind) || self.undone_by.iter().any(|(on, _)| *on == kind);
        let of = event
            .as_object_mut()
            .and_then(|event| event.remove("runId"));
        let stream = match of.as_ref().and_then(Value::as_str) {
            Some("global") => StreamName::global(),
            Some(run) => StreamName::flow(&RunId::new(run)),
            None if is_of_run => StreamName::flow(&self.run),
            None => StreamName::global(),
        };
        self.append(&stream, &event).await
    }

    async fn append(&self, stream: &StreamName, event: &Value) -> Result<(), WorkError> {
        let appended = self
            .river
            .runtime()
            .append(stream, &[Json::of(event)])
            .await;
        appended.map(drop).map_err(refused)
    }

    /// All emitted events in order, and those that no step consumed.
    async fn told(&self) -> Result<(Vec<Value>, Vec<Value>), WorkError> {
        let (mut events, mut unclaimed) = (Vec::new(), Vec::new());
        let mut after = 0;
        let mut last: Option<Event> = None;
        let own = StreamName::flow(&self.run);
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut all: Vec<(StreamName, Event)> = Vec::new();
        loop {
            let query = LogQuery {
                after,
                kinds: Kinds::default(),
                limit: PAGE,
                max_bytes: usize::MAX,
            };
            let page = self.river.runtime().store().log(&query).await;
            let page = page.map_err(|error| refused(Error::from(error)))?;
            after = page.next;
            all.extend(page.events.into_iter().map(|one| (one.stream, one.event)));
            if page.is_end {
                break;
            }
        }
        for (stream, event) in &all {
            if *stream != own {
                continue;
            }
            match &event.kind {
                // What entered a step is the last event before that was emitted into the run.
                EventType::StepEntered | EventType::StepJoined => {
                    if let Some(entering) = &last {
                        taken.insert(place(&own, entering));
                    }
                }
                EventType::StepResumed => {
                    let value = event.data.as_ref().and_then(|data| data.get("value"));
                    let value = value.map_or(Value::Null, |value| value.value());
                    if let (Some(id), Some(run)) = (value["id"].as_str(), value["runId"].as_str()) {
                        taken.insert(format!("{run} {id}"));
                    }
                }
                _ if is_emitted(event) => last = Some(event.clone()),
                _ => {}
            }
        }
        for (stream, event) in &all {
            let is_told =
                *stream == own || *stream == StreamName::global() || stream.run().is_some();
            if !is_told || !is_emitted(event) {
                continue;
            }
            let mut told = json!(event);
            told["kind"] = told["type"].clone();
            if !taken.contains(&place(stream, event)) {
                unclaimed.push(told.clone());
            }
            events.push(told);
        }
        Ok((events, unclaimed))
    }
}

fn place(stream: &StreamName, event: &Event) -> String {
    format!("{} {}", stream.id, event.id)
}

/// Whether somebody emitted the event: riverrun itself writes the others.
fn is_emitted(event: &Event) -> bool {
    matches!(event.kind, EventType::Other(_) | EventType::Emit)
}

fn kind_of(event: &Value) -> &str {
    let kind = event["type"].as_str().or_else(|| event["kind"].as_str());
    kind.unwrap_or_default()
}

fn refused(error: impl Into<riverrun::Error>) -> WorkError {
    let error = error.into();
    let mut told = WorkError::new(error.code(), error.to_string()).permanent();
    let issues = match &error {
        riverrun::Error::Runtime(Error::FlowInvalid(issues)) => {
            let errors = issues
                .iter()
                .filter(|issue| issue.severity == riverrun::Severity::Error);
            json!(errors.collect::<Vec<_>>())
        }
        riverrun::Error::Runtime(Error::InputInvalid(issues) | Error::StateInvalid(issues)) => {
            json!(issues)
        }
        _ => return told,
    };
    for issue in issues.as_array().into_iter().flatten() {
        let text = |member: &str| issue[member].as_str().unwrap_or_default().to_owned();
        told.message += &format!("; {}: {}", text("path"), text("message"));
    }
    told.details(&json!({ "issues": issues }))
}

fn unsettled(error: riverrun::Unsettled) -> WorkError {
    refused(error)
}
