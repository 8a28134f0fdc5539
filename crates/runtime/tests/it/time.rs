//! Queues, and steps of processes, by a clock that the test moves.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{
    CallbackAnswer, Invocation, JobRequest, Options, Process, ProcessConfig, Provider, Runtime,
    SimulatedClock, Source, StartRequest,
};
use riverrun_store::{EventQuery, JobFilter, JobState, QueueUpdate, Store};
use riverrun_store_conformance::through::{Between, Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, Millis, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The times at which handlers were invoked, and what with.
type Seen = Arc<Mutex<Vec<(i64, Value)>>>;

/// Does what its input says.
struct Scripted {
    clock: SimulatedClock,
    seen: Seen,
    began: mpsc::UnboundedSender<()>,
}

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.clone().unwrap_or_default();
        let input = input.value();
        self.seen.lock().push((self.clock.now_ms(), input.clone()));
        let _ = self.began.send(());
        if let Some(wait) = input.get("wait")
            && invocation.invoke.awaited.is_none()
            && invocation.invoke.job.journal.is_empty()
        {
            let suspended = serde_json::from_value(wait.clone()).unwrap();
            return Ok(Reply {
                suspended: Some(suspended),
                ..Reply::default()
            });
        }
        let was_awaited = invocation
            .invoke
            .job
            .journal
            .iter()
            .any(|entry| entry.op == "await");
        match input["do"].as_str() {
            Some("fail once") if invocation.invoke.job.attempt == 1 => {
                Err(WorkError::new("NETWORK", "Network timeout"))
            }
            Some("ask") if !was_awaited => {
                let callback = Json::of(&json!({"type": "webhook", "timeoutMs": 86_400_000}));
                let callback = invocation
                    .host
                    .ask("await.trigger", callback)
                    .await?
                    .value();
                let wait = json!({"type": "trigger", "triggerId": callback["id"]});
                Ok(Reply {
                    suspended: Some(serde_json::from_value(wait).unwrap()),
                    ..Reply::default()
                })
            }
            Some("fail") => Err(WorkError::new("BROKEN", "as the test wants")),
            Some("hang") => {
                let reason = invocation.cancel.cancelled().await;
                Err(WorkError::new("CANCELLED", format!("{reason:?}")))
            }
            Some("for ever") => std::future::pending().await,
            _ => Ok(Reply {
                value: Some(Json::of(&json!("done"))),
                ..Reply::default()
            }),
        }
    }
}

struct World {
    clock: SimulatedClock,
    runtime: Runtime,
    seen: Seen,
    began: mpsc::UnboundedReceiver<()>,
    script: Arc<Scripted>,
}

impl World {
    async fn new(config: Value) -> Self {
        let clock = SimulatedClock::starting_at_ms(0);
        Self::on(SqliteStore::memory().unwrap(), clock, config).await
    }

