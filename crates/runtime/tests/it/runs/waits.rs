//! Runs that wait for a time, and those for which time runs out.

use riverrun_runtime::StartRequest;
use riverrun_types::RunStatus;
use serde_json::json;

use super::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delay_parks_the_run_and_time_resumes_it() {
    let world = World::new().await;
    world
        .register("nap", json!({
            "nap": {"type": "delay", "config": {"ms": 120}, "transitions": {"onSuccess": "end"}},
            "end": {"type": "set", "config": {"value": 1}, "outputKey": "woken"},
        }))
        .await;
    let started = world.start("nap", json!({})).await;
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
    let started = world.runtime.runs().start(request).await.unwrap();
    assert_eq!(started.status, RunStatus::Pending);
    assert_eq!(
        world.end(&started.run).await.state().status,
        RunStatus::Completed
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_and_runs_time_out() {
    let world = World::new().await;
    world
        .register("slow", json!({"a": {"type": "stuck", "timeoutMs": 30}}))
        .await;
    let view = world.run("slow", json!({})).await;
    assert_eq!(view.failure().unwrap().code, "TIMEOUT");
    world
        .register_as(json!({"id": "late", "version": "1.0.0", "initialStepId": "a", "timeoutMs": 50, "steps": {"a": {"type": "delay", "config": {"ms": 60000}}}}))
        .await;
    let view = world.run("late", json!({})).await;
    assert_eq!(view.failure().unwrap().code, "TIMEOUT");
}
