//! Runs whose stored events are damaged.

use std::time::Duration;

use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{EventType, RunStatus};
use serde_json::json;

use super::{LONG, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_run_is_parked_and_can_be_removed_while_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap();
    let first = World::on(open()).await;
    first
        .register("work", json!({"a": {"type": "stuck"}}))
        .await;
    let damaged = first.start("work", json!({"text": "a needle"})).await.run;
    let whole = first.start("work", json!({"text": "some hay"})).await.run;
    for run in [&damaged, &whole] {
        first.until(run, EventType::StepStarted).await;
    }
    first.runtime.shutdown().await.unwrap();
    drop(first);
    // One bit of the run's first event.
    let file = dir.path().join("riverrun.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<usize> = bytes
        .windows(8)
        .enumerate()
        .filter(|(_, window)| window == b"a needle")
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] ^= 0x02;
    }
    std::fs::write(&file, bytes).unwrap();

    let second = World::on(open()).await;
    second.until(&whole, EventType::StepRetry).await;
    let parked = async {
        loop {
            let record = second.store.run(&damaged).await.unwrap().unwrap();
            if record.error.is_some() {
                return record;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let record = tokio::time::timeout(LONG, parked).await.unwrap();
    assert_eq!(record.status, RunStatus::Waiting);
    assert_eq!(record.error.unwrap().value()["code"], "STORE_CORRUPT");
    let why = second.runtime.reasons().why(&damaged).await.unwrap();
    assert!(!why.moving);
    assert!(why.summary.contains("checksum"), "{}", why.summary);
    let error = second.runtime.runs().load(&damaged).await.err().unwrap();
    assert_eq!(error.code(), "STORE_CORRUPT");
    let cancelled = second.runtime.runs().cancel(&damaged, None).await.unwrap();
    assert_eq!(cancelled.status, RunStatus::Cancelled);
    second.runtime.runs().delete(&damaged).await.unwrap();
    assert!(second.store.run(&damaged).await.unwrap().is_none());
    second.runtime.runs().cancel(&whole, None).await.unwrap();
    second.end(&whole).await;
}
