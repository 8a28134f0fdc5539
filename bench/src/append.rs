//! Events from outside, appended over HTTP and acknowledged when they are on disk.

use std::sync::Arc;

use serde_json::json;

use crate::{
    Bench, Result,
    flows::waiting,
    load::{self, Load},
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

const WRITERS: usize = 64;
/// A p99 is a handful of groups that met a slow sync, so it takes several rounds to know it.
const ROUNDS: usize = 5;
/// Streams that the writers take turns on.
const STREAMS: usize = 1_000;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    server.register(&waiting()).await?;
    let started = server.post("/api/flows/waiting/start", &json!({})).await?;
    let run = started["runId"].as_str().unwrap_or_default();
    let one: [Arc<str>; 1] = [format!("/api/events/flow/{run}").into()];
    let many: Vec<Arc<str>> = (0..STREAMS)
        .map(|n| format!("/api/events/bench/{n}").into())
        .collect();
    let count = 50_000 / bench.scale;
    events(&server, 1, 200, one.to_vec()).await?;

    let mut load = events(&server, 1, 2_000 / bench.scale, one.to_vec()).await?;
    let p50 = percentile(&mut load.samples, 0.5);
    report.judge(
        "one event alone, p50",
        p50,
        "ms",
        Target::Below(1.0, By::Sync),
    );
    for (name, paths) in [("one run's stream", one.to_vec()), ("1,000 streams", many)] {
        let mut p99s = Vec::new();
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            let mut load = events(&server, WRITERS, count, paths.clone()).await?;
            p99s.push(percentile(&mut load.samples, 0.99));
            rates.push(load.per_second);
        }
        let metric = format!("{WRITERS} writers to {name}");
        let target = Target::Below(10.0, By::Sync);
        let p99 = percentile(&mut p99s, 0.5);
        report.judge(format!("{metric}, p99"), p99, "ms", target);
        let worst = percentile(&mut p99s, 1.0);
        report.add(format!("{metric}, p99 of the worst round"), worst, "ms");
        report.add(metric, percentile(&mut rates, 0.5), "/s");
    }
    Ok(())
}

async fn events(
    server: &Server,
    writers: usize,
    count: usize,
    paths: Vec<Arc<str>>,
) -> Result<Load> {
    load::requests(server.address, writers, count, 201, move |n| {
        let path = paths[n % paths.len()].clone();
        let event = format!(r#"{{"type":"order.noted","data":{{"n":{n},"note":"a small one"}}}}"#);
        (path, event.into())
    })
    .await
}
