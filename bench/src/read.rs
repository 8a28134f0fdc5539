//! Pages of events out of the store.

use std::time::Instant;

use riverrun_store::EventQuery;
use riverrun_types::{Json, StreamName};
use serde_json::json;

use crate::{
    Bench, Result,
    flows::open,
    report::{Report, percentile},
    target::{By, Target},
};

const STREAMS: usize = 100;
const PAGE: usize = 100;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    let pages = 20 / bench.scale.min(4);
    let streams: Vec<_> = (0..STREAMS)
        .map(|n| StreamName::new("bench", &n.to_string()))
        .collect();
    for page in 0..pages {
        // Streams grow in turns, so that none lies in one piece.
        for stream in &streams {
            let event = |n| json!({"type": "order.noted", "data": {"n": page * PAGE + n, "note": "a small one"}});
            let events: Vec<Json> = (0..PAGE).map(|n| event(n).into()).collect();
            runtime.events().append(stream, &events).await?;
        }
    }
    let reads = 10_000 / bench.scale;
    let mut samples = Vec::with_capacity(reads);
    for n in 0..reads {
        let stream = &streams[n * 37 % STREAMS];
        let from = n * 71 % ((pages - 1) * PAGE);
        let query = EventQuery::forward(from as u64, PAGE);
        let begun = Instant::now();
        let events = runtime.base().store().events(stream, &query).await?;
        samples.push(begun.elapsed().as_secs_f64() * 1e3);
        if events.len() != PAGE {
            return Err(format!("{} events came, not {PAGE}", events.len()).into());
        }
    }
    report.add("events in the store", (pages * PAGE * STREAMS) as f64, "");
    report.add("100 events, p50", percentile(&mut samples, 0.5), "ms");
    let p99 = percentile(&mut samples, 0.99);
    report.judge("100 events, p99", p99, "ms", Target::Below(1.0, By::Cpu));
    runtime.shutdown().await?;
    Ok(())
}
