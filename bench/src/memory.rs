//! Memory over a long load.

use crate::{
    Bench, Result,
    flows::three_steps,
    http,
    report::Report,
    server::Server,
    target::{By, Target},
};

/// How much larger than after the first tenth the server may be at the end.
const FLAT: f64 = 1.1;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    server.register(&three_steps()).await?;
    let mut first = None;
    let mut done = 0;
    for flows in [100_000, 500_000, 1_000_000].map(|flows| flows / bench.scale) {
        let load = http::flows(&server, 256, flows - done, false).await?;
        done = flows;
        let memory = server.resident_mb();
        let metric = format!("after {flows} flows");
        match first {
            None => report.add(metric, memory, "MB"),
            Some(first) => {
                let target = Target::Below(first * FLAT, By::Nothing);
                report.judge(metric, memory, "MB", target);
            }
        }
        report.add(format!("flows until {flows}"), load.per_second, "/s");
        first.get_or_insert(memory);
    }
    Ok(())
}
