//! What flows are made of: steps in a row, branches, maps, sub-flows, failures.

use riverrun_store::RunFilter;
use riverrun_types::{EventType, RunStatus};
use serde_json::json;

use super::{World, held, text};

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
    let started = world.start("three", json!({"x": 1})).await;
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
    assert_eq!(held(&view, "out"), r#"{"calls":3}"#);
    let view = world.run("retry", json!({"fails": 99})).await;
    assert_eq!(held(&view, "caught"), "\"FLAKY\"");
    assert_eq!(*world.calls.borrow(), 6);

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
    assert_eq!(held(&view, "fan"), r#"{"left":"l","right":"r"}"#);
    assert_eq!(held(&view, "shared"), "\"r\"");
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
    assert_eq!(held(&view, "answer"), r#"{"n":7}"#);
    let children = RunFilter {
        parent: Some(view.loaded.record.id.clone()),
        limit: 10,
        ..RunFilter::default()
    };
    assert_eq!(world.runtime.list(&children).await.unwrap().items.len(), 1);

    let view = world.run("calls-broken", json!({})).await;
    assert_eq!(view.failure().unwrap().code, "CHILD_FAILED");

    let started = world.start("calls-hanging", json!({})).await;
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
