//! Code that waits for a time or an event, and steps that declare it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source, StartRequest};
use riverrun_store::EventQuery;
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};

use super::{LONG, World, ask, flow, input, now_ms, step, with};

/// A handler in the form of code that waits: what is in the journal is given, the first that is
/// not suspends.
pub(super) fn suspend(wait: Value) -> Result<Reply, WorkError> {
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
                    let callback = ask(&call, "await.trigger", wait["callback"].clone()).await?;
                    wait["triggerId"] = callback["id"].clone();
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
    pub(super) fn put_waiting(&self, id: &str, wait: fn(&Invocation) -> Value) {
        self.runtime.queues().put_process(Process {
            id: id.into(),
            config: ProcessConfig::read(&Json::null(), id).ok().unwrap(),
            provider: Arc::new(Waiting(wait)),
            source: Source::default(),
        });
    }

    pub(super) async fn until(&self, run: &RunId, status: RunStatus) {
        let there = async {
            while self
                .runtime
                .runs()
                .run(run)
                .await
                .unwrap()
                .loaded
                .state
                .status
                != status
            {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        let came = tokio::time::timeout(LONG, there).await;
        assert!(came.is_ok(), "{:#?}", self.events(run).await);
    }

    pub(super) async fn emit(&self, kind: &str, data: Value) {
        let event = Json::of(&json!({"type": kind, "data": data}));
        let stream = StreamName::new("global", "global");
        self.runtime
            .events()
            .append(&stream, &[event])
            .await
            .unwrap();
    }

    pub(super) async fn result(&self, run: &RunId) -> Value {
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
        world
            .runtime
            .runs()
            .run(&two)
            .await
            .unwrap()
            .loaded
            .state
            .status,
        RunStatus::Waiting
    );
    world.runtime.runs().cancel(&two, None).await.unwrap();
    let stats = world.store.await_stats().await.unwrap();
    assert_eq!((stats.events, stats.callbacks), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_await_that_takes_too_long_times_out_in_the_code() {
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

/// Expressions that take all the time they may, before one that is asked for.
const SLOW: &str = "() => { for (;;) {} }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_came_in_time_counts_however_late_it_is_judged() {
    let world = World::new().await;
    world.put_waiting(
        "slow",
        |_| json!({"type": "event", "eventKind": "paid", "where": SLOW}),
    );
    world.put_waiting("pay", |_| {
        json!({"type": "event", "eventKind": "paid", "where": "e => e.data.id > 4", "timeoutMs": 600})
    });
    let steps = |process: &str| {
        let mut flow = flow(json!({"a": step(process)}));
        flow["id"] = json!(process);
        flow
    };
    for process in ["slow", "pay"] {
        world.register(steps(process)).await;
    }
    for _ in 0..8 {
        let run = world.start("slow", json!({})).await;
        world.until(&run, RunStatus::Waiting).await;
    }
    let run = world.start("pay", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    // Before it stand eight expressions of a quarter of a second.
    world.emit("paid", json!({"id": 5})).await;
    assert_eq!(world.result(&run).await["value"]["data"]["id"], 5);
    // One that is not meant is no reason to wait for ever.
    let run = world.start("pay", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    world.emit("paid", json!({"id": 3})).await;
    let result = world.result(&run).await;
    assert_eq!(result["error"]["code"], "AWAIT_TIMEOUT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_looks_back_on_all_events_even_without_time() {
    let world = World::new().await;
    for n in 0..600 {
        world.emit("bid", json!({ "n": n })).await;
    }
    world.put_waiting("pick", |call| {
        json!({"type": "event", "eventKind": "bid", "where": "(e, ctx) => e.data.n * 2 >= ctx.input.least", "lookbackMs": 600_000, "timeoutMs": input(call)["timeout"]})
    });
    world.register(flow(json!({"a": step("pick")}))).await;
    for (least, timeout) in [(2, 0), (1_198, 0), (1_000, 60_000)] {
        let input = json!({"least": least, "timeout": timeout});
        let run = world.start("f", input).await;
        let given = world.result(&run).await["value"]["data"]["n"].clone();
        assert_eq!(given, least / 2, "the earliest that fits");
    }
    let run = world
        .start("f", json!({"least": 5_000, "timeout": 0}))
        .await;
    let result = world.result(&run).await;
    assert_eq!(result["error"]["code"], "AWAIT_TIMEOUT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_looks_back_further_than_events_are_kept() {
    let world = World::new().await;
    world.put_waiting(
        "far",
        |_| json!({"type": "event", "eventKind": "paid", "lookbackMs": 8 * 86_400_000_i64}),
    );
    world.register(flow(json!({ "a": step("far") }))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let error = view.failure().unwrap();
    assert_eq!(error.code, "INPUT_ERROR");
    assert!(error.message.contains("retention.emitted"), "{error:?}");
    // What a definition says is known before any run begins.
    let far = json!({"type": "event", "eventKind": "paid", "lookback": "8 days"});
    let declared = flow(json!({ "a": with(step("far"), json!({ "await": far })) }));
    let refused = world.runtime.flows().register(&declared).await;
    let Err(riverrun_runtime::Error::FlowInvalid(issues)) = refused else {
        panic!("it was not refused");
    };
    let is_reported = |path: &str| issues.iter().any(|issue| issue.path == path);
    assert!(is_reported("steps.a.await.lookback"), "{issues:#?}");
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
            .runs()
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declared_await_of_the_entry_reads_the_state_that_the_run_starts_with() {
    let world = World::new().await;
    world.put(
        "tell",
        Value::Null,
        script!(|call| Ok(json!(call.invoke.awaited))),
    );
    let wait = json!({"type": "event", "eventKind": "paid", "match": {"data.id": "state.order"}});
    let schema = json!({"type": "object", "properties": {"order": {"type": "integer"}}});
    world
        .register(
            json!({"id": "f", "version": "1.0.0", "initialStepId": "wait", "stateSchema": schema,
                "steps": {"wait": with(step("tell"), json!({"await": wait}))}}),
        )
        .await;
    let start = |order: Value| {
        let mut request = StartRequest::new("f", Json::of(&json!({"order": 4})));
        request.state.insert("order".to_owned(), order);
        world.runtime.runs().start(request)
    };
    let run = start(json!(5)).await.unwrap().run;
    world.until(&run, RunStatus::Waiting).await;
    world.emit("paid", json!({"id": 4})).await;
    world.emit("paid", json!({"id": 5})).await;
    assert_eq!(world.result(&run).await["data"]["id"], 5);
    let broken = start(json!("five")).await.err().unwrap();
    assert_eq!(broken.code(), "STATE_INVALID");
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

/// A flow of one step that waits in code.
fn waiter(id: &str, process: &str) -> Value {
    json!({"id": id, "version": "1.0.0", "initialStepId": "a", "steps": {"a": step(process)}})
}

impl World {
    /// Waits until the run's stream has an event of a type.
    pub(super) async fn until_event_of(&self, run: &RunId, kind: &str) {
        let stream = StreamName::flow(run);
        let mut news = self.runtime.base().hub().subscribe(&stream);
        let recorded = async {
            while !self
                .events(run)
                .await
                .iter()
                .any(|event| event.starts_with(kind))
            {
                news.next().await;
            }
        };
        let recorded = tokio::time::timeout(LONG, recorded).await;
        assert!(recorded.is_ok(), "{:#?}", self.events(run).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_where_that_throws_is_logged_once_in_the_waiting_run() {
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
    world.until_event_of(&run, "log.warn").await;
    let why = world.runtime.reasons().why(&run).await.unwrap();
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
    let why = world
        .runtime
        .reasons()
        .why(slow.last().unwrap())
        .await
        .unwrap();
    let why = serde_json::to_value(&why).unwrap();
    assert!(why["reasons"][0]["judging"].as_u64().unwrap() >= 3, "{why}");
    world.until_event_of(&slow[0], "log.warn").await;
}

impl World {
    /// Waits until a step waits for something, and says under which id.
    pub(super) async fn until_awaits(&self, run: &RunId, step: &str) -> String {
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
        let callback = world.until_awaits(&run, "boss").await;
        let callback_answer = riverrun_runtime::CallbackAnswer {
            payload: Json::of(&json!("yes")),
            body: b"",
            signature: None,
            source: "test",
        };
        world
            .runtime
            .awaits()
            .resume_callback(&callback, callback_answer)
            .await
            .unwrap();
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
    // A match of what is not there is reported.
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
                let run = world.runtime.runs().start(request).await.unwrap().run;
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
async fn code_that_waits_for_events_of_the_engine_is_rejected() {
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
