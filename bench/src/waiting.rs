//! Runs that wait: many of them at no cost, and many that are due at once.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures::{StreamExt, TryStreamExt, stream};
use riverrun_runtime::StartRequest;
use riverrun_types::RunId;
use serde_json::{Value, json};

use crate::{
    Bench, Result,
    flows::{open, three_steps},
    http, load,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

/// How long starting what is due later may take.
const AHEAD: Duration = Duration::from_secs(25);
/// Starts between two looks at what is left.
const ROUND: usize = 1_000;
/// Events that are sent into a million awaits.
const EVENTS: usize = 200;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    due_at_once(bench, report).await?;
    idle(bench, report).await
}

/// Timers that are all due in the same second, and what they cost those who start runs.
async fn due_at_once(bench: &Bench, report: &mut Report) -> Result<()> {
    let timers = 100_000 / bench.scale;
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    server.register(&three_steps()).await?;
    let due = json!({
        "id": "due", "version": "1.0.0", "initialStepId": "wait",
        "steps": {"wait": {"type": "delay", "config": {"until": "${at}"}}},
    });
    server.register(&due).await?;
    http::flows(&server, 64, ROUND, false).await?;
    let before = http::flows(&server, 64, 20 * ROUND, false)
        .await?
        .per_second;

    let at = SystemTime::now() + AHEAD;
    let at_ms = at.duration_since(UNIX_EPOCH)?.as_millis();
    let path: Arc<str> = "/api/flows/due/start".into();
    let body = format!(r#"{{"input":{{"at":{at_ms}}}}}"#);
    load::requests(server.address, 64, timers, 201, move |_| {
        (path.clone(), body.clone().into())
    })
    .await?;
    let left = at.duration_since(SystemTime::now());
    tokio::time::sleep(left.map_err(|_| "starting the timers took too long")?).await;

    let begun = Instant::now();
    let mut started = 0;
    let mut busy = Duration::ZERO;
    while is_waiting(&server).await? {
        http::flows(&server, 64, ROUND, false).await?;
        started += ROUND;
        busy = begun.elapsed();
        if busy > Duration::from_secs(120) {
            return Err("the timers are not through after two minutes".into());
        }
    }
    let target = Target::Below(30.0, By::Both);
    let took = begun.elapsed().as_secs_f64();
    let name = format!("{timers} timers due at once, until all are through");
    report.judge(name, took, "s", target);
    let meanwhile = started as f64 / busy.as_secs_f64().max(1e-3);
    let share = meanwhile / before * 100.0;
    let target = Target::AtLeast(50.0, By::Nothing);
    report.judge(
        "starts meanwhile, of their speed before",
        share,
        "%",
        target,
    );
    Ok(())
}

async fn is_waiting(server: &Server) -> Result<bool> {
    let runs = server
        .read("/api/runs?flow=due&status=waiting&limit=1")
        .await?;
    let items = runs.get("items").or_else(|| runs.get("runs"));
    let items = items.and_then(Value::as_array);
    Ok(!items.ok_or("the list of runs is not one")?.is_empty())
}

/// A million runs that each wait for an event of their own.
async fn idle(bench: &Bench, report: &mut Report) -> Result<()> {
    let empty = bench.folder()?;
    let new = Server::start(bench, empty.path()).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let new_mb = new.resident_mb();
    drop(new);

    let count = 1_000_000 / bench.scale;
    let data = waiting(bench, count).await?;
    let mut samples = Vec::new();
    for _ in 0..5 {
        samples.push(Server::start(bench, &data).await?.ready_ms);
    }
    let target = Target::Below(2_000.0, By::Nothing);
    let p50 = percentile(&mut samples, 0.5);
    report.judge(
        format!("start with {count} runs that wait, p50"),
        p50,
        "ms",
        target,
    );

    let server = Server::start(bench, &data).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cpu_ms = server.cpu_ms();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // The kernel counts in steps of 10 ms.
    let target = Target::Below(20.0, By::Nothing);
    report.judge("… CPU in 5 s", server.cpu_ms() - cpu_ms, "ms", target);
    let target = Target::Below(new_mb * 1.1, By::Nothing);
    report.judge("… memory", server.resident_mb(), "MB", target);

    // Other ones at each measurement: the folder is kept.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let first = usize::try_from(seconds)? * EVENTS % (count - EVENTS);
    let mut samples = Vec::with_capacity(EVENTS);
    let mut connection = load::connect(server.address).await?;
    for n in first..first + EVENTS {
        let sent = Instant::now();
        let event = json!({"type": "go", "data": {"id": n}}).to_string();
        let answer = load::post(&mut connection, "/api/events", event.into()).await?;
        if answer.status != 201 {
            return Err(format!("POST /api/events: {} {:?}", answer.status, answer.body).into());
        }
        samples.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    let target = Target::Below(5.0, By::Sync);
    report.judge(
        "an event that one of them waits for, p50",
        percentile(&mut samples, 0.5),
        "ms",
        target,
    );
    let p99 = percentile(&mut samples, 0.99);
    report.judge("… p99", p99, "ms", target);
    let woken = server.read(&format!("/api/runs/w{first}")).await?;
    match woken.get("status").and_then(Value::as_str) {
        Some("completed") => Ok(()),
        status => Err(format!("the run that the event was for is {status:?}").into()),
    }
}

/// A store with so many runs that wait; made once and kept for the next time.
async fn waiting(bench: &Bench, count: usize) -> Result<PathBuf> {
    let folder = bench.data.join(format!("waiting-{count}"));
    let complete = folder.join("complete");
    if complete.is_file() {
        return Ok(folder);
    }
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let runtime = open(&folder).await?;
    let flow = json!({
        "id": "wait", "version": "1.0.0", "initialStepId": "wait",
        "steps": {"wait": {
            "type": "set", "config": {"value": true},
            "await": {"type": "event", "eventKind": "go", "match": {"data.id": "state.id"}},
        }},
    });
    runtime.flows().register(&flow).await?;
    let starts = stream::iter(0..count).map(|n| {
        let runtime = runtime.clone();
        async move {
            let mut request = StartRequest::new("wait", json!({ "id": n }));
            request.run_id = Some(RunId::new(&format!("w{n}")));
            runtime.runs().start(request).await.map(drop)
        }
    });
    starts.buffer_unordered(256).try_collect::<()>().await?;
    runtime.shutdown().await?;
    std::fs::write(complete, "")?;
    Ok(folder)
}