    async fn on(store: Arc<dyn Store>, clock: SimulatedClock, config: Value) -> Self {
        let options = Options {
            clock: (&clock).into(),
            grace: Duration::from_millis(1),
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let handlers = riverrun_handlers::all(Default::default());
        let runtime = Runtime::open(store, sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        let (say, began) = mpsc::unbounded_channel();
        let seen = Seen::default();
        let script = Arc::new(Scripted {
            clock: clock.clone(),
            seen: seen.clone(),
            began: say,
        });
        let world = Self {
            clock,
            runtime,
            seen,
            began,
            script,
        };
        world.put(config);
        world
    }

    fn put(&self, config: Value) {
        let config = ProcessConfig::read(&Json::of(&config), "work");
        self.runtime.queues().put_process(Process {
            id: "work".into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: self.script.clone(),
            source: Source::default(),
        });
    }

    async fn add(&self, data: Value, options: Value) -> RunId {
        let mut request = JobRequest::new(Json::of(&data));
        request.options = serde_json::from_value(options).unwrap();
        let added = self
            .runtime
            .queues()
            .enqueue("work", vec![request], true)
            .await;
        added.unwrap()[0].id.clone()
    }

    async fn state(&self, job: &RunId) -> JobState {
        self.runtime.queues().job(job).await.unwrap().state
    }

    async fn pass(&self, ms: u64) {
        let passed = self.clock.advance(Duration::from_millis(ms)).await;
        passed.unwrap();
    }

    fn times(&self) -> Vec<i64> {
        self.seen.lock().iter().map(|(at, _)| *at).collect()
    }
}

#[tokio::test]
async fn a_job_begins_after_its_delay() {
    let world = World::new(json!({})).await;
    let job = world.add(json!({}), json!({"delayMs": 86_400_000})).await;
    world.pass(86_399_999).await;
    assert_eq!(world.state(&job).await, JobState::Delayed);
    world.pass(1).await;
    assert_eq!(world.state(&job).await, JobState::Completed);
    assert_eq!(world.times(), [86_400_000]);
}

#[tokio::test]
async fn a_job_is_tried_again_after_its_backoff() {
    let world = World::new(json!({})).await;
    let backoff = json!({"attempts": 3,
        "backoff": {"type": "exponential", "delayMs": 60_000, "maxDelayMs": 600_000,
            "jitter": 0}});
    let job = world.add(json!({"do": "fail"}), backoff).await;
    world.pass(86_400_000).await;
    assert_eq!(world.state(&job).await, JobState::Failed);
    assert_eq!(world.times(), [0, 60_000, 180_000]);
}

#[tokio::test]
async fn a_rate_holds() {
    let world = World::new(json!({"rateLimit": {"max": 2, "durationMs": 3_600_000}})).await;
    for _ in 0..5 {
        world.add(json!({}), json!({})).await;
    }
    world.pass(86_400_000).await;
    let times = world.times();
    assert_eq!(times.len(), 5);
    for window in times.windows(3) {
        assert!(window[2] - window[0] >= 3_600_000, "{times:?}");
    }
    assert!(times[4] <= 2 * 3_600_000 + 10, "{times:?}");
}

#[tokio::test]
async fn windows_of_throttle_and_debounce_go_by_the_clock() {
    let world = World::new(json!({})).await;
    let throttle = json!({"throttle": {"key": "k", "windowMs": 60_000}});
    let first = world.add(json!({"n": 1}), throttle.clone()).await;
    world.pass(59_000).await;
    assert_eq!(world.add(json!({"n": 2}), throttle.clone()).await, first);
    world.pass(1_001).await;
    assert_ne!(world.add(json!({"n": 3}), throttle).await, first);
    world.pass(0).await;
    let debounce = json!({"debounce": {"key": "d", "delayMs": 60_000}});
    world.add(json!({"n": 4}), debounce.clone()).await;
    world.pass(59_000).await;
    world.add(json!({"n": 5}), debounce).await;
    world.pass(59_000).await;
    assert_eq!(world.seen.lock().len(), 2);
    world.pass(1_001).await;
    assert_eq!(world.seen.lock().last().unwrap().1, json!({"n": 5}));
}

#[tokio::test]
async fn an_attempt_that_hangs_meets_its_timeout_and_its_lease_is_kept_until_then() {
    let mut world = World::new(json!({"timeoutMs": 120_000, "retryPolicy": {"attempts": 1}})).await;
    let job = world.add(json!({"do": "hang"}), json!({})).await;
    world.began.recv().await.unwrap();
    let pass = Duration::from_millis(119_999);
    world.clock.advance_regardless(pass).await.unwrap();
    assert_eq!(world.state(&job).await, JobState::Active);
    let pass = Duration::from_millis(1);
    world.clock.advance_regardless(pass).await.unwrap();
    // The handler was asked to stop, and does.
    world.clock.settle().await.unwrap();
    let record = world.runtime.queues().job(&job).await.unwrap();
    assert_eq!(record.state, JobState::Failed);
    assert_eq!(record.error.unwrap().value()["code"], "TIMEOUT");
}

/// Of a runtime that died with a job another takes it up when the lease is over, not earlier.
#[tokio::test]
async fn a_lease_ends_by_the_clock() {
    let store = SqliteStore::memory().unwrap();
    let clock = SimulatedClock::starting_at_ms(0);
    let mut second = World::on(store.clone(), clock, json!({"queue": "other"})).await;
    let still = SimulatedClock::starting_at_ms(0);
    let mut first = World::on(store, still, json!({})).await;
    let job = first.add(json!({"do": "hang"}), json!({})).await;
    first.began.recv().await.unwrap();
    // The first one's clock stands still: it sends no heartbeats any more.
    second.put(json!({}));
    second.pass(29_999).await;
    assert_eq!(second.state(&job).await, JobState::Active);
    assert!(second.times().is_empty());
    let pass = Duration::from_secs(10);
    second.clock.advance_regardless(pass).await.unwrap();
    second.began.recv().await.unwrap();
    assert_eq!(second.runtime.queues().job(&job).await.unwrap().attempt, 2);
    assert_eq!(
        second.times(),
        [39_999],
        "looked for three times in a lease's life"
    );
}

/// The clock of a store, against the one of a machine.
struct Offset(Millis);

impl Between for Offset {
    fn now_ms(&self, store_ms: Millis) -> Millis {
        store_ms + self.0
    }
}

/// The machine of the second server is an hour ahead. Both go by the clock of their store: the second
/// one takes no lease before it is over, and its due times are right for the first one.
#[tokio::test]
async fn leases_and_due_times_go_by_the_clock_of_the_store() {
    const HOUR_MS: Millis = 3_600_000;
    const T0: Millis = 1_700_000_000_000;
    let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
    let corrected = Through::new(store.clone(), Arc::new(Offset(-HOUR_MS)));
    let ahead = SimulatedClock::starting_at_ms(T0 + HOUR_MS);
    let mut second = World::on(corrected, ahead, json!({"queue": "other"})).await;
    let still = SimulatedClock::starting_at_ms(T0);
    let mut first = World::on(store.clone(), still, json!({})).await;
    let hangs = first.add(json!({"do": "hang"}), json!({})).await;
    first.began.recv().await.unwrap();
    second.put(json!({"rateLimit": {"max": 10, "durationMs": 60_000}}));
    let later = second.add(json!({}), json!({"delayMs": 20_000})).await;
    let record = store.job(&later).await.unwrap().unwrap();
    assert_eq!((record.created_ms, record.at_ms), (T0, Some(T0 + 20_000)));
    second.pass(29_999).await;
    assert_eq!(second.state(&hangs).await, JobState::Active);
    assert_eq!(second.times(), [T0 + HOUR_MS + 20_000]);
    let window = store.queue("work").await.unwrap().unwrap().rate.unwrap();
    assert_eq!((window.from_ms, window.begun), (T0 + 20_000, 1));
    let pass = Duration::from_secs(10);
    second.clock.advance_regardless(pass).await.unwrap();
    second.began.recv().await.unwrap();
    let record = store.job(&hangs).await.unwrap().unwrap();
    assert_eq!(record.attempt, 2);
    let began_ms = record.started_ms.unwrap();
    assert!((T0 + 30_000..T0 + 40_000).contains(&began_ms), "{began_ms}");
    assert_eq!(record.until_ms, Some(began_ms + 30_000));
}

#[tokio::test]
async fn code_that_waits_goes_on_when_its_time_has_come() {
    let world = World::new(json!({})).await;
    let wait = |wait: Value| json!({"wait": wait});
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "process", "config": {"process": "work"}}}});
    world.runtime.flows().register(&flow).await.unwrap();
    let mut runs = Vec::new();
    for input in [
        wait(json!({"type": "time", "afterMs": 30 * 86_400_000_i64})),
        wait(json!({"type": "event", "eventKind": "never", "timeoutMs": 86_400_000})),
    ] {
        let request = StartRequest::new("f", Json::of(&input));
        runs.push(world.runtime.runs().start(request).await.unwrap().run);
    }
    world.pass(86_400_000).await;
    let status = async |run: &RunId| {
        world
            .runtime
            .runs()
            .run(run)
            .await
            .unwrap()
            .loaded
            .state
            .status
    };
    assert_eq!(status(&runs[0]).await, RunStatus::Waiting);
    // The code got the answer that nothing came, and ended.
    assert!(status(&runs[1]).await.is_ended());
    world.pass(2_592_000_000 - 86_400_000).await;
    assert_eq!(status(&runs[0]).await, RunStatus::Completed);
    assert_eq!(world.times(), [0, 0, 86_400_000, 2_592_000_000]);
}

