//! Flows through the library: no HTTP, the same store.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Options, Runtime, StartRequest};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::RunStatus;
use serde_json::{Value, json};

use crate::report::{Report, percentile};

/// Three steps that are executed in process and have no effects.
pub fn three_steps() -> Value {
    json!({
        "id": "three", "version": "1.0.0", "initialStepId": "first",
        "steps": {
            "first": {"type": "set", "config": {"value": {"ok": true}}, "outputKey": "first", "transitions": {"onSuccess": "second"}},
            "second": {"type": "transform", "config": {"transform": "input.ok"}, "input": {"type": "key", "key": "first"}, "outputKey": "second", "transitions": {"onSuccess": "third"}},
            "third": {"type": "set", "config": {"value": {"n": "${n}"}}, "outputKey": "third"},
        },
    })
}

pub async fn open(data: &Path) -> Runtime {
    let store = SqliteStore::open(riverrun_store_sqlite::Options::new(data)).expect("a store");
    let sandbox = Arc::new(Sandbox::new(Limits::default()).expect("a sandbox"));
    let handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    Runtime::open(store, sandbox, handlers, Options::default())
        .await
        .expect("a runtime")
}

pub async fn measure(report: &mut Report, data: &Path, scale: usize) {
    let folder = tempfile::tempdir_in(data).expect("a folder");
    let runtime = open(folder.path()).await;
    runtime.register(&three_steps()).await.expect("a flow");
    let count = 200_000 / scale;
    let begun = Instant::now();
    flows(&runtime, 256, count).await;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    report.add("library: three-step flows, 256 in flight", rate, "/s");

    let mut alone = Vec::new();
    for n in 0..2_000 / scale {
        let begun = Instant::now();
        flow(&runtime, n).await;
        alone.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    report.add(
        "library: one flow at a time, p50",
        percentile(&mut alone, 0.5),
        "ms",
    );
    runtime.shutdown().await.expect("a clean end");
    let bytes = std::fs::metadata(folder.path().join("riverrun.db")).map_or(0, |meta| meta.len());
    let per_flow = bytes as f64 / (count + 2_000 / scale) as f64;
    report.add(
        "library: bytes on disk a three-step flow",
        per_flow,
        "bytes",
    );
}

async fn flows(runtime: &Runtime, in_flight: usize, count: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let tasks = (0..in_flight).map(|_| {
        let (runtime, next) = (runtime.clone(), next.clone());
        tokio::spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return;
                }
                flow(&runtime, n).await;
            }
        })
    });
    futures::future::join_all(tasks.collect::<Vec<_>>()).await;
}

async fn flow(runtime: &Runtime, n: usize) {
    let started = runtime
        .start(StartRequest::new("three", json!({ "n": n })))
        .await;
    let status = started.map(|started| started.status);
    assert!(
        matches!(status, Ok(RunStatus::Completed)),
        "a flow did not complete"
    );
}
