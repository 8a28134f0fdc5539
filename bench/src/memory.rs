//! Memory over a long load.

use crate::{
    Bench, Result,
    flows::three_steps,
    http,
    report::Report,
    server::Server,
    target::{By, Target},
};

/// How much larger than half way the server may be at the end. Before that the page cache of the
/// store (64 MB) still fills: 100,000 flows have only 52 MB of data.
const FLAT: f64 = 1.05;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    server.register(&three_steps()).await?;
    let mut done = 0;
    let mut half_way = None;
    for flows in [100_000, 500_000, 1_000_000].map(|flows| flows / bench.scale) {
        let load = http::flows(&server, 256, flows - done, false).await?;
        done = flows;
        let memory = server.resident_mb();
        let metric = format!("after {flows} flows");
        match half_way {
            Some(half_way) => {
                let target = Target::Below(half_way * FLAT, By::Nothing);
                report.judge(metric, memory, "MB", target);
            }
            None => report.add(metric, memory, "MB"),
        }
        if flows == 500_000 / bench.scale {
            half_way = Some(memory);
        }
        report.add(format!("flows until {flows}"), load.per_second, "/s");
    }
    Ok(())
}