/// The job of a step says that it waits again, in its own stream and on its queue's channel.
#[tokio::test]
async fn the_job_of_a_step_that_stalls_says_so() {
    let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
    let clock = SimulatedClock::starting_at_ms(0);
    let mut second = World::on(store.clone(), clock, json!({"queue": "other"})).await;
    let still = SimulatedClock::starting_at_ms(0);
    let mut first = World::on(store.clone(), still, json!({})).await;
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "process", "config": {"process": "work"}}}});
    first.runtime.flows().register(&flow).await.unwrap();
    let request = StartRequest::new("f", Json::of(&json!({"do": "hang"})));
    first.runtime.runs().start(request).await.unwrap();
    first.began.recv().await.unwrap();
    let mut queue = second.runtime.streams().listen("work");
    second.put(json!({}));
    let pass = Duration::from_secs(40);
    second.clock.advance_regardless(pass).await.unwrap();
    second.began.recv().await.unwrap();
    let mut received = Vec::new();
    while !received.contains(&"job.active".to_owned()) {
        let QueueUpdate::Batch(batch) = queue.next().await else {
            panic!("it missed something");
        };
        received.extend(batch.events.iter().map(|event| event.kind.to_string()));
    }
    assert_eq!(received, ["job.waiting", "job.active"]);
    let job = JobFilter {
        queue: "work".into(),
        states: vec![JobState::Active],
        limit: 2,
        ..JobFilter::default()
    };
    let jobs = second.runtime.queues().jobs(&job).await.unwrap().items;
    let stream = StreamName::job(&jobs[0].id);
    let events = store.events(&stream, &EventQuery::forward(0, 100)).await;
    let events = events.unwrap();
    let kinds: Vec<String> = events.iter().map(|event| event.kind.to_string()).collect();
    assert_eq!(
        kinds,
        ["job.added", "job.active", "job.waiting", "job.active"]
    );
    let waits = events[2].data.as_ref().unwrap().value();
    assert_eq!(waits["reason"], "stalled");
    assert_eq!(waits["error"]["code"], "WORKER_LOST");
}

