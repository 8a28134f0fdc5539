//! Flows through the library: no HTTP, the same store.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use riverrun_runtime::{Runtime, StartRequest};
use riverrun_types::RunStatus;
use serde_json::json;

use crate::{
    Bench, Result,
    flows::{open, three_steps},
    report::{Report, percentile},
    target::{By, Target},
};

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    runtime.flows().register(&three_steps()).await?;
    let count = 200_000 / bench.scale;
    let begun = Instant::now();
    run(&runtime, count).await?;
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    let target = Target::AtLeast(14_000.0, By::Both);
    report.judge("three-step flows, 256 in flight", rate, "/s", target);

    let alone = 2_000 / bench.scale;
    let mut samples = Vec::with_capacity(alone);
    for n in 0..alone {
        let begun = Instant::now();
        flow(&runtime, n).await?;
        samples.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    report.add(
        "one flow at a time, p50",
        percentile(&mut samples, 0.5),
        "ms",
    );
    runtime.shutdown().await?;
    let bytes = bytes_in(folder.path())? as f64 / (count + alone) as f64;
    let target = Target::Below(1_200.0, By::Nothing);
    report.judge("on disk for a three-step flow", bytes, "bytes", target);
    Ok(())
}

/// Runs three-step flows to their end, 256 in flight.
pub async fn run(runtime: &Runtime, count: usize) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..256)
        .map(|_| tokio::spawn(run_some(runtime.clone(), next.clone(), count)))
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

async fn run_some(runtime: Runtime, next: Arc<AtomicUsize>, count: usize) -> Result<()> {
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if n >= count {
            return Ok(());
        }
        flow(&runtime, n).await?;
    }
}

async fn flow(runtime: &Runtime, n: usize) -> Result<()> {
    let request = StartRequest::new("three", json!({ "n": n }));
    match runtime.runs().start(request).await?.status {
        RunStatus::Completed => Ok(()),
        status => Err(format!("a flow is {status:?} and should be completed").into()),
    }
}

fn bytes_in(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
