//! The runtime on a real embedded store in memory: runs from their start to every kind of end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{
    At, Error, Exported, Handler, Options, RunView, Runtime, StartRequest, Tailed, function,
};
use riverrun_store::{EventQuery, RunFilter, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{EventType, Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(20);

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    calls: Arc<AtomicUsize>,
}

impl World {
    async fn new() -> Self {
        let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
        Self::on(store).await
    }

    async fn on(store: Arc<dyn Store>) -> Self {
        Self::with(store, Options::default()).await
    }

    async fn with(store: Arc<dyn Store>, options: Options) -> Self {
        let calls = Arc::new(AtomicUsize::new(0));
        let options = Options {
            grace: Duration::from_millis(50),
            ..options
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store.clone(), sandbox, handlers(&calls), options)
            .await
            .unwrap();
        Self {
            runtime,
            store,
            calls,
        }
    }

    async fn register(&self, id: &str, steps: Value) {
        let first = steps.as_object().unwrap().keys().next().unwrap().clone();
        self.register_as(
            json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps}),
        )
        .await;
    }

    async fn register_as(&self, definition: Value) {
        if let Err(Error::FlowInvalid(issues)) = self.runtime.register(&definition).await {
            panic!("{issues:#?}");
        }
    }

    async fn run(&self, flow: &str, input: Value) -> RunView {
        let started = self
            .runtime
            .start(StartRequest::new(flow, input))
            .await
            .unwrap();
        self.end(&started.run).await
    }

    async fn end(&self, run: &RunId) -> RunView {
        let view = self.runtime.wait(run, LONG).await.unwrap();
        assert!(view.state().status.is_ended(), "{:#?}", view.state());
        view
    }

    async fn types(&self, run: &RunId) -> Vec<String> {
        let events = self.events(run).await;
        events.iter().map(|event| event.kind.to_string()).collect()
    }

    async fn events(&self, run: &RunId) -> Vec<riverrun_types::Event> {
        let query = EventQuery::forward(0, 10_000);
        self.store
            .events(&StreamName::flow(run), &query)
            .await
            .unwrap()
    }

    /// Waits until the run's stream holds an event of a type.
    async fn until(&self, run: &RunId, kind: EventType) {
        let mut tail = self.runtime.tail(StreamName::flow(run), 0);
        let seen = async {
            loop {
                let events = match tail.next().await.unwrap() {
                    Tailed::Read(events) => events,
                    Tailed::Live(batch) => batch.events.clone(),
                    Tailed::Gone => panic!("the stream is gone"),
                };
                if events.iter().any(|event| event.kind == kind) {
                    return;
                }
            }
        };
        tokio::time::timeout(LONG, seen)
            .await
            .expect("the event did not come");
    }
}

fn handlers(calls: &Arc<AtomicUsize>) -> Vec<Arc<dyn Handler>> {
    let mut handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    let flaky = calls.clone();
    handlers.push(function("flaky", move |fails: usize| {
        let call = flaky.fetch_add(1, Ordering::SeqCst);
        async move {
            if call < fails {
                Err(Failure::new("FLAKY", format!("call {call}")))
            } else {
                Ok(json!({ "calls": call + 1 }))
            }
        }
    }));
    handlers.push(function("panics", |_: Value| async {
        assert!(std::hint::black_box(false), "as it was told to");
        Ok::<_, Failure>(Value::Null)
    }));
    handlers.push(function("echo", |input: Value| async move {
        Ok::<_, Failure>(input)
    }));
    let stuck = calls.clone();
    handlers.push(function("stuck", move |_: Value| {
        let guard = Guard(stuck.clone());
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
            Ok::<_, Failure>(Value::Null)
        }
    }));
    handlers
}