#[tokio::test]
async fn a_declared_delay_is_a_number_a_duration_or_a_function_of_the_result() {
    let world = World::new(json!({})).await;
    for (id, delay, ms) in [
        ("number", json!(90_000), 90_000),
        ("duration", json!("1h 30m"), 5_400_000),
        ("function", json!("(result) => result.length * 1000"), 4_000),
    ] {
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": {"type": "process", "config": {"process": "work"},
                "await": {"type": "time", "delay": delay}, "transitions": {"onSuccess": "b"}},
            "b": {"type": "set", "config": {"value": "after"}}}});
        world.runtime.flows().register(&flow).await.unwrap();
        let began = world.clock.now_ms();
        let request = StartRequest::new(id, Json::of(&json!({})));
        let run = world.runtime.runs().start(request).await.unwrap().run;
        let status = async || {
            world
                .runtime
                .runs()
                .run(&run)
                .await
                .unwrap()
                .loaded
                .state
                .status
        };
        world.clock.settle().await.unwrap();
        assert_eq!(status().await, RunStatus::Waiting, "{id}");
        while status().await == RunStatus::Waiting {
            world.clock.advance_to_next().await.unwrap();
        }
        assert_eq!(world.clock.now_ms() - began, ms, "{id}");
        assert_eq!(status().await, RunStatus::Completed, "{id}");
    }
}

