//! Flows started over HTTP, each request answered with the run at its recorded end.

use std::sync::Arc;

use crate::{
    Bench, Result,
    flows::three_steps,
    load,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    server.register(&three_steps()).await?;
    // Connections of the store, caches and the allocator are warm afterwards.
    flows(&server, 256, 2_000, true).await?;

    let count = 100_000 / bench.scale;
    let cpu_ms = server.cpu_ms();
    let mut load = flows(&server, 256, count, true).await?;
    let cpu_us = (server.cpu_ms() - cpu_ms) * 1e3 / count as f64;
    let target = Target::AtLeast(8_000.0, By::Both);
    report.judge(
        "three-step flows to their end, 256 in flight",
        load.per_second,
        "/s",
        target,
    );
    report.add("… p50", percentile(&mut load.samples, 0.5), "ms");
    report.add("… p99", percentile(&mut load.samples, 0.99), "ms");
    report.add("… CPU of the server a flow", cpu_us, "µs");

    let load = flows(&server, 256, count, false).await?;
    report.add("the same without ?wait", load.per_second, "/s");

    let mut load = flows(&server, 1, 2_000 / bench.scale, true).await?;
    let target = Target::Below(2.0, By::Sync);
    report.judge(
        "one flow at a time, p50",
        percentile(&mut load.samples, 0.5),
        "ms",
        target,
    );
    report.add(
        "one flow at a time, p99",
        percentile(&mut load.samples, 0.99),
        "ms",
    );
    Ok(())
}

/// Starts three-step flows; with `wait` the answer is the run, and it must have ended.
pub async fn flows(
    server: &Server,
    in_flight: usize,
    count: usize,
    wait: bool,
) -> Result<load::Load> {
    let (path, status): (Arc<str>, u16) = match wait {
        true => ("/api/flows/three/start?wait=10000".into(), 200),
        false => ("/api/flows/three/start".into(), 201),
    };
    load::requests(server.address, in_flight, count, status, move |n| {
        (path.clone(), format!(r#"{{"input":{{"n":{n}}}}}"#).into())
    })
    .await
}
