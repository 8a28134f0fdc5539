//! Copies of runs that wait for what their definitions declare.

use riverrun_runtime::CallbackAnswer;
use riverrun_types::{Json, RunStatus};
use serde_json::{Value, json};

use super::{World, flow, input, step, with};

fn callback_answer(payload: &Value) -> CallbackAnswer<'static> {
    CallbackAnswer {
        payload: Json::of(payload),
        body: b"",
        signature: None,
        source: "test",
    }
}

/// A step of a process, and a built-in one, that give what they awaited.
fn steps(world: &World) -> [Value; 2] {
    world.put(
        "tell",
        Value::Null,
        script!(|call| Ok(json!({"awaited": call.invoke.awaited, "input": input(&call)}))),
    );
    let built_in = json!({"type": "transform", "config": {"transform": "({awaited, input})"}});
    [step("tell"), built_in]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_run_that_waits_for_an_event_waits_for_it_too() {
    let world = World::new().await;
    for (n, step) in steps(&world).into_iter().enumerate() {
        let id = format!("f{n}");
        let waits = json!({"await": {"type": "event", "eventKind": "paid",
            "match": {"data.id": "input.id"}, "timeout": "1h"}});
        let waits = with(flow(json!({"w": with(step, waits)})), json!({"id": id}));
        world.register(waits).await;
        let run = world.start(&id, json!({"id": n})).await;
        let own = world.until_awaits(&run, "w").await;
        let copy = world.runtime.runs().fork(&run, None).await.unwrap().run;
        assert_ne!(world.until_awaits(&copy, "w").await, own);
        world.until(&copy, RunStatus::Waiting).await;
        world.emit("paid", json!({"id": 7})).await;
        world.emit("paid", json!({"id": n, "by": "card"})).await;
        for run in [&run, &copy] {
            let result = world.result(run).await;
            assert_eq!(result["awaited"]["data"]["by"], "card");
            assert_eq!(result["input"]["id"], n);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_run_that_waits_for_a_callback_has_a_callback_of_its_own() {
    let world = World::new().await;
    for (n, step) in steps(&world).into_iter().enumerate() {
        let id = format!("f{n}");
        let waits = json!({"await": {"type": "trigger", "triggerType": "api"}});
        let waits = with(flow(json!({"w": with(step, waits)})), json!({"id": id}));
        world.register(waits).await;
        let run = world.start(&id, json!({})).await;
        let own = world.until_awaits(&run, "w").await;
        let copy = world.runtime.runs().fork(&run, None).await.unwrap().run;
        let callback = world.until_awaits(&copy, "w").await;
        assert_ne!(callback, own);
        for (run, callback) in [(&run, own), (&copy, callback)] {
            let said = json!({"for": callback});
            world
                .runtime
                .awaits()
                .resume_callback(&callback, callback_answer(&said))
                .await
                .unwrap();
            assert_eq!(world.result(run).await["awaited"], said);
        }
    }
}
