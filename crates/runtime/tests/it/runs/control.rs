//! What people do to runs: start once, cancel, pause, rerun, fork, move.

use std::time::Duration;

use riverrun_runtime::{Exported, StartRequest};
use riverrun_types::{EventType, Json, RunStatus};
use serde_json::json;

use super::World;

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
        world.runtime.runs().start(request)
    });
    let started: Vec<_> = futures::future::join_all(starts)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(started.iter().filter(|s| s.created).count(), 1);
    assert!(started.iter().all(|s| s.run == started[0].run));
    world.end(&started[0].run).await;
    assert_eq!(*world.calls.borrow(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_stops_what_runs() {
    let world = World::new().await;
    world
        .register("hanging", json!({"a": {"type": "stuck"}}))
        .await;
    let started = world.start("hanging", json!({})).await;
    world.until(&started.run, EventType::StepStarted).await;
    let state = world
        .runtime
        .runs()
        .cancel(&started.run, None)
        .await
        .unwrap();
    assert_eq!(state.status, RunStatus::Cancelled);
    world.called().await;
    let again = world
        .runtime
        .runs()
        .cancel(&started.run, None)
        .await
        .unwrap_err();
    assert_eq!(again.code(), "RUN_ENDED");
    assert_eq!(
        world.types(&started.run).await.last().unwrap(),
        "flow.cancelled"
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
    let started = world.start("pausable", json!({})).await;
    world
        .runtime
        .runs()
        .pause(&started.run, None)
        .await
        .unwrap();
    let view = world
        .runtime
        .runs()
        .wait(&started.run, Duration::from_millis(150))
        .await
        .unwrap();
    assert_eq!(view.state().status, RunStatus::Paused);
    world.runtime.runs().resume(&started.run).await.unwrap();
    assert_eq!(
        world.end(&started.run).await.state().status,
        RunStatus::Completed
    );
    assert_eq!(
        world
            .runtime
            .runs()
            .resume(&started.run)
            .await
            .unwrap_err()
            .code(),
        "RUN_ENDED"
    );
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
    let forked = world
        .runtime
        .runs()
        .fork(&run, Some(after_a))
        .await
        .unwrap();
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
        world
            .runtime
            .runs()
            .fork(&run, None)
            .await
            .err()
            .unwrap()
            .code(),
        "FORK_AT_END"
    );

    let rerun = world.runtime.runs().rerun(&run, None, false).await.unwrap();
    assert_eq!(
        world.end(&rerun.run).await.state().status,
        RunStatus::Completed
    );
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
    let run = here.start("moves", json!({})).await.run;
    let export = || async {
        let view = here.runtime.runs().run(&run).await.unwrap();
        let events: Vec<Json> = here.events(&run).await.iter().map(Json::of).collect();
        Json::of(&json!({"run": view, "events": events}))
            .read::<Exported>()
            .unwrap()
    };
    let under_way = export().await;
    here.end(&run).await;
    let ended = export().await;

    let there = World::new().await;
    let refused = there
        .runtime
        .runs()
        .import(under_way.clone())
        .await
        .err()
        .unwrap();
    assert_eq!(
        refused.code(),
        "FLOW_NOT_FOUND",
        "a run that goes on needs its flow"
    );
    there.register("moves", steps).await;
    there
        .runtime
        .runs()
        .import(under_way.clone())
        .await
        .unwrap();
    let view = there.end(&run).await;
    assert_eq!(
        view.state().state.json(),
        here.runtime
            .runs()
            .load(&run)
            .await
            .unwrap()
            .state
            .state
            .json()
    );
    assert_eq!(
        there
            .runtime
            .runs()
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
        there
            .runtime
            .runs()
            .import(holed)
            .await
            .err()
            .unwrap()
            .code(),
        "BAD_EVENT"
    );
}
