//! Operations of code that fail are tried again by themselves, and only their final error counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Json, RunStatus};
use serde_json::{Value, json};

use super::{World, ask, awaits::suspend, flow, step, with};

/// Plays an SDK whose code charges, and then reserves, which is busy so many times.
struct Order {
    busy: u32,
    delay_ms: u64,
    reserved: AtomicU32,
    executions: AtomicU32,
}

#[async_trait]
impl Provider for Order {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        self.executions.fetch_add(1, Ordering::SeqCst);
        let journal = &call.invoke.job.journal;
        if !journal.iter().any(|entry| entry.name == "charge") {
            ask(&call, "memo", json!({"name": "charge", "value": 1})).await?;
        }
        if let Some(pending) = call.invoke.retries.first() {
            assert!(!pending.next.suspend, "its time has come");
        }
        let backoff = json!({"type": "fixed", "delayMs": self.delay_ms});
        let retry = json!({"attempts": 4, "backoff": backoff});
        loop {
            let tries = self.reserved.fetch_add(1, Ordering::SeqCst) + 1;
            if tries > self.busy {
                break;
            }
            let error = json!({"message": format!("busy {tries}"), "code": "BUSY"});
            let failed = json!({"name": "reserve", "error": error, "retry": retry});
            let next = ask(&call, "memo.failed", failed).await?;
            if next["final"] == true {
                let error = WorkError::new("BUSY", format!("busy {tries}"));
                return Err(error.permanent());
            }
            assert_eq!(next["attempt"], tries + 1);
            if next["suspend"] == true {
                return suspend(json!({"type": "retry"}));
            }
        }
        ask(&call, "memo", json!({"name": "reserve", "value": 2})).await?;
        Ok(Reply {
            value: Some(Json::of(&json!("shipped"))),
            ..Reply::default()
        })
    }
}

async fn order(busy: u32, delay_ms: u64) -> (World, Arc<Order>, riverrun_types::RunId) {
    let world = World::new().await;
    let order = Arc::new(Order {
        busy,
        delay_ms,
        reserved: AtomicU32::new(0),
        executions: AtomicU32::new(0),
    });
    world.runtime.queues().put_process(Process {
        id: "order".into(),
        config: ProcessConfig::read(&Json::null(), "order").unwrap(),
        provider: order.clone(),
        source: Source::default(),
    });
    let undone = with(step("order"), json!({"compensation": {"step": "undo"}}));
    let steps = json!({"order": undone, "undo": {"type": "set", "config": {"value": 1}}});
    world.register(flow(steps)).await;
    let run = world.start("f", json!({})).await;
    (world, order, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_operation_is_tried_again_in_the_same_attempt() {
    let (world, order, run) = order(3, 1).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    assert_eq!(order.executions.load(Ordering::SeqCst), 1);
    let events = world.events(&run).await;
    let retries = events
        .iter()
        .filter(|line| **line == "step.memo.retry order#1/1");
    assert_eq!(retries.count(), 3, "{events:#?}");
    assert!(!events.iter().any(|line| line.starts_with("step.retry")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_final_error_fails_the_step_once_and_for_good() {
    let (world, order, run) = order(9, 1).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Failed);
    let error = view.loaded.state.error.as_ref().unwrap();
    assert_eq!(error.code, "BUSY");
    assert_eq!(
        order.reserved.load(Ordering::SeqCst),
        4,
        "four tries in all"
    );
    assert_eq!(
        order.executions.load(Ordering::SeqCst),
        1,
        "no other attempt"
    );
    let events = world.events(&run).await;
    let failed = events.iter().filter(|line| line.starts_with("step.failed"));
    assert_eq!(failed.count(), 1, "{events:#?}");
    let memos = world.data(&run, "step.memo").await;
    let last = memos.last().unwrap();
    assert_eq!(
        (&last["name"], &last["error"]["retriable"]),
        (&json!("reserve"), &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_backoff_holds_no_worker_and_says_what_it_waits_for() {
    let (world, order, run) = order(2, 60_000).await;
    let waits = async {
        loop {
            let view = world.runtime.runs().run(&run).await.unwrap();
            if view.loaded.state.status == RunStatus::Waiting {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(super::LONG, waits).await.unwrap();
    let why = serde_json::to_value(world.runtime.reasons().why(&run).await.unwrap()).unwrap();
    let reason = &why["reasons"][0];
    assert_eq!(reason["kind"], "backoff", "{why}");
    let operation = json!({"op": "memo", "name": "reserve", "try": 1});
    assert_eq!(reason["operation"], operation, "{why}");
    assert_eq!(
        reason["error"],
        json!({"code": "BUSY", "message": "busy 1"})
    );
    assert!(
        reason["until"].is_string() && why["moving"] == false,
        "{why}"
    );
    let queue = world.runtime.queues().queue("order").await.unwrap();
    assert_eq!(queue.record.active, 0);
    assert_eq!(order.executions.load(Ordering::SeqCst), 1);
    let retries = world.data(&run, "step.await.time").await;
    assert_eq!(
        retries[0]["retryOf"],
        json!({"op": "memo", "name": "reserve"})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_is_none_is_refused() {
    let world = World::new().await;
    world.put(
        "odd",
        Value::Null,
        script!(|call| {
            for retry in [
                json!({"atempts": 2}),
                json!({"attempts": 0}),
                json!({"onFail": "drop"}),
            ] {
                let failed = json!({"name": "a", "error": {"message": "no"}, "retry": retry});
                let refused = ask(&call, "memo.failed", failed).await.unwrap_err();
                assert_eq!(refused.code, "INPUT_ERROR", "{retry}");
            }
            let failed = json!({"name": "a", "error": {"message": "no"}, "retry": false});
            ask(&call, "memo.failed", failed).await
        }),
    );
    world.register(flow(json!({"a": step("odd")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let result = view.loaded.state.result.as_ref().unwrap();
    assert_eq!(result.value(), json!({"final": true}));
}
