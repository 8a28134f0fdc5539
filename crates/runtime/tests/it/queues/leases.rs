//! Jobs whose holder is gone, slow or asked to stop.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, JobRequest, Process, ProcessConfig, Provider, Source};
use riverrun_store::{
    ClaimJobs, Commit, GroupId, JobRecord, JobState, Settle, Settled, Steer, Store,
};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, StreamName};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{LONG, World, code, script::value};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_worker_died_is_tried_again_and_loses_no_attempt() {
    let store = SqliteStore::memory().unwrap();
    let first = World::on(store.clone(), json!({})).await;
    let again = first
        .add(json!({"data": {"do": "hang"}, "options": {"attempts": 1}}))
        .await;
    first.until(&again, &[JobState::Active]).await;
    // Another owner takes the store over: what the first one held has run out.
    let second = World::on(store, json!({})).await;
    let attempt = async {
        let mut tail = second.runtime.streams().tail(StreamName::job(&again), 0);
        loop {
            let record = second.runtime.queues().job(&again).await.unwrap();
            if (record.state, record.attempt) == (JobState::Active, 2) {
                return;
            }
            tail.next().await.unwrap();
        }
    };
    tokio::time::timeout(LONG, attempt).await.unwrap();
    let stats = second.runtime.queues().queue("work").await.unwrap().stats;
    assert_eq!((stats.failed, stats.retried), (0, 0));
    // The first one cannot record anything any more; it gets an error and gives up.
    second
        .runtime
        .queues()
        .steer(&again, Steer::Cancel { reason: None })
        .await
        .unwrap();
    assert_eq!(second.end(&again).await.state, JobState::Cancelled);
}

