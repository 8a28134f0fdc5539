//! Flows whose steps are processes, on a real embedded store.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use hmac::{Hmac, KeyInit, Mac};
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{
    Invocation, Options, Process, ProcessConfig, Provider, RunView, Runtime, Source, StartRequest,
};
use riverrun_store::{EventQuery, Steer, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use sha2::Sha256;

const LONG: Duration = Duration::from_secs(20);

type Script = fn(Invocation) -> futures::future::BoxFuture<'static, Result<Value, WorkError>>;

/// A handler that is a function.
struct Scripted(Script);

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let value = (self.0)(invocation).await?;
        Ok(Reply {
            value: Some(Json::of(&value)),
            ..Reply::default()
        })
    }
}

macro_rules! script {
    (|$invocation:ident| $body:expr) => {
        |$invocation: Invocation| Box::pin(async move { $body })
    };
}

async fn ask(invocation: &Invocation, method: &str, params: Value) -> Result<Value, WorkError> {
    let answer = invocation.host.ask(method, Json::of(&params)).await?;
    Ok(answer.value())
}

fn input(invocation: &Invocation) -> Value {
    let input = invocation.invoke.job.input.as_ref();
    input.map_or(Value::Null, Json::value)
}

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
}

impl World {
    async fn new() -> Self {
        Self::on(SqliteStore::memory().unwrap()).await
    }

    async fn on(store: Arc<dyn Store>) -> Self {
        let options = Options {
            grace: Duration::from_millis(50),
            lease: Duration::from_millis(600),
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let handlers = riverrun_handlers::all(Default::default());
        let runtime = Runtime::open(store.clone(), sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        Self { runtime, store }
    }

    fn put(&self, id: &str, config: Value, script: Script) {
        let config = ProcessConfig::read(&Json::of(&config), id);
        self.runtime.put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Arc::new(Scripted(script)),
            source: Source::default(),
        });
    }

    async fn register(&self, flow: Value) {
        let registered = self.runtime.register(&flow).await;
        if let Err(error) = registered {
            panic!("{error:?}");
        }
    }

    async fn start(&self, flow: &str, input: Value) -> RunId {
        let request = StartRequest::new(flow, Json::of(&input));
        self.runtime.start(request).await.unwrap().run
    }

    async fn end(&self, run: &RunId) -> RunView {
        let ended = self.runtime.wait(run, LONG);
        let view = ended.await.unwrap();
        assert!(
            view.loaded.state.status.is_ended(),
            "{:#?}",
            view.loaded.state
        );
        view
    }

    async fn events(&self, run: &RunId) -> Vec<String> {
        let query = EventQuery::forward(0, 1_000);
        let events = self.store.events(&StreamName::flow(run), &query).await;
        let line = |event: &riverrun_types::Event| match &event.step {
            None => event.kind.to_string(),
            Some(at) => format!("{} {}#{}/{}", event.kind, at.name, at.visit, at.attempt),
        };
        events.unwrap().iter().map(line).collect()
    }
}

fn step(process: &str) -> Value {
    json!({"type": "process", "config": {"process": process}})
}

fn with(mut step: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    step.as_object_mut().unwrap().extend(more);
    step
}

