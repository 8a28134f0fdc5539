//! What flows are made of: steps in a row, branches, maps, sub-flows, failures.

use riverrun_store::RunFilter;
use riverrun_types::{EventType, Json, RunId, RunStatus, StreamName};
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
    assert!(failure.message.contains("as the test wants"), "{failure:?}");
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
async fn a_sub_flow_undoes_what_it_did_when_the_run_above_fails() {
    let world = World::new().await;
    let undone = json!({
        "a": {"type": "echo", "compensation": {"step": "undo"}, "transitions": {"onSuccess": "b"}},
        "b": {"type": "stuck"},
        "undo": {"type": "echo"},
    });
    world.register("lowest", undone).await;
    // It has nothing to undo itself, and is not in the way of what is below it.
    let middle = json!({"sub": {"type": "sub-flow", "config": {"flowId": "lowest"}}});
    world.register("middle", middle).await;
    let boom = json!({"type": "event", "eventKind": "boom"});
    let above = json!({
        "first": {"type": "echo", "emits": ["go"], "compensation": {"step": "undo"}},
        "sub": {"type": "sub-flow", "config": {"flowId": "middle"}, "subscriptions": [{"eventKind": "go"}]},
        "fails": {
            "type": "flaky", "input": {"type": "static", "value": 99},
            "subscriptions": [{"eventKind": "go"}], "await": boom,
        },
        "undo": {"type": "echo"},
    });
    world.register("above", above).await;
    let below = async |run: &RunId| {
        world.until(run, EventType::StepAwaitRun).await;
        let filter = RunFilter {
            parent: Some(run.clone()),
            limit: 1,
            ..RunFilter::default()
        };
        let mut found = world.runtime.runs().list(&filter).await.unwrap().items;
        found.remove(0).id
    };
    for fails in [true, false] {
        let started = world.start("above", json!({})).await;
        let middle = below(&started.run).await;
        let lowest = below(&middle).await;
        world.until(&lowest, EventType::StepCompleted).await;
        world.until(&started.run, EventType::StepAwaitEvent).await;
        match fails {
            true => {
                let event = Json::of(&json!({"type": "boom"}));
                let stream = StreamName::flow(&started.run);
                world
                    .runtime
                    .events()
                    .append(&stream, &[event])
                    .await
                    .unwrap();
            }
            false => drop(
                world
                    .runtime
                    .runs()
                    .cancel(&started.run, None)
                    .await
                    .unwrap(),
            ),
        }
        let ended = world.end(&started.run).await;
        let expected = match fails {
            true => RunStatus::Failed,
            false => RunStatus::Cancelled,
        };
        assert_eq!(ended.state().status, expected);
        for run in [middle, lowest.clone()] {
            let ended = world.end(&run).await;
            let state = ended.state();
            let source = state.cancellation.as_ref().map(|one| one.source.as_str());
            assert_eq!(
                (state.status, source),
                (RunStatus::Cancelled, Some("parent"))
            );
            assert_eq!(state.error, None);
        }
        let undone = world.end(&lowest).await;
        assert_eq!(undone.state().steps.contains_key("undo"), fails);
    }
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
    assert_eq!(
        world
            .runtime
            .runs()
            .list(&children)
            .await
            .unwrap()
            .items
            .len(),
        1
    );

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
        .runs()
        .list(&filter)
        .await
        .unwrap()
        .items
        .remove(0)
        .id;
    world.until(&child, EventType::StepStarted).await;
    world
        .runtime
        .runs()
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