/// What was waited for counts in a copy as the definition says it: a time that the step lets pass
/// goes on passing, a wait for an event begins anew.
#[tokio::test]
async fn a_copy_of_a_run_that_waits_by_its_definition_has_the_time_that_it_says() {
    let world = World::new(json!({})).await;
    let step =
        |awaits: Value| json!({"type": "process", "config": {"process": "work"}, "await": awaits});
    let times = json!({"type": "time", "delay": "1h"});
    let event =
        json!({"type": "event", "eventKind": "never", "timeout": "1h", "onTimeout": "late"});
    for (id, awaits) in [("time", times), ("event", event)] {
        let steps = json!({"a": step(awaits), "late": {"type": "set", "config": {"value": 1}}});
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": "a", "steps": steps});
        world.runtime.flows().register(&flow).await.unwrap();
    }
    let status = async |run: &RunId| {
        world
            .runtime
            .runs()
            .run(run)
            .await
            .unwrap()
            .loaded
            .state
            .status
    };
    let mut runs = Vec::new();
    for id in ["time", "event"] {
        let request = StartRequest::new(id, Json::of(&json!({})));
        runs.push(world.runtime.runs().start(request).await.unwrap().run);
    }
    world.pass(1_800_000).await;
    let mut copies = Vec::new();
    for run in &runs {
        copies.push(world.runtime.runs().fork(run, None).await.unwrap().run);
    }
    world.pass(1_800_000).await;
    assert_eq!(status(&runs[0]).await, RunStatus::Completed);
    assert_eq!(status(&copies[0]).await, RunStatus::Completed);
    assert_eq!(status(&runs[1]).await, RunStatus::Completed);
    assert_eq!(status(&copies[1]).await, RunStatus::Waiting);
    world.pass(1_800_000).await;
    assert_eq!(status(&copies[1]).await, RunStatus::Completed);
    // The handler had been run before the time, and is not run again for the copy.
    assert_eq!(world.times(), [0]);
}

/// The example of the specification: an attempt that fails and is tried again, a step that goes
/// well, and one that waits for an approval.
#[tokio::test]
async fn the_example_stream_of_the_specification_comes_out() {
    let world = World::new(json!({"retryPolicy": {"attempts": 3,
        "backoff": {"type": "exponential", "delayMs": 5_000}}}))
    .await;
    let step = |does: &str, next: Value| {
        json!({"type": "process", "config": {"process": "work"},
            "input": {"type": "static", "value": {"do": does}},
            "transitions": {"onSuccess": next}})
    };
    let flow = json!({"id": "example-flow", "version": "1.0.0", "initialStepId": "fetch_data", "steps": {
        "fetch_data": step("fail once", json!("process_data")),
        "process_data": step("", json!("await_approval")),
        "await_approval": step("ask", Value::Null)}});
    world.runtime.flows().register(&flow).await.unwrap();
    let request = StartRequest::new("example-flow", Json::of(&json!({})));
    let run = world.runtime.runs().start(request).await.unwrap().run;
    world.pass(10_000).await;
    let callbacks = world.runtime.base().store().awaits_of(&run).await.unwrap();
    let callback_answer = CallbackAnswer {
        payload: Json::of(&json!({"approved": true})),
        body: b"",
        signature: None,
        source: "webhook",
    };
    world
        .runtime
        .awaits()
        .resume_callback(&callbacks[0].id, callback_answer)
        .await
        .unwrap();
    world.clock.settle().await.unwrap();
    let events = async |stream: StreamName| {
        let query = EventQuery::forward(0, 100);
        let events = world.runtime.base().store().events(&stream, &query);
        let line = |event: &riverrun_types::Event| match &event.step {
            None => event.kind.to_string(),
            Some(at) => format!("{} {} {}", event.kind, at.name, at.attempt),
        };
        let events = events.await.unwrap();
        events.iter().map(line).collect::<Vec<String>>()
    };
    let kinds = events(StreamName::flow(&run)).await;
    let kinds: Vec<&str> = kinds
        .iter()
        .map(String::as_str)
        .filter(|line| !line.starts_with("step.memo"))
        .collect();
    assert_eq!(
        kinds,
        [
            "flow.started",
            "step.started fetch_data 1",
            "step.failed fetch_data 1",
            "step.retry fetch_data 2",
            "step.started fetch_data 2",
            "step.completed fetch_data 2",
            "step.started process_data 1",
            "step.completed process_data 1",
            "step.started await_approval 1",
            "step.await.trigger await_approval 1",
            "step.resumed await_approval 1",
            "step.completed await_approval 1",
            "flow.completed",
        ]
    );
    let callback = events(StreamName::new("trigger", &callbacks[0].id)).await;
    assert_eq!(callback, ["trigger.registered", "trigger.fired"]);
}