fn flow(steps: Value) -> Value {
    let first = steps.as_object().unwrap().keys().next().unwrap().clone();
    json!({"id": "f", "version": "1.0.0", "initialStepId": first, "steps": steps})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_is_a_step_among_others() {
    let world = World::new().await;
    world.put(
        "double",
        Value::Null,
        script!(|call| {
            call.host.frame(Frame::Log {
                level: LogLevel::Info,
                message: "doubling".to_owned(),
                meta: None,
            });
            ask(&call, "state.set", json!({"key": "seen", "value": true})).await?;
            Ok(json!(input(&call).as_i64().unwrap() * 2))
        }),
    );
    world
        .register(flow(json!({
            "one": {"type": "set", "config": {"value": 21}, "outputKey": "n", "transitions": {"onSuccess": "two"}},
            "two": with(step("double"), json!({
                "input": {"type": "key", "key": "n"}, "outputKey": "n", "transitions": {"onSuccess": "three"},
            })),
            "three": {"type": "set", "config": {"value": "${n}"}},
        })))
        .await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.result.clone().unwrap().value(), json!(42));
    let state = view.loaded.state.state.json().value();
    assert_eq!(state, json!({"n": 42, "seen": true}));
    assert_eq!(
        world.events(&run).await,
        [
            "flow.started",
            "step.started one#1/1",
            "step.completed one#1/1",
            "step.started two#1/1",
            "log.info two#1/1",
            "state.set two#1/1",
            "step.completed two#1/1",
            "step.started three#1/1",
            "step.completed three#1/1",
            "flow.completed",
        ]
    );
    let queue = world.runtime.queue("double").await.unwrap();
    assert_eq!(
        queue.record.waiting + queue.record.active + queue.record.completed,
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_lead_from_step_to_step() {
    let world = World::new().await;
    world.put(
        "order",
        Value::Null,
        script!(|call| {
            let order = input(&call);
            ask(
                &call,
                "emit",
                json!({"type": "order.created", "data": order}),
            )
            .await?;
            Ok(json!("ordered"))
        }),
    );
    world.put(
        "ship",
        Value::Null,
        script!(|call| Ok(json!({"shipped": input(&call)}))),
    );
    world
        .register(flow(json!({
            "order": with(step("order"), json!({"emits": ["order.created"]})),
            "ship": with(step("ship"), json!({"outputKey": "small", "subscriptions": [{
                "eventKind": "order.created", "when": "(event) => event.data.total < 100",
                "map": "(event, ctx) => ({id: event.data.id, for: ctx.input.who})",
            }]})),
            "check": with(step("ship"), json!({"outputKey": "large", "subscriptions": [{
                "eventKind": "order.created", "when": "event.data.total >= 100",
            }]})),
            "thrown": with(step("ship"), json!({"subscriptions": [{
                "eventKind": "order.created", "when": "event.data.nothing.here > 1",
            }]})),
        })))
        .await;
    let run = world
        .start("f", json!({"id": 7, "total": 5, "who": "ann"}))
        .await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    let state = view.loaded.state.state.json().value();
    assert_eq!(state["small"], json!({"shipped": {"id": 7, "for": "ann"}}));
    assert_eq!(state.get("large"), None);
    let events = world.events(&run).await;
    assert!(events.contains(&"log.warn".to_owned()), "{events:?}");
    let run = world.start("f", json!({"id": 8, "total": 500})).await;
    let state = world.end(&run).await.loaded.state.state.json().value();
    assert_eq!(state["large"], json!({"shipped": {"id": 8, "total": 500}}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_fails_is_tried_as_its_process_says() {
    let world = World::new().await;
    let retry = json!({"retryPolicy": {"attempts": 3, "backoff": {"type": "fixed", "delayMs": 5}}});
    world.put(
        "flaky",
        retry,
        script!(|call| {
            ask(
                &call,
                "memo",
                json!({"name": "paid", "value": call.invoke.job.attempt}),
            )
            .await?;
            match call.invoke.job.attempt {
                3 => Ok(json!({"journal": call.invoke.job.journal})),
                _ => Err(WorkError::new("FLAKY", "not yet")),
            }
        }),
    );
    world.register(flow(json!({"a": step("flaky")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let result = view.loaded.state.result.clone().unwrap().value();
    assert_eq!(
        result["journal"],
        json!([{"op": "memo", "name": "paid", "value": 1}, {"op": "memo", "name": "paid", "value": 2}])
    );
    let events = world.events(&run).await;
    let started: Vec<_> = events
        .iter()
        .filter(|e| e.starts_with("step.started"))
        .collect();
    assert_eq!(
        started,
        [
            "step.started a#1/1",
            "step.started a#1/2",
            "step.started a#1/3"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_stops_its_jobs() {
    let world = World::new().await;
    world.put(
        "hang",
        Value::Null,
        script!(|call| {
            call.cancel.cancelled().await;
            Err(WorkError::new("CANCELLED", "told to"))
        }),
    );
    world.register(flow(json!({"a": step("hang")}))).await;
    let run = world.start("f", json!({})).await;
    let mut tail = world.runtime.tail(StreamName::flow(&run), 0);
    let begun = async {
        loop {
            tail.next().await.unwrap();
            if world
                .events(&run)
                .await
                .contains(&"step.started a#1/1".to_owned())
            {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, begun).await.unwrap();
    world.runtime.cancel(&run, None).await.unwrap();
    let gone = async {
        loop {
            let queue = world.runtime.queue("hang").await.unwrap().record;
            if queue.active + queue.waiting == 0 {
                return queue;
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let queue = tokio::time::timeout(LONG, gone).await.unwrap();
    assert_eq!(queue.cancelled + queue.completed + queue.failed, 0);
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_job_of_a_step_goes_with_its_run_and_not_before() {
    let world = World::new().await;
    world.put(
        "work",
        Value::Null,
        script!(|call| Ok(json!(call.invoke.job.tenant_id))),
    );
    world.register(flow(json!({"a": step("work")}))).await;
    world.runtime.pause_queue("work", true).await.unwrap();
    let mut request = StartRequest::new("f", Json::of(&json!({})));
    request.tenant = Some("acme".to_owned());
    let run = world.runtime.start(request).await.unwrap().run;
    let job = RunId::new(&format!("{run}__a"));
    let waits = async || world.runtime.queue("work").await.unwrap().record.waiting;
    let there = async {
        while waits().await == 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, there).await.unwrap();
    for steer in [Steer::Cancel { reason: None }, Steer::Remove] {
        let refused = world.runtime.steer(&job, steer).await.unwrap_err();
        assert_eq!(refused.code(), "JOB_OF_RUN");
    }
    // A job of nobody in the same queue goes, the step's stays.
    let plain = serde_json::from_value(json!([{"data": 1}])).unwrap();
    world.runtime.enqueue("work", plain, false).await.unwrap();
    assert_eq!(world.runtime.drain_queue("work", true).await.unwrap(), 1);
    assert_eq!(waits().await, 1);
    world.runtime.pause_queue("work", false).await.unwrap();
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    let result = view.loaded.state.result.as_ref();
    assert_eq!(result.unwrap().value(), json!("acme"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_are_counted_by_how_they_end() {
    let world = World::new().await;
    let quick = json!({"retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}}});
    world.put("well", Value::Null, script!(|_call| Ok(json!(1))));
    world.put(
        "badly",
        quick,
        script!(|_call| Err(WorkError::new("BROKEN", "as it was told to"))),
    );
    let steps = json!({
        "a": with(step("well"), json!({"transitions": {"onSuccess": "b"}})), "b": step("badly"),
    });
    world.register(flow(steps)).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.end(&run).await.loaded.state.status, RunStatus::Failed);
    let stats = async |queue: &str| world.runtime.queue(queue).await.unwrap().stats;
    let well = stats("well").await;
    assert_eq!((well.completed, well.failed, well.retried), (1, 0, 0));
    assert!(well.total_ms.p50.is_some());
    let badly = stats("badly").await;
    assert_eq!((badly.completed, badly.failed, badly.retried), (0, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_run_begins_no_job_until_it_is_resumed() {
    let world = World::new().await;
    world.register(flow(json!({"a": step("late")}))).await;
    let run = world.start("f", json!({})).await;
    world.runtime.pause(&run, None).await.unwrap();
    world.put("late", Value::Null, script!(|_call| Ok(json!("at last"))));
    let sent_away = async {
        while world.runtime.queue("late").await.unwrap().record.waiting > 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, sent_away).await.unwrap();
    assert_eq!(world.events(&run).await, ["flow.started", "flow.paused"]);
    world.runtime.resume(&run).await.unwrap();
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.result.clone().unwrap().value(),
        json!("at last")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_from_outside_enter_steps_too_and_a_hundred_at_once() {
    let world = World::new().await;
    world.put(
        "count",
        json!({"concurrency": 64}),
        script!(|call| Ok(input(&call))),
    );
    world.put(
        "hold",
        Value::Null,
        script!(|call| {
            loop {
                let seen = ask(&call, "state.get", json!({"key": "last"})).await?;
                if seen["value"] == json!(true) {
                    return Ok(json!(null));
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }),
    );
    world
        .register(flow(json!({
            "hold": step("hold"),
            "count": with(step("count"), json!({"subscriptions": [{"eventKind": "tick"}]})),
        })))
        .await;
    let run = world.start("f", json!({})).await;
    let stream = StreamName::flow(&run);
    let ticks: Vec<Json> = (0..100)
        .map(|n| Json::of(&json!({"type": "tick", "data": n})))
        .collect();
    let ids = world.runtime.append(&stream, &ticks).await.unwrap();
    assert_eq!(ids.len(), 100);
    let last = Json::of(&json!({"type": "state.set", "data": {"key": "last", "value": true}}));
    world.runtime.append(&stream, &[last]).await.unwrap();
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    assert_eq!(view.loaded.state.steps["count"].visits, 100);
    let events = world.events(&run).await;
    let ended = events
        .iter()
        .filter(|e| e.starts_with("step.completed count"));
    assert_eq!(ended.count(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_stores_while_its_start_is_recorded_goes_on() {
    let world = World::new().await;
    world.put(
        "busy",
        Value::Null,
        script!(|call| {
            let begun = std::time::Instant::now();
            // Past the moment at which the start of an attempt that lasts is recorded.
            while begun.elapsed() < Duration::from_millis(150) {
                ask(&call, "memo", json!({"name": "m", "value": 1})).await?;
            }
            Ok(json!("done"))
        }),
    );
    world.register(flow(json!({"a": step("busy")}))).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await, json!("done"));
}

/// A handler in the form of code that waits: what is in the journal is given, the first that is
/// not suspends.
fn suspend(wait: Value) -> Result<Reply, WorkError> {
    Ok(Reply {
        suspended: Some(serde_json::from_value(wait).unwrap()),
        ..Reply::default()
    })
}

struct Waiting(fn(&Invocation) -> Value);

#[async_trait]
impl Provider for Waiting {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        match journal.iter().find(|entry| entry.op == "await") {
            None => {
                let mut wait = (self.0)(&call);
                if wait["type"] == "trigger" {
                    let door = ask(&call, "await.trigger", wait["door"].clone()).await?;
                    wait["triggerId"] = door["id"].clone();
                }
                suspend(wait)
            }
            Some(entry) => Ok(Reply {
                value: Some(Json::of(
                    &json!({"value": entry.value, "error": entry.error}),
                )),
                ..Reply::default()
            }),
        }
    }
}

impl World {
    fn put_waiting(&self, id: &str, wait: fn(&Invocation) -> Value) {
        self.runtime.put_process(Process {
            id: id.into(),
            config: ProcessConfig::read(&Json::null(), id).ok().unwrap(),
            provider: Arc::new(Waiting(wait)),
            source: Source::default(),
        });
    }

    async fn until(&self, run: &RunId, status: RunStatus) {
        let there = async {
            while self.runtime.run(run).await.unwrap().loaded.state.status != status {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        let came = tokio::time::timeout(LONG, there).await;
        assert!(came.is_ok(), "{:#?}", self.events(run).await);
    }

    async fn emit(&self, kind: &str, data: Value) {
        let event = Json::of(&json!({"type": kind, "data": data}));
        let stream = StreamName::new("global", "global");
        self.runtime.append(&stream, &[event]).await.unwrap();
    }

    async fn result(&self, run: &RunId) -> Value {
        let view = self.end(run).await;
        let state = &view.loaded.state;
        assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
        state.result.clone().unwrap().value()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_waits_for_a_time() {
    let world = World::new().await;
    world.put_waiting("nap", |_| {
        let at = riverrun_types::time::iso(now_ms() + 40);
        json!({"type": "time", "resumeAt": at})
    });
    world.register(flow(json!({"a": step("nap")}))).await;
    let run = world.start("f", json!({})).await;
    world.result(&run).await;
    assert_eq!(
        world.events(&run).await,
        [
            "flow.started",
            "step.started a#1/1",
            "step.await.time a#1/1",
            "step.resumed a#1/1",
            "step.completed a#1/1",
            "flow.completed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_waits_for_the_event_that_it_means() {
    let world = World::new().await;
    world.put_waiting("pay", |call| {
        let id = input(call)["id"].clone();
        json!({"type": "event", "eventKind": "paid", "match": {"data.id": id}})
    });
    world.put_waiting("where", |_| {
        json!({"type": "event", "eventKind": "paid", "where": "(e) => e.data.total > input.least && e.data.ok"})
    });
    world
        .register(json!({"id": "pay", "version": "1.0.0", "initialStepId": "a", "steps": {"a": step("pay")}}))
        .await;
    world
        .register(json!({"id": "where", "version": "1.0.0", "initialStepId": "a", "steps": {"a": step("where")}}))
        .await;
    let one = world.start("pay", json!({"id": 1})).await;
    let two = world.start("pay", json!({"id": 2})).await;
    let most = world.start("where", json!({"least": 100})).await;
    for run in [&one, &two, &most] {
        world.until(run, RunStatus::Waiting).await;
    }
    world.emit("other", json!({"id": 1})).await;
    world.emit("paid", json!({"id": 1, "total": 5})).await;
    let result = world.result(&one).await;
    assert_eq!(result["value"]["data"], json!({"id": 1, "total": 5}));
    assert_eq!(result["value"]["kind"], "paid");
    world
        .emit("paid", json!({"id": 3, "total": 101, "ok": true}))
        .await;
    assert_eq!(world.result(&most).await["value"]["data"]["id"], 3);
    assert_eq!(
        world.runtime.run(&two).await.unwrap().loaded.state.status,
        RunStatus::Waiting
    );
    world.runtime.cancel(&two, None).await.unwrap();
    let stats = world.store.await_stats().await.unwrap();
    assert_eq!((stats.events, stats.doors), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_await_that_takes_too_long_is_told_to_the_code() {
    let world = World::new().await;
    world.put_waiting(
        "late",
        |_| json!({"type": "event", "eventKind": "never", "timeoutMs": 30}),
    );
    world.register(flow(json!({"a": step("late")}))).await;
    let run = world.start("f", json!({})).await;
    let result = world.result(&run).await;
    assert_eq!(result["error"]["code"], "AWAIT_TIMEOUT");
    assert!(
        world
            .events(&run)
            .await
            .contains(&"step.await.timeout a#1/1".to_owned())
    );
    assert_eq!(world.store.await_stats().await.unwrap().events, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_door_is_opened_once_from_outside() {
    use riverrun_runtime::Visitor;
    let visitor = |payload: Value| Visitor {
        payload: Json::of(&payload),
        body: b"",
        signature: None,
        source: "test",
    };
    let world = World::new().await;
    world.put_waiting("ask", |call| {
        let door = json!({"type": "user", "payload": {"for": input(call)}, "timeoutMs": 60_000});
        json!({"type": "trigger", "door": door})
    });
    world.register(flow(json!({"a": step("ask")}))).await;
    let run = world.start("f", json!({"who": "ann"})).await;
    world.until(&run, RunStatus::Waiting).await;
    let doors = world.store.awaits_of(&run).await.unwrap();
    let id = doors[0].id.clone();
    let door = world.runtime.door(&id).await.unwrap();
    assert_eq!(
        door.door.payload.unwrap().value(),
        json!({"for": {"who": "ann"}})
    );
    world
        .runtime
        .open_door(&id, visitor(json!({"ok": true})))
        .await
        .unwrap();
    assert_eq!(world.result(&run).await["value"], json!({"ok": true}));
    let again = world.runtime.open_door(&id, visitor(json!(1))).await;
    assert_eq!(again.unwrap_err().code(), "AWAIT_USED");
    let unknown = world.runtime.open_door("0000", visitor(json!(1))).await;
    assert_eq!(unknown.unwrap_err().code(), "AWAIT_NOT_FOUND");
    let query = EventQuery::forward(0, 9);
    let stream = StreamName::new("trigger", &id);
    let events = world.store.events(&stream, &query).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.to_string()).collect();
    assert_eq!(kinds, ["trigger.registered", "trigger.fired"]);
    assert!(
        events
            .iter()
            .all(|event| event.correlation_id.as_deref() == Some(run.as_str()))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn declared_awaits_hold_their_step_back() {
    let world = World::new().await;
    world.put(
        "tell",
        Value::Null,
        script!(|call| Ok(json!({"awaited": call.invoke.awaited, "input": input(&call)}))),
    );
    world
        .register(flow(json!({
            "order": {"type": "set", "config": {"value": {"id": 7}}, "outputKey": "order", "transitions": {"onSuccess": "wait"}},
            "wait": with(step("tell"), json!({
                "input": {"type": "key", "key": "order"},
                "await": {"type": "event", "eventKind": "paid", "where": "(event, ctx) => event.data.id === ctx.input.id",
                    "timeout": "1h", "onTimeout": "late"},
            })),
            "late": {"type": "set", "config": {"value": "late"}},
        })))
        .await;
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let awaits = world.store.awaits_of(&run).await.unwrap();
    let riverrun_store::Awaited::Event { matcher, .. } = &awaits[0].what else {
        panic!("{awaits:?}");
    };
    assert!(
        matches!(matcher, riverrun_store::Matcher::Equal(_)),
        "{matcher:?}"
    );
    world.emit("paid", json!({"id": 6})).await;
    world.emit("paid", json!({"id": 7, "by": "card"})).await;
    let result = world.result(&run).await;
    assert_eq!(result["awaited"]["data"]["by"], "card");
    assert_eq!(result["input"], json!({"id": 7}));
    // Too late is another way.
    world
        .register(
            json!({"id": "g", "version": "1.0.0", "initialStepId": "wait", "steps": {
                "wait": with(step("tell"), json!({
                    "await": {"type": "trigger", "timeout": 20, "onTimeout": "late"},
                })),
                "late": {"type": "set", "config": {"value": "late"}},
            }}),
        )
        .await;
    let run = world.start("g", json!({})).await;
    assert_eq!(world.result(&run).await, json!("late"));
    // A time is waited for after the handler, which may say how long.
    world
        .register(json!({"id": "h", "version": "1.0.0", "initialStepId": "a", "steps": {
            "a": with(step("tell"), json!({
                "await": {"type": "time", "delay": "(result) => result.input.ms"}, "transitions": {"onSuccess": "b"},
            })),
            "b": {"type": "set", "config": {"value": "after"}},
        }}))
        .await;
    let run = world.start("h", json!({"ms": 20})).await;
    assert_eq!(world.result(&run).await, json!("after"));
    assert!(
        world
            .events(&run)
            .await
            .contains(&"step.await.time a#1/1".to_owned())
    );
}

impl World {
    /// Waits until a step waits for something, and says under which id.
    async fn until_awaits(&self, run: &RunId, step: &str) -> String {
        let there = async {
            loop {
                let awaits = self.store.awaits_of(run).await.unwrap();
                if let Some(found) = awaits.iter().find(|found| &*found.step == step) {
                    return found.id.to_string();
                }
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        let found = tokio::time::timeout(LONG, there).await;
        match found {
            Ok(id) => id,
            Err(_) => panic!("{:#?}", self.events(run).await),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_follows_a_wait_that_was_over_at_once_waits_as_it_says() {
    let world = World::new().await;
    world.put(
        "tell",
        Value::Null,
        script!(|call| Ok(json!({"awaited": call.invoke.awaited}))),
    );
    let never = |timeout: Value, next: &str| {
        json!({"type": "set", "config": {"value": "not this"},
        "await": {"type": "event", "eventKind": "never", "timeout": timeout, "onTimeout": next}})
    };
    for (id, timeout) in [("f0", json!(0)), ("f1", json!(1)), ("f2", json!("2ms"))] {
        let steps = json!({
            "w": never(timeout, "c"),
            "c": never(json!(0), "boss"),
            "boss": with(step("tell"), json!({"await": {"type": "trigger"}})),
        });
        world.register(with(flow(steps), json!({ "id": id }))).await;
        let run = world.start(id, json!({})).await;
        let door = world.until_awaits(&run, "boss").await;
        let visitor = riverrun_runtime::Visitor {
            payload: Json::of(&json!("yes")),
            body: b"",
            signature: None,
            source: "test",
        };
        world.runtime.open_door(&door, visitor).await.unwrap();
        assert_eq!(world.result(&run).await, json!({"awaited": "yes"}));
        let started = world.events(&run).await;
        let started = started.iter().filter(|it| it.starts_with("step.started"));
        assert_eq!(started.collect::<Vec<_>>(), ["step.started boss#1/1"]);
    }
    // What came before counts, however short the wait.
    let poll = json!({"await": {"type": "event", "eventKind": "paid", "lookback": "1h",
        "timeout": 0, "onTimeout": "late"}});
    world
        .register(flow(json!({
            "poll": with(step("tell"), poll),
            "late": {"type": "set", "config": {"value": "late"}},
        })))
        .await;
    // A match of what is not there is told.
    let nope = json!({"await": {"type": "event", "eventKind": "paid", "match": {"data.id": "input.nope"}}});
    let nope = flow(json!({"a": with(step("tell"), nope)}));
    world.register(with(nope, json!({"id": "nope"}))).await;
    let run = world.start("nope", json!({})).await;
    let error = world.end(&run).await.loaded.state.error.clone().unwrap();
    assert_eq!(error.code, "INPUT_ERROR");
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await, json!("late"));
    world.emit("paid", json!({"id": 1})).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await["awaited"]["data"]["id"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_of_waits_that_are_too_late_meets_the_limit_of_steps() {
    let world = World::new().await;
    for (id, timeout) in [("f0", 0), ("f1", 1)] {
        let steps = json!({"b": {"type": "set", "config": {"value": 1}, "await": {
            "type": "event", "eventKind": "never", "timeout": timeout, "onTimeout": "b"}}});
        let limits = json!({"id": id, "limits": {"maxSteps": 6}});
        world.register(with(flow(steps), limits)).await;
        let run = world.start(id, json!({})).await;
        let state = world.end(&run).await.loaded.state;
        let code = state.error.as_ref().map(|error| error.code.as_str());
        assert_eq!(code, Some("MAX_STEPS"));
        let late = world.events(&run).await;
        let late = late
            .iter()
            .filter(|it| it.starts_with("step.await.timeout"));
        assert_eq!(late.count(), 6);
    }
}

/// A commit holds so many events; what is still to wait then waits with the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_at_the_end_of_a_long_chain_is_registered() {
    let world = World::new().await;
    let mut steps = serde_json::Map::new();
    for n in 0..128 {
        let next = json!({"onSuccess": format!("s{}", n + 1)});
        let set = json!({"type": "set", "config": {"value": n}, "transitions": next});
        steps.insert(format!("s{n}"), set);
    }
    let last = with(step("tell"), json!({"await": {"type": "trigger"}}));
    steps.insert("s128".to_owned(), last);
    world.register(flow(Value::Object(steps))).await;
    let run = world.start("f", json!({})).await;
    world.until_awaits(&run, "s128").await;
}

/// The event of a kind as a stream has it, with `kind` beside `type` as handlers are given it.
async fn stored(world: &World, stream: &StreamName, kind: &str) -> Value {
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(stream, &query).await.unwrap();
    let event = events.iter().find(|event| event.kind.as_str() == kind);
    let mut event = Json::of(event.unwrap()).value();
    event["kind"] = event["type"].clone();
    event
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_event_that_an_await_gives_back_is_the_one_that_is_stored() {
    let world = World::new().await;
    world.put_waiting("plain", |_| json!({"type": "event", "eventKind": "said"}));
    world.put_waiting(
        "asks",
        |_| json!({"type": "event", "eventKind": "said", "where": "(event) => event.data.n > 0"}),
    );
    world.put(
        "says",
        Value::Null,
        script!(|call| ask(&call, "emit", json!({"type": "said", "data": {"n": 2}})).await),
    );
    world.register(flow(json!({"a": step("plain")}))).await;
    let of = |id: &str, process: &str| with(flow(json!({"a": step(process)})), json!({ "id": id }));
    world.register(of("g", "asks")).await;
    world.register(of("s", "says")).await;
    // From outside, and from a step of a run that belongs to a story.
    for from_run in [false, true] {
        let waiting = [
            world.start("f", json!({})).await,
            world.start("g", json!({})).await,
        ];
        for run in &waiting {
            world.until_awaits(run, "a").await;
        }
        let event = match from_run {
            false => {
                world.emit("said", json!({"n": 1})).await;
                stored(&world, &StreamName::new("global", "global"), "said").await
            }
            true => {
                let mut request = StartRequest::new("s", Json::of(&json!({})));
                request.correlation_id = Some("tale".to_owned());
                let run = world.runtime.start(request).await.unwrap().run;
                world.end(&run).await;
                let mut event = stored(&world, &StreamName::flow(&run), "said").await;
                assert_eq!(event["attempt"], 1);
                event["correlationId"] = json!("tale");
                event
            }
        };
        assert!(event["id"].is_string() && event["ts"].is_string());
        for run in &waiting {
            assert_eq!(world.result(run).await["value"], event);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_waits_for_what_riverrun_writes_itself_is_told() {
    let world = World::new().await;
    world.put_waiting(
        "end",
        |_| json!({"type": "event", "eventKind": "flow.completed"}),
    );
    world.register(flow(json!({"a": step("end")}))).await;
    let run = world.start("f", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    let error = state.error.as_ref().unwrap();
    assert_eq!(error.code, "BAD_KIND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_just_before_its_await_counts_if_asked() {
    let world = World::new().await;
    world.put_waiting("pay", |_| {
        json!({"type": "event", "eventKind": "paid", "match": {"data.id": 5}, "lookbackMs": 60_000})
    });
    world.register(flow(json!({"a": step("pay")}))).await;
    world.emit("paid", json!({"id": 5})).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await["value"]["data"]["id"], 5);
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_millis()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_runs_at_once_all_end() {
    use futures::StreamExt;
    let folder = tempfile::tempdir().unwrap();
    let options = riverrun_store_sqlite::Options::new(folder.path());
    let store = SqliteStore::open(options).unwrap();
    let world = World::on(store).await;
    let wide = json!({"concurrency": 1_024});
    world.put(
        "a",
        wide.clone(),
        script!(|call| ask(&call, "emit", json!({"type": "one"})).await),
    );
    world.put(
        "b",
        wide.clone(),
        script!(|call| ask(&call, "emit", json!({"type": "two"})).await),
    );
    world.put("c", wide, script!(|call| Ok(input(&call))));
    let on = |kind: &str| json!({"subscriptions": [{"eventKind": kind}]});
    let steps = json!({
        "a": step("a"), "b": with(step("b"), on("one")), "c": with(step("c"), on("two")),
    });
    world.register(flow(steps)).await;
    let runs = futures::stream::iter(0..1_000).map(|n| {
        let world = &world;
        async move {
            let run = world.start("f", json!({ "n": n })).await;
            let view = world.runtime.wait(&run, LONG).await.unwrap();
            if !view.loaded.state.status.is_ended() {
                panic!(
                    "{:#?} {:#?}",
                    world.events(&run).await,
                    world.runtime.why(&run).await
                );
            }
            assert_eq!(view.loaded.state.status, RunStatus::Completed);
        }
    });
    runs.buffer_unordered(256).collect::<Vec<()>>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_step_emits_leads_on_while_it_still_runs() {
    static LED_ON: tokio::sync::Notify = tokio::sync::Notify::const_new();
    let world = World::new().await;
    world.put(
        "a",
        Value::Null,
        script!(|call| {
            ask(&call, "emit", json!({"type": "one"})).await?;
            LED_ON.notified().await;
            Ok(json!("after b"))
        }),
    );
    world.put(
        "b",
        Value::Null,
        script!(|_call| {
            LED_ON.notify_one();
            Ok(json!(null))
        }),
    );
    let b = with(step("b"), json!({"subscriptions": [{"eventKind": "one"}]}));
    world.register(flow(json!({"a": step("a"), "b": b}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
}

/// A flow of one step that waits in code.
fn waiter(id: &str, process: &str) -> Value {
    json!({"id": id, "version": "1.0.0", "initialStepId": "a", "steps": {"a": step(process)}})
}

impl World {
    /// Waits until the run's stream has an event of a type.
    async fn until_told(&self, run: &RunId, kind: &str) {
        let stream = StreamName::flow(run);
        let mut news = self.runtime.bus().subscribe(&stream);
        let told = async {
            while !self
                .events(run)
                .await
                .iter()
                .any(|event| event.starts_with(kind))
            {
                news.next().await;
            }
        };
        let told = tokio::time::timeout(LONG, told).await;
        assert!(told.is_ok(), "{:#?}", self.events(run).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_where_that_throws_is_told_once_to_the_run_that_waits() {
    let world = World::new().await;
    // A variable of the handler, which the expression cannot see.
    world.put_waiting(
        "pay",
        |_| json!({"type": "event", "eventKind": "paid", "where": "(e) => e.data.id === 3 || want"}),
    );
    world.register(waiter("f", "pay")).await;
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    world.emit("paid", json!({"id": 1})).await;
    world.until_told(&run, "log.warn").await;
    let why = world.runtime.why(&run).await.unwrap();
    let why = serde_json::to_value(&why).unwrap();
    let trouble = &why["reasons"][0]["trouble"];
    assert_eq!(trouble["code"], "EXPRESSION_ERROR", "{why}");
    let message = trouble["message"].as_str().unwrap();
    assert!(
        message.contains("want") && message.contains("paid"),
        "{why}"
    );
    assert!(why["summary"].as_str().unwrap().contains(message), "{why}");
    // Another one that throws is passed over in silence; the one that is meant comes all the same.
    world.emit("paid", json!({"id": 2})).await;
    world.emit("paid", json!({"id": 3})).await;
    assert_eq!(world.result(&run).await["value"]["data"]["id"], 3);
    let events = world.events(&run).await;
    let warnings = events.iter().filter(|event| event.starts_with("log.warn"));
    assert_eq!(warnings.count(), 1, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expressions_that_take_long_hold_up_no_other_kind() {
    let world = World::new().await;
    world.put_waiting(
        "slow",
        |_| json!({"type": "event", "eventKind": "slow", "where": "(e) => { for (;;) {} }"}),
    );
    world.put_waiting(
        "fast",
        |_| json!({"type": "event", "eventKind": "fast", "where": "(e) => e.data.n > 1"}),
    );
    world.register(waiter("slow", "slow")).await;
    world.register(waiter("fast", "fast")).await;
    let mut slow = Vec::new();
    for _ in 0..12 {
        slow.push(world.start("slow", json!({})).await);
    }
    let fast = world.start("fast", json!({})).await;
    for run in slow.iter().chain([&fast]) {
        world.until(run, RunStatus::Waiting).await;
    }
    // Judging these takes 48 times the 250 ms that an expression may take.
    for _ in 0..4 {
        world.emit("slow", json!({})).await;
    }
    world.emit("fast", json!({"n": 2})).await;
    world.result(&fast).await;
    // Those of the slow kind are still being judged, which their runs say.
    let why = world.runtime.why(slow.last().unwrap()).await.unwrap();
    let why = serde_json::to_value(&why).unwrap();
    assert!(why["reasons"][0]["judging"].as_u64().unwrap() >= 3, "{why}");
    world.until_told(&slow[0], "log.warn").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_under_a_key_enters_a_step_once() {
    let world = World::new().await;
    world.put("count", Value::Null, script!(|call| Ok(input(&call))));
    let doors = json!({"await": {"type": "trigger"}});
    world
        .register(flow(json!({
            "hold": with(step("count"), doors),
            "count": with(step("count"), json!({"subscriptions": [{"eventKind": "tick"}]})),
        })))
        .await;
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let stream = StreamName::flow(&run);
    let tick = |n: u32| Json::of(&json!({"type": "tick", "data": n}));
    // Ten at once under each of two keys, each with other data.
    let sent = (0..20).map(|n| {
        let (runtime, stream) = (world.runtime.clone(), stream.clone());
        let key = format!("key-{}", n % 2);
        let event = tick(n);
        async move { runtime.append_once(&stream, &[event], &key).await.unwrap() }
    });
    let sent = futures::future::join_all(sent).await;
    let firsts = sent.iter().filter(|sent| !sent.is_repeated);
    assert_eq!(firsts.count(), 2);
    for (n, again) in sent.iter().enumerate() {
        assert_eq!(again.ids, sent[n % 2].ids);
        assert_eq!(again.ids.len(), 1);
    }
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let ticks = events.iter().filter(|event| event.kind.as_str() == "tick");
    let mut ids: Vec<_> = ticks.map(|event| event.id).collect();
    ids.sort();
    let mut told = vec![sent[0].ids[0], sent[1].ids[0]];
    told.sort();
    assert_eq!(ids, told);
    // The same key for another stream is another.
    let global = StreamName::new("global", "global");
    let ticks = [tick(1)];
    let other = world.runtime.append_once(&global, &ticks, "key-0").await;
    assert!(!other.unwrap().is_repeated);
    for key in ["", &"x".repeat(257)] {
        let refused = world.runtime.append_once(&global, &[tick(1)], key).await;
        assert_eq!(refused.err().unwrap().code(), "BAD_EVENT");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declared_door_is_signed_and_takes_as_many_as_it_says() {
    let world = World::new().await;
    world.put(
        "decide",
        Value::Null,
        script!(|call| Ok(json!(call.invoke.awaited))),
    );
    // Whoever runs tests sets this one.
    let name = "CARGO_MANIFEST_DIR";
    let secret = std::env::var(name).unwrap();
    let doors = json!({"await": {"type": "trigger", "secretEnv": name, "many": 2, "timeout": 200}});
    world
        .register(flow(json!({"a": with(step("decide"), doors)})))
        .await;
    let door = async |run: &RunId| world.store.awaits_of(run).await.unwrap().remove(0).id;
    let open = async |id: &str, body: &str, signature: Option<String>| {
        let visitor = riverrun_runtime::Visitor {
            payload: Json::of(&serde_json::from_str::<Value>(body).unwrap()),
            body: body.as_bytes(),
            signature: signature.as_deref(),
            source: "api",
        };
        let opened = world.runtime.open_door(id, visitor).await;
        opened.map_or_else(|error| error.code().to_owned(), |_| "opened".to_owned())
    };
    let signed = |body: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let bytes = mac.finalize().into_bytes();
        Some(data_encoding::HEXLOWER.encode(&bytes))
    };
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = door(&run).await;
    assert_eq!(open(&id, "1", None).await, "BAD_SIGNATURE");
    assert_eq!(open(&id, "1", signed("2")).await, "BAD_SIGNATURE");
    assert_eq!(open(&id, "1", signed("1")).await, "opened");
    assert_eq!(open(&id, "2", signed("2")).await, "opened");
    assert_eq!(open(&id, "3", signed("3")).await, "AWAIT_USED");
    assert_eq!(world.result(&run).await, json!([1, 2]));
    // One of two is not enough, and its time runs out all the same.
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = door(&run).await;
    assert_eq!(open(&id, "1", signed("1")).await, "opened");
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.error.as_ref().unwrap().code,
        "AWAIT_TIMEOUT"
    );
    assert_eq!(open(&id, "2", signed("2")).await, "AWAIT_EXPIRED");
    // While it waits for more it says so.
    let two = json!({"await": {"type": "trigger", "many": 2}});
    let two = flow(json!({"a": with(step("decide"), two)}));
    world.register(with(two, json!({"id": "two"}))).await;
    let run = world.start("two", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = door(&run).await;
    assert_eq!(open(&id, "1", None).await, "opened");
    let why = serde_json::to_value(world.runtime.why(&run).await.unwrap()).unwrap();
    assert_eq!(why["reasons"][0]["opened"], 1, "{why}");
    assert_eq!(why["reasons"][0]["firedAt"], Value::Null, "{why}");
    let summary = why["summary"].as_str().unwrap();
    assert!(summary.contains(", opened 1 of 2 times"), "{why}");
    // A variable that is not there is told before anybody stands before the door.
    let unset = json!({"await": {"type": "trigger", "secretEnv": "RIVERRUN_NO_SUCH_SECRET"}});
    let mut unset = flow(json!({"a": with(step("decide"), unset)}));
    unset["id"] = json!("unset");
    world.register(unset).await;
    let run = world.start("unset", json!({})).await;
    let view = world.end(&run).await;
    let error = view.loaded.state.error.clone().unwrap();
    assert!(
        error.message.contains("RIVERRUN_NO_SUCH_SECRET"),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_at_once_is_recorded_in_the_order_in_which_it_was_asked() {
    let world = World::new().await;
    world.put(
        "eager",
        Value::Null,
        script!(|call| {
            let mut asked = Vec::new();
            for n in 0..10 {
                asked.push(ask(&call, "emit", json!({"type": "item", "data": n})));
                asked.push(ask(&call, "state.set", json!({"key": "last", "value": n})));
                asked.push(ask(&call, "emit", json!({"type": "after", "data": n})));
            }
            asked.push(ask(&call, "state.get", json!({"key": "last"})));
            asked.push(ask(&call, "memo", json!({"name": "m", "value": 1})));
            // As a link does: each is begun before the next is heard.
            let mut answers = Vec::new();
            for mut question in asked.into_iter().map(Box::pin) {
                let first = futures::poll!(question.as_mut());
                call.host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: "line".to_owned(),
                    meta: None,
                });
                answers.push(async move {
                    match first {
                        std::task::Poll::Ready(answer) => answer,
                        std::task::Poll::Pending => question.await,
                    }
                });
            }
            // The last first: who waits longest is no earlier for it.
            answers.reverse();
            let answers = futures::future::try_join_all(answers).await?;
            Ok(answers[1]["value"].clone())
        }),
    );
    world.register(flow(json!({"a": step("eager")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.result.as_ref().unwrap().value(),
        json!(9),
        "a read sees what was written before it"
    );
    let seen = world.events(&run).await;
    let kinds: Vec<&str> = seen
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .filter(|kind| !["flow", "step"].contains(&kind.split('.').next().unwrap()))
        .collect();
    let round = [
        "item",
        "log.info",
        "state.set",
        "log.info",
        "after",
        "log.info",
    ];
    let expected: Vec<&str> = round.iter().copied().cycle().take(60).collect();
    assert_eq!(kinds[..60], expected);
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&StreamName::flow(&run), &query).await;
    let values = |kind: &str, path: &str| -> Vec<Value> {
        let events = events.as_ref().unwrap().iter();
        let of_kind = events.filter(|event| event.kind.as_str() == kind);
        let value = |data: &Json| data.value().pointer(path).cloned().unwrap();
        of_kind
            .map(|event| value(event.data.as_ref().unwrap()))
            .collect()
    };
    let all: Vec<Value> = (0..10).map(Value::from).collect();
    assert_eq!(values("item", ""), all);
    assert_eq!(values("after", ""), all);
    assert_eq!(values("state.set", "/value"), all);
}

/// Code that reads and writes the state, and waits if it is told to.
struct Stateful;

#[async_trait]
impl Provider for Stateful {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        if journal.iter().any(|entry| entry.op == "await") {
            return Ok(Reply {
                value: Some(Json::of(journal)),
                ..Reply::default()
            });
        }
        let seen = json!([{"op": "state.get", "name": "n", "value": {}}]);
        if input(&call)["waits"] != true {
            ask(&call, "emit", json!({"type": "read", "seen": seen})).await?;
            return Ok(Reply::default());
        }
        let set = json!({"key": "n", "value": 1, "seen": seen});
        ask(&call, "state.set", set).await?;
        let inside = json!({"key": "inner", "value": {"big": 1}, "inRun": true});
        ask(&call, "state.set", inside).await?;
        ask(&call, "state.delete", json!({"key": "old"})).await?;
        let values = json!({"values": {"a": 1, "b": null}});
        ask(&call, "state.setBatch", values).await?;
        let mut reply = suspend(json!({"type": "time", "resumeAt": "2020-01-01T00:00:00Z"}))?;
        let seen = json!([{"op": "state.has", "name": "x", "value": false}]);
        reply.seen = serde_json::from_value(seen).unwrap();
        Ok(reply)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_waits_is_given_what_it_read_and_wrote_of_the_state() {
    let world = World::new().await;
    world.runtime.put_process(Process {
        id: "s".into(),
        config: ProcessConfig::read(&Json::null(), "s").ok().unwrap(),
        provider: Arc::new(Stateful),
        source: Source::default(),
    });
    world.register(flow(json!({"a": step("s")}))).await;
    let run = world.start("f", json!({"waits": true})).await;
    let view = world.end(&run).await;
    let journal = view.loaded.state.result.as_ref().unwrap().value();
    let expected = json!([
        {"op": "state.get", "name": "n", "value": {}},
        {"op": "state.set", "name": "n", "value": 1},
        {"op": "state.delete", "name": "old"},
        {"op": "state.setBatch", "name": "", "value": {"a": 1, "b": null}},
        {"op": "state.has", "name": "x", "value": false},
        {"op": "await", "name": "time"},
    ]);
    assert_eq!(journal, expected);
    let state = view.loaded.state.state.json().value();
    assert_eq!(
        (&state["n"], &state["inner"]["big"]),
        (&json!(1), &json!(1))
    );

    // One that never waits stores nothing of what it read.
    let run = world.start("f", json!({})).await;
    world.end(&run).await;
    let events = world.events(&run).await;
    assert!(events.iter().any(|line| line.starts_with("read ")));
    let has_memo = events.iter().any(|line| line.starts_with("step.memo"));
    assert!(!has_memo, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_enters_a_step_once_by_the_first_subscription_that_holds() {
    let world = World::new().await;
    world.put(
        "begin",
        Value::Null,
        script!(|call| ask(&call, "emit", json!({"type": "x", "data": {"n": 5}})).await),
    );
    world.put("take", Value::Null, script!(|call| Ok(input(&call))));
    let taken = json!({"outputKey": "got", "subscriptions": [
        {"eventKind": "x", "when": "event.data.n > 100", "map": "'no'"},
        {"eventKind": "x", "when": "event.data.n > 1", "map": "'first'"},
        {"eventKind": "x", "when": "event.data.n > 2", "map": "'second'"},
        {"eventKind": "x"},
    ]});
    world
        .register(flow(
            json!({"a": step("begin"), "b": with(step("take"), taken)}),
        ))
        .await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.state.json().value()["got"], "first");
    let events = world.events(&run).await;
    let entered = events
        .iter()
        .filter(|line| line.starts_with("step.entered"));
    assert_eq!(entered.count(), 1, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_back_to_the_beginning_of_the_run_sees_nothing_of_an_earlier_one() {
    let world = World::new().await;
    world.put_waiting("pay", |_| {
        json!({"type": "event", "eventKind": "paid", "match": {"data.id": 5}, "lookback": "run"})
    });
    world.put(
        "early",
        Value::Null,
        script!(|call| {
            // Paid before anybody waits for it, and after the run began.
            ask(&call, "emit", json!({"type": "paid", "data": {"id": 5}})).await
        }),
    );
    let then = json!({"transitions": {"onSuccess": "b"}});
    let early = json!({"a": with(step("early"), then), "b": step("pay")});
    world.register(flow(early)).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await["value"]["data"]["id"], 5);
    // The second order of the same id waits for a payment of its own.
    let mut late = flow(json!({"a": step("pay")}));
    late["id"] = json!("late");
    world.register(late).await;
    let declared = json!({"id": "declared", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": with(step("begin"), json!({"await": {
            "type": "event", "eventKind": "paid", "match": {"data.id": {"value": 5}}, "lookback": "run",
        }})),
    }});
    world.put("begin", Value::Null, script!(|call| Ok(input(&call))));
    world.register(declared).await;
    while now_ms()
        <= world
            .runtime
            .run(&run)
            .await
            .unwrap()
            .loaded
            .state
            .updated_ms
    {
        tokio::task::yield_now().await;
    }
    let second = world.start("late", json!({})).await;
    let third = world.start("declared", json!({})).await;
    world.until(&second, RunStatus::Waiting).await;
    world.until(&third, RunStatus::Waiting).await;
    world.emit("paid", json!({"id": 5})).await;
    assert_eq!(world.result(&second).await["value"]["data"]["id"], 5);
    world.end(&third).await;
}
