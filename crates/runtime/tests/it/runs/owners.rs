//! Whose a run is: leases that are lost and leases that are handed back.

use std::{sync::Arc, time::Duration};

use riverrun_runtime::{Options, StartRequest};
use riverrun_store::Store;
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::EventType;
use serde_json::json;

use super::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_lease_is_stopped_and_records_nothing() {
    let options = Options {
        lease: Duration::from_millis(300),
        ..Options::default()
    };
    let first = World::with(SqliteStore::memory().unwrap(), options).await;
    first
        .register("work", json!({"a": {"type": "stuck", "outputKey": "a"}}))
        .await;
    let run = first.start("work", json!({})).await.run;
    first.until(&run, EventType::StepStarted).await;
    // Another owner takes the store over: its `stuck` begins a second attempt.
    let second = World::on(first.store.clone()).await;
    second.until(&run, EventType::StepRetry).await;
    // The first one's handler is dropped as soon as its heartbeat is refused.
    first.called().await;
    second.runtime.runs().cancel(&run, None).await.unwrap();
    second.end(&run).await;
    let types = second.types(&run).await;
    assert_eq!(
        types,
        [
            "flow.started",
            "step.started",
            "step.retry",
            "step.started",
            "step.cancelled",
            "flow.cancelled"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_hands_its_leases_back() {
    let dir = tempfile::tempdir().unwrap();
    let open = || -> Arc<dyn Store> {
        SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap()
    };
    let first = World::on(open()).await;
    first
        .register("work", json!({"a": {"type": "stuck"}}))
        .await;
    let run = first.start("work", json!({})).await.run;
    first.until(&run, EventType::StepStarted).await;
    first.runtime.shutdown().await.unwrap();
    assert_eq!(
        first
            .runtime
            .runs()
            .start(StartRequest::new("work", json!({})))
            .await
            .err()
            .unwrap()
            .code(),
        "SHUTTING_DOWN"
    );
    drop(first);
    let store = open();
    let record = store.run(&run).await.unwrap().unwrap();
    assert!(!record.status.is_ended());
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (stats.leased, stats.ready),
        (0, 1),
        "the lease was handed back"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_with_nothing_to_do_waits_for_nothing() {
    let world = World::new().await;
    let shutdown = tokio::time::timeout(Duration::from_secs(5), world.runtime.shutdown());
    shutdown.await.expect("it waits for something").unwrap();
}
