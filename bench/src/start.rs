//! Starting, and doing nothing.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Bench, Result,
    flows::{open, three_steps},
    library,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

/// Events of one three-step flow.
const EVENTS_A_FLOW: usize = 8;
const STARTS: usize = 11;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let mut samples = Vec::new();
    for _ in 0..STARTS {
        let folder = bench.folder()?;
        samples.push(Server::start(bench, folder.path()).await?.ready_ms);
    }
    let target = Target::Below(100.0, By::Nothing);
    let p50 = percentile(&mut samples, 0.5);
    report.judge("to ready on an empty folder, p50", p50, "ms", target);

    let events = 1_000_000 / bench.scale;
    let data = filled(bench, events).await?;
    let mut samples = Vec::new();
    for _ in 0..STARTS {
        samples.push(Server::start(bench, &data).await?.ready_ms);
    }
    let target = Target::Below(1_000.0, By::Nothing);
    let p50 = percentile(&mut samples, 0.5);
    report.judge(
        format!("to ready with {events} events, p50"),
        p50,
        "ms",
        target,
    );

    let folder = bench.folder()?;
    idle(bench, report, "new and idle", folder.path()).await?;
    idle(bench, report, &format!("idle with {events} events"), &data).await
}

async fn idle(bench: &Bench, report: &mut Report, name: &str, data: &Path) -> Result<()> {
    let server = Server::start(bench, data).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cpu_ms = server.cpu_ms();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let cpu_ms = server.cpu_ms() - cpu_ms;
    let memory = Target::Below(30.0, By::Nothing);
    report.judge(
        format!("{name}, memory"),
        server.resident_mb(),
        "MB",
        memory,
    );
    let own = format!("{name}, memory without the program's pages");
    report.add(own, server.own_mb(), "MB");
    // The kernel counts in steps of 10 ms.
    let cpu = Target::Below(20.0, By::Nothing);
    report.judge(format!("{name}, CPU in 5 s"), cpu_ms, "ms", cpu);
    Ok(())
}

/// A store with so many events; made once and kept for the next time.
async fn filled(bench: &Bench, events: usize) -> Result<PathBuf> {
    let folder = bench.data.join(format!("events-{events}"));
    let complete = folder.join("complete");
    if complete.is_file() {
        return Ok(folder);
    }
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let runtime = open(&folder).await?;
    runtime.flows().register(&three_steps()).await?;
    library::run(&runtime, events / EVENTS_A_FLOW).await?;
    runtime.shutdown().await?;
    std::fs::write(complete, "")?;
    Ok(folder)
}