/// Asks whether its lease holds when it is let, and once more when it is asked to stop.
struct Doubting {
    gate: Arc<Notify>,
    said: tokio::sync::mpsc::UnboundedSender<Value>,
    has_begun: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Provider for Doubting {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        if self.has_begun.swap(true, Ordering::SeqCst) {
            return value(json!("the second one"));
        }
        let ask = async || {
            let asked = invocation.host.ask("lease", Json::of(&json!({}))).await;
            asked.unwrap().value()["valid"].clone()
        };
        for _ in 0..2 {
            self.gate.notified().await;
            self.said.send(ask().await).unwrap();
        }
        let reason = invocation.cancel.cancelled().await;
        self.said.send(json!(format!("{reason:?}"))).unwrap();
        self.said.send(ask().await).unwrap();
        value(json!("the first one"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_a_job_is_notified() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let gate = Arc::new(Notify::new());
    let (said, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    world.runtime.queues().put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::null(), "work").ok().unwrap(),
        provider: Arc::new(Doubting {
            gate: gate.clone(),
            said,
            has_begun: Default::default(),
        }),
        source: Source::default(),
    });
    let job = world.add(json!({})).await;
    let mut next_said = async || tokio::time::timeout(LONG, receiver.recv()).await.unwrap();
    gate.notify_one();
    assert_eq!(next_said().await, Some(json!(true)));
    // It is taken away, and its lease is left.
    world.runtime.queues().pause("work", true).await.unwrap();
    let held = world.store.stalled_jobs(i64::MAX, 1).await.unwrap();
    let taken = Settle::new(&held.0[0].job.lease, Settled::Released, 0);
    let taken = world
        .store
        .commit(GroupId::first(), [Commit::of(taken.into())].into())
        .await;
    assert!(taken.iter().all(Result::is_ok));
    gate.notify_one();
    assert_eq!(next_said().await, Some(json!(false)));
    // Somebody takes it up again: here, where the first one still runs.
    world.runtime.queues().pause("work", false).await.unwrap();
    assert_eq!(next_said().await, Some(json!("LeaseLost")));
    assert_eq!(next_said().await, Some(json!(false)));
    let record = world.end(&job).await;
    assert_eq!(record.result.unwrap().value(), json!("the second one"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_here_has_not_stalled_however_late_its_lease_is_renewed() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    world.put("work", json!({"retryPolicy": {"attempts": 1}}));
    world.runtime.queues().pause("work", true).await.unwrap();
    let job = world.add(json!({"data": {"do": "hang"}})).await;
    world.runtime.queues().pause("work", false).await.unwrap();
    world.until(&job, &[JobState::Active]).await;
    // Of a queue that nobody here knows yet, held by somebody who is gone.
    let requests: Vec<JobRequest> = serde_json::from_value(json!([{"data": {}}])).unwrap();
    let gone = world
        .runtime
        .queues()
        .enqueue("other", requests, true)
        .await
        .unwrap();
    let claim = ClaimJobs {
        queue: "other".into(),
        owner: "gone".into(),
        limit: 1,
        now_ms: 1,
        until_ms: 2,
        limits: Default::default(),
    };
    world.store.claim_jobs(claim).await.unwrap();
    // The machine has slept: by now every lease has run out.
    world.store.reclaim().await.unwrap();
    world.put("other", Value::Null);
    assert_eq!(world.end(&gone[0].id).await.attempt, 2);
    let record = world.runtime.queues().job(&job).await.unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Active, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_job_waits_for_its_process_which_may_come_later() {
    let lease = Duration::from_secs(30);
    let store = SqliteStore::memory().unwrap();
    let first = World::bare(store.clone(), lease).await;
    let once = json!({"retryPolicy": {"attempts": 1}, "dlq": {"queue": "dead"}});
    first.put("work", once.clone());
    let hang = json!([{"data": {"do": "hang"}}]);
    let work = first.add_to("work", hang).await.remove(0);
    first.until(&work, &[JobState::Active]).await;
    // A server starts anew, and its processes are loaded later.
    let second = World::bare(store, lease).await;
    let record = second.until(&work, &[JobState::Waiting]).await;
    assert_eq!(record.attempt, 1);
    assert_eq!(code(&record), "WORKER_LOST");
    second.put("work", once);
    let record = second.until(&work, &[JobState::Active]).await;
    assert_eq!(record.attempt, 2);
}

/// Takes the next job of a queue in the name of a worker that is gone for good.
async fn lose_one(world: &World, job: &RunId) -> JobRecord {
    let claim = ClaimJobs {
        queue: "work".into(),
        owner: "gone".into(),
        limit: 1,
        now_ms: 1,
        until_ms: 2,
        limits: Default::default(),
    };
    let claimed = world.store.claim_jobs(claim).await.unwrap();
    assert_eq!(claimed.jobs.len(), 1);
    world
        .until(job, &[JobState::Waiting, JobState::Parked])
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_was_lost_ten_times_in_a_row_is_parked_until_it_is_released() {
    let lease = Duration::from_millis(60);
    let world = World::bare(SqliteStore::memory().unwrap(), lease).await;
    let requests: Vec<JobRequest> =
        serde_json::from_value(json!([{"data": {"do": "input"}, "options": {"attempts": 1}}]))
            .unwrap();
    let added = world.runtime.queues().enqueue("work", requests, true).await;
    let job = added.unwrap().remove(0).id;
    for _ in 1..10 {
        let record = lose_one(&world, &job).await;
        assert_eq!(record.state, JobState::Waiting);
        assert_eq!(code(&record), "WORKER_LOST");
    }
    let record = lose_one(&world, &job).await;
    assert_eq!((record.state, record.attempt), (JobState::Parked, 10));
    assert_eq!(code(&record), "JOB_QUARANTINED");
    let queue = world.runtime.queues().queue("work").await.unwrap().record;
    assert_eq!((queue.parked, queue.waiting, queue.failed), (1, 0, 0));
    let why = serde_json::to_value(world.runtime.reasons().why(&job).await.unwrap()).unwrap();
    let reason = &why["reasons"][0];
    assert_eq!(
        (&reason["kind"], &reason["code"]),
        (&"parked".into(), &"JOB_QUARANTINED".into())
    );
    assert_eq!(reason["release"], format!("riverrun jobs retry {job}"));
    world.put("work", Value::Null);
    let steer = Steer::Retry { at_ms: 0 };
    world.runtime.queues().steer(&job, steer).await.unwrap();
    let record = world.end(&job).await;
    assert_eq!((record.state, record.attempt), (JobState::Completed, 11));
    assert_eq!(record.error, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_hands_back_what_it_cannot_finish() {
    let dir = tempfile::tempdir().unwrap();
    let open = || -> Arc<dyn Store> {
        SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap()
    };
    let world = World::on(open(), json!({})).await;
    let hangs = world.add(json!({"data": {"do": "hang"}})).await;
    let ends = world.add(json!({"data": {"do": "slow", "ms": 30}})).await;
    world.until(&hangs, &[JobState::Active]).await;
    world
        .until(&ends, &[JobState::Active, JobState::Completed])
        .await;
    world.runtime.shutdown().await.unwrap();
    drop(world);
    let store = open();
    let record = store.job(&hangs).await.unwrap().unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Waiting, 0));
    let record = store.job(&ends).await.unwrap().unwrap();
    assert_eq!(record.state, JobState::Completed);
}

/// A handler whose worker is gone: that is known only after its time is over.
struct Gone;

#[async_trait]
impl Provider for Gone {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        if invocation.invoke.job.attempt > 1 {
            return Ok(Reply::default());
        }
        invocation.cancel.cancelled().await;
        Err(WorkError::new("WORKER_LOST", "it did not come back"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_lost_is_no_timeout() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let config = json!({"retryPolicy": {"attempts": 1}, "timeoutMs": 20});
    let config = ProcessConfig::read(&Json::of(&config), "work");
    world.runtime.queues().put_process(Process {
        id: "work".into(),
        config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
        provider: Arc::new(Gone),
        source: Source::default(),
    });
    let job = world.add(json!({"data": 1})).await;
    let record = world.end(&job).await;
    assert_eq!((record.state, record.attempt), (JobState::Completed, 2));
    let stream = StreamName::job(&job);
    let query = riverrun_store::EventQuery::forward(0, 100);
    let events = world.store.events(&stream, &query).await.unwrap();
    let waits = events
        .iter()
        .find(|event| event.kind.as_str() == "job.waiting");
    let waits = waits.unwrap().data.as_ref().unwrap().value();
    assert_eq!(
        (&waits["reason"], &waits["error"]["code"]),
        (&"stalled".into(), &"WORKER_LOST".into())
    );
}
