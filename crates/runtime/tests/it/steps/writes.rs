//! Many steps of one run that write to its state at once.

use riverrun_protocol::WorkError;
use riverrun_types::RunStatus;
use serde_json::{Value, json};

use super::{World, ask, flow, input, step, with};

const STEPS: u64 = 60;

/// A step that emits `item` so often, and one that each of them enters.
fn fanned_out(limits: Value) -> Value {
    let subscription = json!({"subscriptions": [{"eventKind": "item"}]});
    let steps = json!({"a": step("fan"), "b": with(step("write"), subscription)});
    with(flow(steps), limits)
}

fn put(world: &World, script: super::Script) {
    world.put(
        "fan",
        json!({}),
        script!(|call| {
            for n in 0..STEPS {
                ask(&call, "emit", json!({"type": "item", "data": {"n": n}})).await?;
            }
            Ok(Value::Null)
        }),
    );
    // Nothing is tried again: what is refused fails its run.
    let config = json!({"concurrency": 64, "retryPolicy": {"attempts": 1}});
    world.put("write", config, script);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_of_many_steps_at_once_are_all_stored() {
    let world = World::new().await;
    world.register(fanned_out(json!({}))).await;
    put(
        &world,
        script!(|call| {
            let n = input(&call)["n"].clone();
            let key = format!("k{n}");
            let written = ask(&call, "state.set", json!({"key": key, "value": n})).await?;
            let both = json!({"values": {"last": n, format!("also{n}"): n}});
            let after = ask(&call, "state.setBatch", both).await?;
            assert!(written["version"].as_u64() < after["version"].as_u64());
            ask(&call, "state.delete", json!({"key": format!("also{n}")})).await?;
            ask(&call, "state.get", json!({"key": key})).await
        }),
    );
    let run = world.start("f", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
    let value = state.state.json().value();
    for n in 0..STEPS {
        assert_eq!(value[format!("k{n}")], n);
        assert_eq!(value.get(format!("also{n}")), None, "{value}");
    }
}

/// One that may not be written is refused, and takes nobody else's with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_breaks_the_schema_is_refused_among_others() {
    let world = World::new().await;
    let schema = json!({"properties": {"k7": {"type": "string"}}});
    world
        .register(fanned_out(json!({"stateSchema": schema})))
        .await;
    put(
        &world,
        script!(|call| {
            let n = input(&call)["n"].clone();
            let written = ask(
                &call,
                "state.set",
                json!({"key": format!("k{n}"), "value": n}),
            );
            let refused: Option<WorkError> = written.await.err();
            assert_eq!(refused.is_some(), n == 7, "{n}: {refused:?}");
            Ok(json!(refused.map(|error| error.code)))
        }),
    );
    let run = world.start("f", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
    let value = state.state.json().value();
    assert_eq!(value.get("k7"), None);
    let written = (0..STEPS).filter(|n| value.get(format!("k{n}")).is_some());
    assert_eq!(written.count() as u64, STEPS - 1);
}

/// Wherever a value comes from, it is no larger than the flow allows, and what is refused is not
/// tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_is_too_large_is_refused_wherever_it_is_written() {
    let world = World::new().await;
    world.put(
        "write",
        json!({"retryPolicy": {"attempts": 3}}),
        script!(|call| {
            let large = "x".repeat(1_001);
            let how = input(&call)["how"].as_str().unwrap().to_owned();
            let asked = match how.as_str() {
                "state.set" => json!({"key": "k", "value": large}),
                "state.setBatch" => json!({"values": {"a": 1, "b": large}}),
                "memo" => json!({"name": "m", "value": large}),
                _ => json!({"type": "said", "data": large}),
            };
            ask(&call, &how, asked).await
        }),
    );
    let limits = json!({"limits": {"maxValueBytes": 1_000}});
    world
        .register(with(flow(json!({"a": step("write")})), limits))
        .await;
    for how in ["state.set", "state.setBatch", "memo", "emit"] {
        let run = world.start("f", json!({"how": how})).await;
        let state = world.end(&run).await.loaded.state;
        let error = state.error.as_ref().unwrap();
        assert_eq!(
            (error.code.as_str(), state.steps["a"].attempt),
            ("VALUE_TOO_LARGE", 1),
            "{how}"
        );
        assert!(state.state.get("k").is_none() && state.state.get("b").is_none());
    }
    // From outside.
    let wait = json!({"a": {"type": "delay", "config": {"ms": 3_600_000}}});
    let wait = with(
        flow(wait),
        json!({"id": "g", "limits": {"maxValueBytes": 1_000}}),
    );
    world.register(wait).await;
    let run = world.start("g", json!({})).await;
    let large = "x".repeat(1_001);
    for event in [
        json!({"type": "state.set", "data": {"key": "k", "value": large}}),
        json!({"type": "state.snapshot", "data": {"k": large}}),
    ] {
        let stream = riverrun_types::StreamName::flow(&run);
        let refused = world
            .runtime
            .events()
            .append(&stream, &[event.into()])
            .await;
        assert_eq!(refused.unwrap_err().code(), "VALUE_TOO_LARGE");
    }
}
