//! The input of a step of a process: the same in every execution of its code.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Json, RunStatus, StreamName};
use serde_json::{Value, json};

use super::{World, ask, awaits::suspend, flow, input, step, with};

/// Writes over what it was given, fails, waits, and ends.
#[derive(Default)]
struct Writing {
    given: Mutex<Vec<Value>>,
}

#[async_trait]
impl Provider for Writing {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let given = input(&call);
        let nth = {
            let mut all = self.given.lock();
            all.push(given.clone());
            all.len()
        };
        if nth == 3 {
            return Ok(Reply::default());
        }
        for key in ["z", "extra"] {
            ask(&call, "state.set", json!({"key": key, "value": nth})).await?;
        }
        match nth {
            1 => Err(WorkError::new("NETWORK", "not now")),
            _ => suspend(json!({"type": "time", "afterMs": 1})),
        }
    }
}

/// What a step that begins with an input is given in each of its executions.
async fn given(world: &World, config: Value, steps: Value, started: Value) -> Vec<Value> {
    let writing = Arc::new(Writing::default());
    let retry = json!({"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}});
    let config = with(config, json!({ "retryPolicy": retry }));
    world.runtime.queues().put_process(Process {
        id: "write".into(),
        config: ProcessConfig::read(&Json::of(&config), "write").unwrap(),
        provider: writing.clone(),
        source: Source::default(),
    });
    world.register(flow(steps)).await;
    let run = world.start("f", started).await;
    let paid = json!({"type": "paid", "data": {"by": "card"}});
    let stream = StreamName::flow(&run);
    let _ = world
        .runtime
        .events()
        .append(&stream, &[Json::of(&paid)])
        .await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
    writing.given.lock().clone()
}

fn strict() -> Value {
    json!({"inputSchema": {"type": "object", "additionalProperties": false,
        "properties": {"z": {"const": 0}}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_is_given_the_input_of_the_run_after_writes_failures_and_waits() {
    let world = World::new().await;
    let steps = json!({"a": step("write")});
    let seen = given(&world, strict(), steps, json!({"z": 0})).await;
    assert_eq!(seen, [json!({"z": 0}), json!({"z": 0}), json!({"z": 0})]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_is_given_an_input_that_is_no_object_as_it_is() {
    let world = World::new().await;
    let seen = given(&world, json!({}), json!({"a": step("write")}), json!(5)).await;
    assert_eq!(seen, [json!(5), json!(5), json!(5)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_declared_await_brings_is_no_part_of_the_input() {
    let world = World::new().await;
    let awaits = json!({"await": {"type": "event", "eventKind": "paid"}});
    let steps = json!({"a": with(step("write"), awaits)});
    let seen = given(&world, strict(), steps, json!({"z": 0})).await;
    assert_eq!(seen, [json!({"z": 0}), json!({"z": 0}), json!({"z": 0})]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_step_is_given_what_it_selected_when_it_was_entered() {
    let world = World::new().await;
    let first = json!({"type": "set", "config": {"value": {"id": 1}}, "outputKey": "z",
        "transitions": {"onSuccess": "a"}});
    let select = json!({"input": {"type": "key", "key": "z"}});
    let steps = json!({"first": first, "a": with(step("write"), select)});
    let seen = given(&world, json!({}), steps, json!({})).await;
    assert_eq!(seen, [json!({"id": 1}), json!({"id": 1}), json!({"id": 1})]);
}
