//! Handlers that get many jobs at a time.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Runtime, Source};
use riverrun_store::{JobState, Steer};
use riverrun_store_conformance::through::{Between, Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{LONG, World, code, quick, script::reply};

/// A batch that goes on when it is let.
struct Gated {
    began: Arc<Notify>,
    gate: Arc<Notify>,
}

#[async_trait]
impl Provider for Gated {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        self.began.notify_one();
        tokio::select! {
            () = self.gate.notified() => Ok(reply(Json::of(&"done"))),
            reason = invocation.cancel.cancelled() => {
                Err(WorkError::new("CANCELLED", format!("{reason:?}")))
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_job_of_a_batch_is_cancelled_and_the_others_go_on() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let (began, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let config = json!({"batch": {"size": 2, "waitMs": 10_000}, "retryPolicy": {"attempts": 1}});
    world.runtime.queues().put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Gated {
            began: began.clone(),
            gate: gate.clone(),
        }),
        source: Source::default(),
    });
    let cancel = |reason: &str| Steer::Cancel {
        reason: Some(reason.to_owned()),
    };
    let jobs = world.add_all(json!([{"data": 1}, {"data": 2}])).await;
    tokio::time::timeout(LONG, began.notified()).await.unwrap();
    let steered = world
        .runtime
        .queues()
        .steer(&jobs[0], cancel("not this one"))
        .await;
    steered.unwrap();
    gate.notify_one();
    let ends = [world.end(&jobs[0]).await, world.end(&jobs[1]).await];
    let states = ends.each_ref().map(|end| end.state);
    assert_eq!(states, [JobState::Cancelled, JobState::Completed]);
    let error = ends[0].error.as_ref().unwrap().value();
    assert_eq!(
        error,
        json!({"code": "CANCELLED", "message": "not this one"})
    );
    // Once none of them is wanted, the handler is asked to stop.
    let jobs = world.add_all(json!([{"data": 1}, {"data": 2}])).await;
    tokio::time::timeout(LONG, began.notified()).await.unwrap();
    for job in &jobs {
        world
            .runtime
            .queues()
            .steer(job, cancel("none"))
            .await
            .unwrap();
    }
    for job in &jobs {
        assert_eq!(world.end(job).await.state, JobState::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_one_invocation_with_a_result_for_each() {
    let world = World::new(json!({
        "batch": {"size": 4, "waitMs": 40}, "retryPolicy": {"attempts": 1},
    }))
    .await;
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 13}, {"data": 3}, {"data": 4}, {"data": 5}]))
        .await;
    let mut ends = Vec::new();
    for job in &jobs {
        ends.push(world.end(job).await);
    }
    let results: Vec<Option<Value>> = ends
        .iter()
        .map(|end| end.result.as_ref().map(Json::value))
        .collect();
    let four = Some(json!(4));
    assert_eq!(
        results,
        [four.clone(), None, four.clone(), four, Some(json!(1))]
    );
    assert_eq!(code(&ends[1]), "UNLUCKY");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_filled_however_few_jobs_may_run_at_once() {
    let world = World::new(json!({"concurrency": 1, "batch": {"size": 3, "waitMs": 10_000}})).await;
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 2}, {"data": 3}]))
        .await;
    for job in &jobs {
        let result = world.end(job).await.result.unwrap();
        assert_eq!(result.value(), json!(3), "jobs in the batch");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_batch_is_cut_while_enough_jobs_wait() {
    for config in [
        json!({"batch": {"size": 10, "waitMs": 1_000}}),
        json!({"batch": {"size": 10, "waitMs": 1_000}, "concurrency": 25}),
        json!({"batch": {"size": 10}, "concurrency": 25}),
    ] {
        let world = World::new(config).await;
        let jobs: Vec<Value> = (20..220).map(|data| json!({ "data": data })).collect();
        for job in world.add_all(json!(jobs)).await {
            let result = world.end(&job).await.result.unwrap();
            assert_eq!(result.value(), json!(10), "jobs in the batch");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_job_of_a_batch_takes_longer_than_it_may() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let config = json!({"batch": {"size": 2, "waitMs": 10_000}, "retryPolicy": {"attempts": 1}});
    world.runtime.queues().put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Gated {
            began: Arc::default(),
            gate: Arc::default(),
        }),
        source: Source::default(),
    });
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 2, "options": {"timeoutMs": 20}}]))
        .await;
    for job in &jobs {
        assert_eq!(code(&world.end(job).await), "TIMEOUT");
    }
}

/// Claims a job again before its first attempt learns that its failure is stored.
#[derive(Default)]
struct Eager {
    runtime: OnceLock<Runtime>,
    /// The jobs are stored, and the caller has the answer.
    added: Notify,
    /// What is written next is the failure of the first job.
    is_next: AtomicBool,
    again: Notify,
}

#[async_trait]
impl Between for Eager {
    async fn written(&self) {
        if self.is_next.swap(false, Ordering::SeqCst) {
            self.runtime.get().unwrap().base().hub().work_in("work");
            let again = tokio::time::timeout(LONG, self.again.notified()).await;
            again.expect("the job is not taken up again");
        }
    }
}

/// Fails, whatever it is given.
struct Failing(Arc<Eager>);

#[async_trait]
impl Provider for Failing {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        match invocation.invoke.jobs.len() {
            2 => {
                self.0.added.notified().await;
                self.0.is_next.store(true, Ordering::SeqCst);
            }
            _ => self.0.again.notify_one(),
        }
        Err(WorkError::new("BROKEN", "as always"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_tried_again_at_once_costs_the_others_of_its_batch_nothing() {
    let eager = Arc::new(Eager::default());
    let store = Through::new(SqliteStore::memory().unwrap(), eager.clone());
    let world = World::bare(store, 10 * LONG).await;
    assert!(eager.runtime.set(world.runtime.clone()).is_ok());
    let config = json!({
        "batch": {"size": 2}, "concurrency": 4,
        "retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 0}},
    });
    world.runtime.queues().put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Failing(eager.clone())),
        source: Source::default(),
    });
    let jobs = world.add_all(json!([{}, {}])).await;
    eager.added.notify_one();
    for job in jobs {
        let record = world.end(&job).await;
        assert_eq!((record.state, record.attempt), (JobState::Failed, 2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_job_of_a_batch_has_a_voice_of_its_own() {
    let world = World::new(json!({
        "batch": {"size": 2, "waitMs": 1_000}, "retryPolicy": quick(2),
    }))
    .await;
    let jobs = world
        .add_all(json!([{"data": {"say": "one"}}, {"data": {"say": "two"}}]))
        .await;
    for (job, say) in jobs.iter().zip(["one", "two"]) {
        let end = world.end(job).await;
        let memo = json!({"op": "memo", "name": "said", "value": say});
        assert_eq!(
            end.result.unwrap().value(),
            json!({"checkpoint": say, "journal": [memo]})
        );
        assert_eq!(
            end.progress.unwrap().value(),
            json!({"pct": 5.0, "detail": say})
        );
        let mut kinds = world.events("job", job).await;
        kinds.sort();
        assert_eq!(
            kinds,
            [
                "job.active",
                "job.active",
                "job.added",
                "job.completed",
                "job.progress",
                "job.waiting",
                "state.set",
                "step.memo"
            ]
        );
    }
}
