//! The stream of a run: written to from outside, read at any moment, however long it is.

use riverrun_runtime::{At, StartRequest};
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::json;

use super::World;

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
        .runs()
        .start(StartRequest::new("stateful", json!({"n": "zero"})))
        .await;
    assert_eq!(refused.err().unwrap().code(), "STATE_INVALID");
    let run = world.start("stateful", json!({"n": 0})).await.run;
    let stream = StreamName::flow(&run);
    let mut ids = Vec::new();
    for n in 1..=3 {
        let event = Json::of(&json!({"type": "state.set", "data": {"key": "n", "value": n}}));
        ids.extend(
            world
                .runtime
                .events()
                .append(&stream, &[event])
                .await
                .unwrap(),
        );
    }
    for (n, id) in (1..).zip(&ids) {
        let state = world
            .runtime
            .runs()
            .state_at(&run, At::Event(*id))
            .await
            .unwrap();
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
            .events()
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
            .events()
            .append(&missing, std::slice::from_ref(&event))
            .await
            .unwrap_err()
            .code(),
        "RUN_NOT_FOUND"
    );
    world.runtime.runs().cancel(&run, None).await.unwrap();
    assert_eq!(
        world
            .runtime
            .events()
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
    let run = world.start("busy", json!({})).await.run;
    let stream = StreamName::flow(&run);
    let chatter = (0..4).map(|task| {
        let (runtime, stream) = (world.runtime.clone(), stream.clone());
        tokio::spawn(async move {
            for n in 0.. {
                let data = json!({"type": "state.set", "data": {"key": "k", "value": n}});
                let log = json!({"type": "log.info", "data": {"message": n}});
                let event = if task == 0 { data } else { log };
                if runtime
                    .events()
                    .append(&stream, &[Json::of(&event)])
                    .await
                    .is_err()
                {
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
    assert_eq!(
        &replayed,
        &*world.runtime.runs().load(&run).await.unwrap().state
    );
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
                .runs()
                .state_at(run, At::Event(event.id))
                .await
                .unwrap();
            assert_eq!(*state, replayed, "at {at}");
        }
    }
}
