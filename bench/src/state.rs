//! The state of runs through the library: cached, and from a runtime that has just begun.

use std::{path::Path, time::Instant};

use riverrun_runtime::{At, Runtime, StartRequest};
use riverrun_types::{EventId, Json, RunId, StreamName};
use serde_json::json;

use crate::{
    Bench, Result,
    flows::{open, turning, waiting},
    report::{Report, percentile},
    target::{By, Target},
};

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    let short = turned(&runtime, 10_000).await?;
    let long = turned(&runtime, 100_000 / bench.scale).await?;
    let written = written(&runtime, 10_000 / bench.scale).await?;

    let reads = 20_000 / bench.scale;
    let mut samples = Vec::with_capacity(reads);
    runtime.runs().state_at(&short, At::Now).await?;
    for _ in 0..reads {
        let begun = Instant::now();
        runtime.runs().state_at(&short, At::Now).await?;
        samples.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let target = Target::Below(0.1, By::Cpu);
    report.judge(
        "of a cached run, p50",
        percentile(&mut samples, 0.5),
        "ms",
        target,
    );
    report.add("of a cached run, p99", percentile(&mut samples, 0.99), "ms");
    let half = middle(&runtime, &long).await?;
    runtime.shutdown().await?;

    let target = Target::Below(10.0, By::Cpu);
    let ms = cold(folder.path(), &short, At::Now).await?;
    report.judge("of a cold run of 10,000 events, p50", ms, "ms", target);
    let ms = cold(folder.path(), &long, At::Now).await?;
    report.judge("of a cold run of 100,000 events, p50", ms, "ms", target);
    let ms = cold(folder.path(), &long, At::Event(half)).await?;
    report.add("of the same run in its middle, p50", ms, "ms");
    let ms = cold(folder.path(), &written, At::Now).await?;
    report.add(
        "of a cold run with 10,000 state writes from outside, p50",
        ms,
        "ms",
    );
    Ok(())
}

/// A run of so many events that the engine made.
async fn turned(runtime: &Runtime, events: usize) -> Result<RunId> {
    let id = format!("turning-{events}");
    runtime.flows().register(&turning(&id, events)).await?;
    let run = runtime
        .runs()
        .start(StartRequest::new(id, json!({})))
        .await?
        .run;
    let view = runtime
        .runs()
        .wait(&run, std::time::Duration::from_secs(120))
        .await?;
    match view.state().len as usize {
        len if len >= events => Ok(run),
        len => Err(format!("the run has {len} events, not {events}").into()),
    }
}

/// A run that waits and whose state others write to.
async fn written(runtime: &Runtime, events: usize) -> Result<RunId> {
    runtime.flows().register(&waiting()).await?;
    let run = runtime
        .runs()
        .start(StartRequest::new("waiting", json!({})))
        .await?
        .run;
    let stream = StreamName::flow(&run);
    for at in (0..events).step_by(100) {
        let write = |n| json!({"type": "state.set", "data": {"key": format!("k{}", n % 50), "value": at + n}});
        let events: Vec<Json> = (0..100).map(|n| write(n).into()).collect();
        runtime.events().append(&stream, &events).await?;
    }
    Ok(run)
}

/// The event in the middle of a run.
async fn middle(runtime: &Runtime, run: &RunId) -> Result<EventId> {
    let len = runtime.runs().state_at(run, At::Now).await?.len;
    let query = riverrun_store::EventQuery::forward(len / 2, 1);
    let events = runtime
        .base()
        .store()
        .events(&StreamName::flow(run), &query)
        .await?;
    Ok(events.first().ok_or("the run has no middle")?.id)
}

/// How long the first question to a new runtime on the same data takes, the median of 21.
async fn cold(data: &Path, run: &RunId, at: At) -> Result<f64> {
    let mut samples = Vec::new();
    for _ in 0..21 {
        let runtime = open(data).await?;
        let begun = Instant::now();
        runtime.runs().state_at(run, at).await?;
        samples.push(begun.elapsed().as_secs_f64() * 1e3);
        runtime.shutdown().await?;
    }
    Ok(percentile(&mut samples, 0.5))
}