/// Counts when it is dropped: an attempt that was cancelled.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn text(json: &Option<Json>) -> &str {
    json.as_ref().map_or("-", Json::as_str)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_without_effects_share_one_commit() {
    let world = World::new().await;
    world
        .register("three", json!({
            "a": {"type": "set", "config": {"value": {"n": 12345678901234567u64}}, "outputKey": "a", "transitions": {"onSuccess": "b"}},
            "b": {"type": "transform", "config": {"transform": "input.n"}, "input": {"type": "key", "key": "a"}, "outputKey": "deep.b", "transitions": {"onSuccess": "c"}},
            "c": {"type": "set", "config": {"value": "done ${deep.b}"}, "outputKey": "c"},
        }))
        .await;
    let started = world
        .runtime
        .start(StartRequest::new("three", json!({"x": 1})))
        .await
        .unwrap();
    assert_eq!(
        started.status,
        RunStatus::Completed,
        "it had ended when it became durable"
    );
    let record = world.store.run(&started.run).await.unwrap().unwrap();
    assert_eq!(
        (record.turn, record.len, record.status),
        (1, 8, RunStatus::Completed)
    );
    assert_eq!(
        started.state.state.json().as_str(),
        r#"{"x":1,"a":{"n":12345678901234567},"deep":{"b":12345678901234567},"c":"done 12345678901234567"}"#
    );
    assert_eq!(text(&started.state.result), r#""done 12345678901234567""#);
    assert_eq!(
        world.types(&started.run).await,
        [
            "flow.started",
            "step.started",
            "step.completed",
            "step.started",
            "step.completed",
            "step.started",
            "step.completed",
            "flow.completed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delay_parks_the_run_and_time_resumes_it() {
    let world = World::new().await;
    world
        .register("nap", json!({
            "nap": {"type": "delay", "config": {"ms": 120}, "transitions": {"onSuccess": "end"}},
            "end": {"type": "set", "config": {"value": 1}, "outputKey": "woken"},
        }))
        .await;
    let started = world
        .runtime
        .start(StartRequest::new("nap", json!({})))
        .await
        .unwrap();
    assert_eq!(started.status, RunStatus::Waiting);
    let record = world.store.run(&started.run).await.unwrap().unwrap();
    assert!(record.wake_ms.is_some());
    let view = world.end(&started.run).await;
    assert_eq!(view.state().state.json().as_str(), r#"{"woken":1}"#);
    let resumed = world.types(&started.run).await;
    assert_eq!(
        resumed
            .iter()
            .filter(|kind| *kind == "step.resumed")
            .count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_start_is_pending_until_its_time() {
    let world = World::new().await;
    world
        .register(
            "later",
            json!({"a": {"type": "set", "config": {"value": 1}, "outputKey": "a"}}),
        )
        .await;
    let mut request = StartRequest::new("later", json!({}));
    request.delay_ms = Some(100);
    let started = world.runtime.start(request).await.unwrap();
    assert_eq!(started.status, RunStatus::Pending);
    assert_eq!(
        world.end(&started.run).await.state().status,
        RunStatus::Completed
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_retried_then_routed_then_fatal() {
    let world = World::new().await;
    let retry = json!({"maxAttempts": 3, "backoffMs": 5});
    world
        .register("retry", json!({
            "a": {"type": "flaky", "input": {"type": "key", "key": "fails"}, "retry": retry, "outputKey": "out", "transitions": {"onFailure": "caught"}},
            "caught": {"type": "set", "config": {"value": "${error.code}"}, "outputKey": "caught"},
        }))
        .await;
    let view = world.run("retry", json!({"fails": 2})).await;
    assert_eq!(
        text(&view.state().state.get("out").cloned()),
        r#"{"calls":3}"#
    );
    let view = world.run("retry", json!({"fails": 99})).await;
    assert_eq!(
        text(&view.state().state.get("caught").cloned()),
        "\"FLAKY\""
    );
    assert_eq!(world.calls.load(Ordering::SeqCst), 6);

    world
        .register("fatal", json!({"a": {"type": "panics"}}))
        .await;
    let view = world.run("fatal", json!({})).await;
    let failure = view.failure().unwrap();
    assert_eq!(
        (failure.code.as_str(), failure.step_id.as_deref()),
        ("HANDLER_ERROR", Some("a"))
    );
    assert!(failure.message.contains("as it was told to"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_and_map_join_in_order() {
    let world = World::new().await;
    world
        .register("fan", json!({
            "fan": {"type": "parallel", "config": {"branches": ["left", "right"]}, "outputKey": "fan", "transitions": {"onSuccess": "each"}},
            "left": {"type": "echo", "input": {"type": "static", "value": "l"}},
            "right": {"type": "delay", "config": {"ms": 20}, "transitions": {"onSuccess": "right2"}},
            "right2": {"type": "set", "config": {"value": "r"}, "outputKey": "shared"},
            "each": {"type": "map", "config": {"step": "double", "concurrency": 3}, "input": {"type": "key", "key": "list"}, "outputKey": "doubled"},
            "double": {"type": "transform", "config": {"transform": "input * 2"}, "input": {"type": "key", "key": "item"}, "outputKey": "mine", "transitions": {"onSuccess": "again"}},
            "again": {"type": "echo", "input": {"type": "key", "key": "mine"}},
        }))
        .await;
    let list: Vec<u32> = (0..25).collect();
    let view = world.run("fan", json!({ "list": list })).await;
    let state = view.state();
    assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
    assert_eq!(
        text(&state.state.get("fan").cloned()),
        r#"{"left":"l","right":"r"}"#
    );
    assert_eq!(text(&state.state.get("shared").cloned()), "\"r\"");
    let doubled: Vec<u32> = state.state.get("doubled").unwrap().read().unwrap();
    assert_eq!(doubled, list.iter().map(|n| n * 2).collect::<Vec<_>>());
    assert_eq!(
        state.state.get("mine"),
        None,
        "what a map's branch writes stays there"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sub_flows_answer_fail_and_follow_a_cancel() {
    let world = World::new().await;
    world
        .register(
            "child",
            json!({"a": {"type": "echo", "input": {"type": "full"}, "outputKey": "got"}}),
        )
        .await;
    world
        .register(
            "broken",
            json!({"a": {"type": "flaky", "input": {"type": "static", "value": 99}}}),
        )
        .await;
    world
        .register("hanging", json!({"a": {"type": "stuck"}}))
        .await;
    for child in ["child", "broken", "hanging"] {
        world
            .register(
                &format!("calls-{child}"),
                json!({
                    "sub": {"type": "sub-flow", "config": {"flowId": child}, "outputKey": "answer"},
                }),
            )
            .await;
    }
    let view = world.run("calls-child", json!({"n": 7})).await;
    assert_eq!(
        text(&view.state().state.get("answer").cloned()),
        r#"{"n":7}"#
    );
    let children = RunFilter {
        parent: Some(view.loaded.record.id.clone()),
        limit: 10,
        ..RunFilter::default()
    };
    assert_eq!(world.runtime.list(&children).await.unwrap().items.len(), 1);

    let view = world.run("calls-broken", json!({})).await;
    assert_eq!(view.failure().unwrap().code, "CHILD_FAILED");

    let started = world
        .runtime
        .start(StartRequest::new("calls-hanging", json!({})))
        .await
        .unwrap();
    world.until(&started.run, EventType::StepAwaitRun).await;
    let filter = RunFilter {
        parent: Some(started.run.clone()),
        limit: 10,
        ..RunFilter::default()
    };
    let child = world
        .runtime
        .list(&filter)
        .await
        .unwrap()
        .items
        .remove(0)
        .id;
    world.until(&child, EventType::StepStarted).await;
    world
        .runtime
        .cancel(&started.run, Some("enough".into()))
        .await
        .unwrap();
    let child = world.end(&child).await;
    assert_eq!(child.state().status, RunStatus::Cancelled);
    assert_eq!(
        child.state().cancellation.as_ref().unwrap().source,
        "parent"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_stops_what_runs() {
    let world = World::new().await;
    world
        .register("hanging", json!({"a": {"type": "stuck"}}))
        .await;
    let started = world
        .runtime
        .start(StartRequest::new("hanging", json!({})))
        .await
        .unwrap();
    world.until(&started.run, EventType::StepStarted).await;
    let state = world.runtime.cancel(&started.run, None).await.unwrap();
    assert_eq!(state.status, RunStatus::Cancelled);
    tokio::time::timeout(LONG, async {
        while world.calls.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the attempt was not dropped");
    let again = world.runtime.cancel(&started.run, None).await.unwrap_err();
    assert_eq!(again.code(), "RUN_ENDED");
    assert_eq!(
        world.types(&started.run).await.last().unwrap(),
        "flow.cancelled"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_and_runs_time_out() {
    let world = World::new().await;
    world
        .register("slow", json!({"a": {"type": "stuck", "timeoutMs": 30}}))
        .await;
    assert_eq!(
        world.run("slow", json!({})).await.failure().unwrap().code,
        "TIMEOUT"
    );
    world
        .register_as(json!({"id": "late", "version": "1.0.0", "initialStepId": "a", "timeoutMs": 50, "steps": {"a": {"type": "delay", "config": {"ms": 60000}}}}))
        .await;
    assert_eq!(
        world.run("late", json!({})).await.failure().unwrap().code,
        "TIMEOUT"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_run_stands_still_until_it_is_resumed() {
    let world = World::new().await;
    world
        .register(
            "pausable",
            json!({
                "a": {"type": "delay", "config": {"ms": 30}, "transitions": {"onSuccess": "b"}},
                "b": {"type": "echo", "outputKey": "b"},
            }),
        )
        .await;
    let started = world
        .runtime
        .start(StartRequest::new("pausable", json!({})))
        .await
        .unwrap();
    world.runtime.pause(&started.run, None).await.unwrap();
    let view = world
        .runtime
        .wait(&started.run, Duration::from_millis(150))
        .await
        .unwrap();
    assert_eq!(view.state().status, RunStatus::Paused);
    world.runtime.resume(&started.run).await.unwrap();
    assert_eq!(
        world.end(&started.run).await.state().status,
        RunStatus::Completed
    );
    assert_eq!(
        world.runtime.resume(&started.run).await.unwrap_err().code(),
        "RUN_ENDED"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_idempotency_key_is_one_run() {
    let world = World::new().await;
    world
        .register(
            "once",
            json!({"a": {"type": "flaky", "input": {"type": "static", "value": 0}}}),
        )
        .await;
    let starts = (0..50).map(|_| {
        let mut request = StartRequest::new("once", json!({}));
        request.idempotency_key = Some("k".into());
        world.runtime.start(request)
    });
    let started: Vec<_> = futures::future::join_all(starts)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(started.iter().filter(|s| s.created).count(), 1);
    assert!(started.iter().all(|s| s.run == started[0].run));
    world.end(&started[0].run).await;
    assert_eq!(world.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rerun_and_fork_go_their_own_way() {
    let world = World::new().await;
    world
        .register("forked", json!({
            "a": {"type": "set", "config": {"value": 1}, "outputKey": "a", "transitions": {"onSuccess": "b"}},
            "b": {"type": "flaky", "input": {"type": "static", "value": 1}, "outputKey": "b"},
        }))
        .await;
    let first = world.run("forked", json!({"in": true})).await;
    assert_eq!(first.state().status, RunStatus::Failed);
    let run = first.loaded.record.id.clone();
    let events = world.events(&run).await;
    let after_a = events
        .iter()
        .find(|e| e.kind == EventType::StepCompleted)
        .unwrap()
        .id;
    let forked = world.runtime.fork(&run, Some(after_a)).await.unwrap();
    let view = world.end(&forked.run).await;
    assert_eq!(view.state().status, RunStatus::Completed);
    assert_eq!(
        view.state().state.json().as_str(),
        r#"{"in":true,"a":1,"b":{"calls":2}}"#
    );
    let shared = world.events(&forked.run).await;
    assert_eq!(
        shared[..3].iter().map(|e| &e.data).collect::<Vec<_>>(),
        events[..3].iter().map(|e| &e.data).collect::<Vec<_>>()
    );
    assert_eq!(
        world.runtime.fork(&run, None).await.err().unwrap().code(),
        "FORK_AT_END"
    );

    let rerun = world.runtime.rerun(&run, None, false).await.unwrap();
    assert_eq!(
        world.end(&rerun.run).await.state().status,
        RunStatus::Completed
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_can_be_read_at_any_event_and_written_from_outside() {
    let world = World::new().await;
    world
        .register_as(json!({
            "id": "stateful", "version": "1.0.0", "initialStepId": "a",
            "stateSchema": {"properties": {"n": {"type": "integer"}}},
            "steps": {"a": {"type": "delay", "config": {"ms": 60000}}},
        }))
        .await;
    let refused = world
        .runtime
        .start(StartRequest::new("stateful", json!({"n": "zero"})))
        .await;
    assert_eq!(refused.err().unwrap().code(), "STATE_INVALID");
    let run = world
        .runtime
        .start(StartRequest::new("stateful", json!({"n": 0})))
        .await
        .unwrap()
        .run;
    let stream = StreamName::flow(&run);
    let mut ids = Vec::new();
    for n in 1..=3 {
        let event = Json::of(&json!({"type": "state.set", "data": {"key": "n", "value": n}}));
        ids.extend(world.runtime.append(&stream, &[event]).await.unwrap());
    }
    for (n, id) in (1..).zip(&ids) {
        let state = world.runtime.state_at(&run, At::Event(*id)).await.unwrap();
        assert_eq!(state.state.json().as_str(), format!(r#"{{"n":{n}}}"#));
    }
    for (event, code) in [
        (
            json!({"type": "state.set", "data": {"key": "n", "value": "x"}}),
            "STATE_INVALID",
        ),
        (
            json!({"type": "state.set", "data": {"value": "x"}}),
            "BAD_EVENT",
        ),
        (
            json!({"type": "flow.completed", "data": {}}),
            "RESERVED_TYPE",
        ),
        (json!({"type": "step.completed"}), "RESERVED_TYPE"),
        (
            json!({"type": "state.set", "data": {"key": vec!["a"; 5_000].join("."), "value": 1}}),
            "BAD_EVENT",
        ),
        (json!({"data": 1}), "BAD_EVENT"),
    ] {
        let error = world
            .runtime
            .append(&stream, &[Json::of(&event)])
            .await
            .unwrap_err();
        assert_eq!(error.code(), code, "{event}");
    }
    let missing = StreamName::flow(&RunId::new("nobody"));
    let event = Json::of(&json!({"type": "x"}));
    assert_eq!(
        world
            .runtime
            .append(&missing, std::slice::from_ref(&event))
            .await
            .unwrap_err()
            .code(),
        "RUN_NOT_FOUND"
    );
    world.runtime.cancel(&run, None).await.unwrap();
    assert_eq!(
        world
            .runtime
            .append(&stream, &[event])
            .await
            .unwrap_err()
            .code(),
        "RUN_ENDED"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_chatty_stream_starves_no_decision() {
    let world = World::new().await;
    world
        .register_as(json!({
            "id": "busy", "version": "1.0.0", "initialStepId": "a", "limits": {"maxSteps": 100},
            "steps": {
                "a": {"type": "echo", "input": {"type": "static", "value": 1}, "transitions": {"onSuccess": "b"}},
                "b": {"type": "delay", "config": {"ms": 300}, "transitions": {"onSuccess": "c"}},
                "c": {"type": "echo", "input": {"type": "key", "key": "k"}},
            },
        }))
        .await;
    let run = world
        .runtime
        .start(StartRequest::new("busy", json!({})))
        .await
        .unwrap()
        .run;
    let stream = StreamName::flow(&run);
    let chatter = (0..4).map(|task| {
        let (runtime, stream) = (world.runtime.clone(), stream.clone());
        tokio::spawn(async move {
            for n in 0.. {
                let data = json!({"type": "state.set", "data": {"key": "k", "value": n}});
                let log = json!({"type": "log.info", "data": {"message": n}});
                let event = if task == 0 { data } else { log };
                if runtime.append(&stream, &[Json::of(&event)]).await.is_err() {
                    return;
                }
            }
        })
    });
    let chatter: Vec<_> = chatter.collect();
    let view = world.end(&run).await;
    assert_eq!(view.state().status, RunStatus::Completed);
    futures::future::join_all(chatter).await;
    let events = world.events(&run).await;
    for (seq, event) in events.iter().enumerate() {
        assert_eq!(event.id.seq, seq as u64);
    }
    let mut replayed = riverrun_engine::RunState::new();
    events
        .iter()
        .for_each(|event| replayed.apply(&event.draft()));
    assert_eq!(&replayed, &*world.runtime.load(&run).await.unwrap().state);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_lease_is_stopped_and_records_nothing() {
    let options = Options {
        lease: Duration::from_millis(300),
        ..Options::default()
    };
    let first = World::with(SqliteStore::memory().unwrap(), options).await;
    first
        .register("work", json!({"a": {"type": "stuck", "outputKey": "a"}}))
        .await;
    let run = first
        .runtime
        .start(StartRequest::new("work", json!({})))
        .await
        .unwrap()
        .run;
    first.until(&run, EventType::StepStarted).await;
    // Another owner takes the store over: its `stuck` begins a second attempt.
    let second = World::on(first.store.clone()).await;
    second.until(&run, EventType::StepRetry).await;
    // The first one's handler is dropped as soon as its heartbeat is refused.
    let stopped = async {
        while first.calls.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, stopped).await.unwrap();
    second.runtime.cancel(&run, None).await.unwrap();
    second.end(&run).await;
    let types = second.types(&run).await;
    assert_eq!(
        types,
        [
            "flow.started",
            "step.started",
            "step.retry",
            "step.started",
            "step.cancelled",
            "flow.cancelled"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_hands_its_leases_back() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap();
    let first = World::on(open()).await;
    first
        .register("work", json!({"a": {"type": "stuck"}}))
        .await;
    let run = first
        .runtime
        .start(StartRequest::new("work", json!({})))
        .await
        .unwrap()
        .run;
    first.until(&run, EventType::StepStarted).await;
    first.runtime.shutdown().await.unwrap();
    assert_eq!(
        first
            .runtime
            .start(StartRequest::new("work", json!({})))
            .await
            .err()
            .unwrap()
            .code(),
        "SHUTTING_DOWN"
    );
    drop(first);
    let store = open();
    let record = store.run(&run).await.unwrap().unwrap();
    assert!(!record.status.is_ended());
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (stats.leased, stats.ready),
        (0, 1),
        "the lease was handed back"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_with_nothing_to_do_waits_for_nothing() {
    let world = World::new().await;
    let shutdown = tokio::time::timeout(Duration::from_secs(5), world.runtime.shutdown());
    shutdown.await.expect("it waits for something").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_runs_are_snapshotted_and_reread() {
    let world = World::new().await;
    world
        .register_as(json!({
            "id": "loop", "version": "1.0.0", "initialStepId": "inc", "limits": {"maxSteps": 1000000},
            "steps": {
                "inc": {"type": "transform", "config": {"transform": "(input ?? 0) + 1"}, "input": {"type": "key", "key": "n"}, "outputKey": "n", "transitions": {"onSuccess": "more"}},
                "more": {"type": "branch", "config": {"conditions": [{"path": "n", "op": "lt", "value": 1500, "goto": "inc"}], "default": "end"}},
                "end": {"type": "set", "config": {"value": true}, "outputKey": "done"},
            },
        }))
        .await;
    let view = world.run("loop", json!({})).await;
    let run = &view.loaded.record.id;
    assert_eq!(
        view.state().state.json().as_str(),
        r#"{"n":1500,"done":true}"#
    );
    let len = view.state().len;
    let snapshot = world
        .store
        .snapshot(run, len)
        .await
        .unwrap()
        .expect("a snapshot");
    assert!(len - snapshot.len < 1_500, "{len} {}", snapshot.len);
    let events = world.events(run).await;
    let mut replayed = riverrun_engine::RunState::new();
    for (at, event) in events.iter().enumerate() {
        replayed.apply(&event.draft());
        if at % 997 == 0 {
            let state = world
                .runtime
                .state_at(run, At::Event(event.id))
                .await
                .unwrap();
            assert_eq!(*state, replayed, "at {at}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exported_run_goes_on_elsewhere() {
    let here = World::new().await;
    let steps = json!({
        "a": {"type": "set", "config": {"value": 12345678901234567u64}, "outputKey": "a", "transitions": {"onSuccess": "nap"}},
        "nap": {"type": "delay", "config": {"ms": 50}, "transitions": {"onSuccess": "b"}},
        "b": {"type": "echo", "input": {"type": "key", "key": "a"}, "outputKey": "b"},
    });
    here.register("moves", steps.clone()).await;
    let run = here
        .runtime
        .start(StartRequest::new("moves", json!({})))
        .await
        .unwrap()
        .run;
    let export = || async {
        let view = here.runtime.run(&run).await.unwrap();
        let events: Vec<Json> = here.events(&run).await.iter().map(Json::of).collect();
        Json::of(&json!({"run": view, "events": events}))
            .read::<Exported>()
            .unwrap()
    };
    let under_way = export().await;
    here.end(&run).await;
    let ended = export().await;

    let there = World::new().await;
    let refused = there.runtime.import(under_way.clone()).await.err().unwrap();
    assert_eq!(
        refused.code(),
        "FLOW_NOT_FOUND",
        "a run that goes on needs its flow"
    );
    there.register("moves", steps).await;
    there.runtime.import(under_way.clone()).await.unwrap();
    let view = there.end(&run).await;
    assert_eq!(
        view.state().state.json(),
        here.runtime.load(&run).await.unwrap().state.state.json()
    );
    assert_eq!(
        there
            .runtime
            .import(ended.clone())
            .await
            .err()
            .unwrap()
            .code(),
        "RUN_EXISTS"
    );
    let mut holed = ended;
    holed.events.remove(2);
    holed.run.run_id = "other".into();
    assert_eq!(
        there.runtime.import(holed).await.err().unwrap().code(),
        "BAD_EVENT"
    );
}
