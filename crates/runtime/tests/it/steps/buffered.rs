//! Events that come before code waits for them are not lost: an await is given those since the run
//! began that the run has not consumed yet.

use async_trait::async_trait;
use riverrun_protocol::{JournalEntry, Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Json, RunStatus};
use serde_json::{Value, json};
use std::sync::Arc;

use super::{World, ask, awaits::suspend, flow, input, step, with};

/// Code that emits what its input says, and then waits so often for a `paid`.
struct Buyer;

#[async_trait]
impl Provider for Buyer {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let given = input(&call);
        let journal = &call.invoke.job.journal;
        let is_later = |entry: &JournalEntry| entry.name == "emitted" || entry.op == "await";
        if !journal.iter().any(is_later) {
            for n in given["emits"].as_array().into_iter().flatten() {
                ask(&call, "emit", json!({"type": "paid", "data": n})).await?;
            }
            // Without a record the events are stored in the commit that holds the wait.
            if given["records"] != false {
                ask(&call, "memo", json!({"name": "emitted"})).await?;
            }
        }
        let answers = journal.iter().filter(|entry| entry.op == "await");
        let answers: Vec<Value> = answers
            .map(|entry| match (&entry.value, &entry.error) {
                (_, Some(error)) => error.value()["code"].clone(),
                (value, None) => value.as_ref().unwrap().value()["data"].clone(),
            })
            .collect();
        if answers.len() < given["waits"].as_u64().unwrap_or(1) as usize {
            let mut wait = json!({"type": "event", "eventKind": "paid", "timeoutMs": 200});
            if let Some(lookback) = given.get("lookback") {
                wait["lookback"] = lookback.clone();
            }
            return suspend(wait);
        }
        Ok(Reply {
            value: Some(Json::of(&answers)),
            ..Reply::default()
        })
    }
}

async fn world() -> World {
    let world = World::new().await;
    world.runtime.queues().put_process(Process {
        id: "buyer".into(),
        config: ProcessConfig::read(&Json::null(), "buyer").unwrap(),
        provider: Arc::new(Buyer),
        source: Source::default(),
    });
    world
}

async fn answers(input: Value) -> Value {
    let world = world().await;
    world.register(flow(json!({"a": step("buyer")}))).await;
    let run = world.start("f", input).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    view.loaded.state.result.as_ref().unwrap().value()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_came_before_the_code_waits_is_given_once() {
    let two = answers(json!({"emits": [1, 2], "waits": 3})).await;
    assert_eq!(two, json!([1, 2, "AWAIT_TIMEOUT"]));
    for records in [true, false] {
        let emits =
            |lookback: &str| json!({"emits": [1], "lookback": lookback, "records": records});
        assert_eq!(answers(emits("none")).await, json!(["AWAIT_TIMEOUT"]));
        assert_eq!(answers(emits("run")).await, json!([1]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_step_of_the_run_consumed_is_not_given_to_the_next() {
    let world = world().await;
    let second = with(
        step("buyer"),
        json!({"input": {"type": "static", "value": {"waits": 2}}}),
    );
    let first = with(step("buyer"), json!({"transitions": {"onSuccess": "b"}}));
    world.register(flow(json!({"a": first, "b": second}))).await;
    let run = world.start("f", json!({"emits": [1, 2]})).await;
    let view = world.end(&run).await;
    let result = view.loaded.state.result.as_ref().unwrap();
    assert_eq!(result.value(), json!([2, "AWAIT_TIMEOUT"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_event_that_entered_a_step_is_not_what_it_waits_for() {
    let world = world().await;
    world.put(
        "ticks",
        Value::Null,
        script!(|call| {
            ask(&call, "emit", json!({"type": "paid", "data": {"waits": 1}})).await?;
            Ok(Value::Null)
        }),
    );
    let subscription = with(
        step("buyer"),
        json!({"subscriptions": [{"eventKind": "paid"}]}),
    );
    world
        .register(flow(json!({"a": step("ticks"), "b": subscription})))
        .await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let result = view.loaded.state.result.as_ref().unwrap();
    assert_eq!(result.value(), json!(["AWAIT_TIMEOUT"]));
}
