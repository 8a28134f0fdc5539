//! The jobs of steps: how they begin, end and go with their run.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_protocol::{Frame, LogLevel, WorkError};
use riverrun_runtime::{Error, Listener, StartRequest};
use riverrun_store::{Change, Commit, EventQuery, SignalRecord, Steer};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{LONG, World, ask, flow, input, step, with};

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
    let queue = world.runtime.queues().queue("double").await.unwrap();
    assert_eq!(
        queue.record.waiting + queue.record.active + queue.record.completed,
        0
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_an_attempt_that_failed_says_where_in_the_code_it_did() {
    let world = World::new().await;
    let retry = json!({"retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}}});
    world.put(
        "broken",
        retry,
        script!(|call| {
            Err(WorkError {
                name: Some("TypeError".into()),
                stack: Some(
                    format!("at f{}{}", call.invoke.job.attempt, "x".repeat(50_000)).into(),
                ),
                ..WorkError::new("HANDLER_ERROR", "x is undefined")
            })
        }),
    );
    world.register(flow(json!({"a": step("broken")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let error = view.loaded.state.error.as_ref().unwrap();
    assert_eq!(error.thrown, None);
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&StreamName::flow(&run), &query).await;
    let errors: Vec<Value> = events
        .unwrap()
        .iter()
        .filter(|event| event.kind.as_str() == "step.failed")
        .map(|event| event.data.as_ref().unwrap().value()["error"].clone())
        .collect();
    for (error, at) in errors.iter().zip(["at f1x", "at f2x"]) {
        let stack = error["stack"].as_str().unwrap();
        assert!(stack.starts_with(at), "{stack}");
        assert_eq!(
            (stack.chars().count(), stack.ends_with("x…")),
            (40_001, true)
        );
        assert_eq!(error["name"], "TypeError");
    }
    assert_eq!(errors.len(), 2);
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
            Err(WorkError::new("CANCELLED", "asked to stop"))
        }),
    );
    world.register(flow(json!({"a": step("hang")}))).await;
    let run = world.start("f", json!({})).await;
    let mut tail = world.runtime.streams().tail(StreamName::flow(&run), 0);
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
    world.runtime.runs().cancel(&run, None).await.unwrap();
    let gone = async {
        loop {
            let queue = world.runtime.queues().queue("hang").await.unwrap().record;
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
    world.runtime.queues().pause("work", true).await.unwrap();
    let mut request = StartRequest::new("f", Json::of(&json!({})));
    request.tenant = Some("acme".to_owned());
    let run = world.runtime.runs().start(request).await.unwrap().run;
    let job = RunId::new(&format!("{run}__a"));
    let waits = async || {
        world
            .runtime
            .queues()
            .queue("work")
            .await
            .unwrap()
            .record
            .waiting
    };
    let there = async {
        while waits().await == 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, there).await.unwrap();
    for steer in [Steer::Cancel { reason: None }, Steer::Remove] {
        let refused = world.runtime.queues().steer(&job, steer).await.unwrap_err();
        assert_eq!(refused.code(), "JOB_OF_RUN");
    }
    // A job of nobody in the same queue goes, the step's stays.
    let plain = serde_json::from_value(json!([{"data": 1}])).unwrap();
    world
        .runtime
        .queues()
        .enqueue("work", plain, false)
        .await
        .unwrap();
    let drained = world.runtime.queues().drain("work", true).await.unwrap();
    assert_eq!((drained.removed, drained.left), (1, 1));
    assert_eq!(waits().await, 1);
    world.runtime.queues().pause("work", false).await.unwrap();
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
        script!(|_call| Err(WorkError::new("BROKEN", "as the test wants"))),
    );
    let steps = json!({
        "a": with(step("well"), json!({"transitions": {"onSuccess": "b"}})), "b": step("badly"),
    });
    world.register(flow(steps)).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.end(&run).await.loaded.state.status, RunStatus::Failed);
    let stats = async |queue: &str| world.runtime.queues().queue(queue).await.unwrap().stats;
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
    world.runtime.runs().pause(&run, None).await.unwrap();
    world.put("late", Value::Null, script!(|_call| Ok(json!("at last"))));
    let sent_away = async {
        while world
            .runtime
            .queues()
            .queue("late")
            .await
            .unwrap()
            .record
            .waiting
            > 0
        {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, sent_away).await.unwrap();
    assert_eq!(world.events(&run).await, ["flow.started", "flow.paused"]);
    world.runtime.runs().resume(&run).await.unwrap();
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.result.clone().unwrap().value(),
        json!("at last")
    );
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
            let view = world.runtime.runs().wait(&run, LONG).await.unwrap();
            if !view.loaded.state.status.is_ended() {
                panic!(
                    "{:#?} {:#?}",
                    world.events(&run).await,
                    world.runtime.reasons().why(&run).await
                );
            }
            assert_eq!(view.loaded.state.status, RunStatus::Completed);
        }
    });
    runs.buffer_unordered(256).collect::<Vec<()>>().await;
}

/// Passes on the place in its chain of every event that leaps.
struct Chains(mpsc::UnboundedSender<Value>);

#[async_trait]
impl Listener for Chains {
    async fn on_signal(&self, signal: &SignalRecord) -> Result<(), Error> {
        let chain = signal.emit.event.value()["chain"].clone();
        self.0.send(chain).map_err(|_| Error::ShuttingDown)
    }

    fn wants(&self, kind: &str) -> bool {
        kind == "leapt"
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_place_in_a_chain_goes_through_what_code_begins() {
    let world = World::new().await;
    let (sender, mut chains) = mpsc::unbounded_channel();
    world
        .runtime
        .streams()
        .add_listener(Arc::new(Chains(sender)));
    let listen = Change::Listen {
        kind: "leapt".into(),
        on: true,
    };
    world
        .runtime
        .base()
        .commit(Commit::of(listen))
        .await
        .unwrap();
    world.put(
        "leap",
        Value::Null,
        script!(|call| {
            ask(&call, "emit", json!({"type": "leapt"})).await?;
            match input(&call)["again"].as_bool() {
                Some(true) => ask(&call, "enqueue", json!({"queue": "hop", "data": {}})).await,
                _ => Ok(json!("there")),
            }
        }),
    );
    world.put(
        "hop",
        Value::Null,
        script!(|call| {
            ask(&call, "emit", json!({"type": "leapt"})).await?;
            ask(&call, "start", json!({"flow": "f", "input": {}})).await
        }),
    );
    world.register(flow(json!({"a": step("leap")}))).await;
    let completed = world
        .runtime
        .streams()
        .on_kind(["flow.completed"], riverrun_runtime::Begin::End);
    let mut completed = completed.await.unwrap();
    let mut request = StartRequest::new("f", Json::of(&json!({"again": true})));
    request.chain = 7;
    world.runtime.runs().start(request).await.unwrap();
    for _ in 0..2 {
        let delivery = tokio::time::timeout(LONG, completed.next()).await.unwrap();
        assert!(matches!(delivery, Ok(riverrun_runtime::Delivery::Event(_))));
    }
    for _ in 0..3 {
        let chain = tokio::time::timeout(LONG, chains.recv()).await.unwrap();
        assert_eq!(chain, Some(json!(7)));
    }
}
