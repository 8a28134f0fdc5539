//! Code that waits again and again: how often it may fail between, and how often it may wait.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Json, RunStatus};
use serde_json::{Value, json};

use super::{World, awaits::suspend, flow, step, with};

/// Waits so many times, and fails once before each wait and before its end.
#[derive(Default)]
struct Polling {
    waits: usize,
    failed: Mutex<HashSet<usize>>,
    /// The number of each attempt, and that of the last that there would be.
    numbers: Mutex<Vec<(u32, u32)>>,
}

#[async_trait]
impl Provider for Polling {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let job = &call.invoke.job;
        self.numbers.lock().push((job.attempt, job.max_attempts));
        let round = job.journal.iter().filter(|it| it.op == "await").count();
        if self.failed.lock().insert(round) {
            return Err(WorkError::new("NETWORK", "not now"));
        }
        match round < self.waits {
            true => suspend(json!({"type": "time", "afterMs": 1})),
            false => Ok(Reply::default()),
        }
    }
}

fn put(world: &World, config: Value, provider: Arc<dyn Provider>) {
    world.runtime.queues().put_process(Process {
        id: "poll".into(),
        config: ProcessConfig::read(&Json::of(&config), "poll")
            .ok()
            .unwrap(),
        provider,
        source: Source::default(),
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_has_its_attempts_anew_after_each_wait() {
    let world = World::new().await;
    let polling = Arc::new(Polling {
        waits: 3,
        ..Polling::default()
    });
    let retry = json!({"retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}}});
    put(&world, retry, polling.clone());
    world.register(flow(json!({"a": step("poll")}))).await;
    let run = world.start("f", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.status, RunStatus::Completed, "{:?}", state.error);
    let numbers = polling.numbers.lock().clone();
    // An execution after a wait has the number of the one before it.
    let expected = [1, 2, 2, 3, 3, 4, 4, 5].into_iter();
    let expected: Vec<(u32, u32)> = expected.zip([2, 2, 3, 3, 4, 4, 5, 5]).collect();
    assert_eq!(numbers, expected);
}

/// Never ends: each of its waits is over at once.
struct Restless;

#[async_trait]
impl Provider for Restless {
    async fn invoke(&self, _: Invocation) -> Result<Reply, WorkError> {
        suspend(json!({"type": "time", "afterMs": 0}))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_feeds_itself_meets_the_limit_of_awaits() {
    let world = World::new().await;
    put(&world, Value::Null, Arc::new(Restless));
    let limits = json!({"limits": {"maxAwaits": 20}});
    world
        .register(with(flow(json!({"a": step("poll")})), limits))
        .await;
    let run = world.start("f", json!({})).await;
    let error = world.end(&run).await.loaded.state.error.clone().unwrap();
    assert_eq!(error.code, "MAX_AWAITS");
    assert!(error.message.contains("ctx.start"), "{}", error.message);
    let events = world.events(&run).await;
    let resumed = events.iter().filter(|it| it.starts_with("step.resumed"));
    assert_eq!(resumed.count(), 20);
}
