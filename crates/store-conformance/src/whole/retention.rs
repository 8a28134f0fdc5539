//! Retention: expired data is deleted.

use riverrun_store::{NewRun, Retention, RunFilter};
use riverrun_types::{Millis, RunStatus};

use crate::given::*;

fn ended_at(name: &str, status: RunStatus, ms: Millis) -> NewRun {
    NewRun {
        projection: ended(status, ms),
        tags: names(["t"]),
        ..finished(name)
    }
}

const KEEP: Retention = Retention {
    completed_ms: Some(100),
    failed_ms: Some(1_000),
    cancelled_ms: None,
    emits_ms: None,
};

async fn left(store: &S) -> Vec<String> {
    let mut left = ids(store, RunFilter::default()).await;
    left.sort();
    left
}

pub async fn what_is_over_is_swept(store: S) {
    use RunStatus::*;
    create(&store, ended_at("c-new", Completed, T0 + 500)).await;
    create(&store, ended_at("c-old", Completed, T0)).await;
    create(&store, ended_at("f-new", Failed, T0)).await;
    create(&store, ended_at("f-old", Failed, T0 - 900)).await;
    assert_eq!(must(store.sweep(&KEEP, T0 + 99, 10).await), 0);
    assert_eq!(must(store.sweep(&KEEP, T0 + 100, 10).await), 2);
    assert_eq!(left(&store).await, ["c-new", "f-new"]);
    assert!(stream_of(&store, "c-old").await.is_empty());
    let tagged = RunFilter {
        tags: vec!["t".into()],
        ..RunFilter::default()
    };
    assert_eq!(ids(&store, tagged).await.len(), 2);
    assert_eq!(must(store.sweep(&KEEP, T0 + 100, 10).await), 0);
}

pub async fn none_keeps_for_ever(store: S) {
    create(&store, ended_at("r1", RunStatus::Cancelled, T0)).await;
    assert_eq!(must(store.sweep(&KEEP, i64::MAX, 10).await), 0);
    let all = Retention {
        cancelled_ms: Some(0),
        ..KEEP
    };
    assert_eq!(must(store.sweep(&all, T0, 10).await), 1);
}

pub async fn a_sweep_is_bounded(store: S) {
    for at in 0..7 {
        let status = [RunStatus::Completed, RunStatus::Failed][at % 2];
        create(&store, ended_at(&format!("r{at}"), status, T0)).await;
    }
    let mut swept = Vec::new();
    for _ in 0..4 {
        swept.push(must(store.sweep(&KEEP, T0 + 9_000, 3).await));
    }
    assert_eq!(swept, [3, 3, 1, 0]);
    assert!(left(&store).await.is_empty());
}

pub async fn what_has_not_ended_is_never_swept(store: S) {
    create(&store, run("r1")).await;
    let keep = Retention {
        completed_ms: Some(0),
        failed_ms: Some(0),
        cancelled_ms: Some(0),
        emits_ms: None,
    };
    assert_eq!(must(store.sweep(&keep, i64::MAX, 10).await), 0);
    assert_eq!(left(&store).await, ["r1"]);
    must(decide(&store, finish("r1")).await);
    assert_eq!(must(store.sweep(&keep, T0 + 1, 10).await), 1);
}
