//! Queues: adding and draining jobs, in process, in Node and in Python; latency; calls.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, JobRequest, Process, ProcessConfig, Provider, Runtime, Source};
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    Bench, Result,
    flows::open,
    load,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

/// Jobs in flight per process.
const CONCURRENCY: u32 = 1_024;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    in_process(bench, report).await?;
    over_http(bench, report).await?;
    for (language, target) in [("node", 25_000.0), ("python", 10_000.0)] {
        drain(bench, report, language, target).await?;
    }
    calls(bench, report).await
}

/// Counts jobs and notes when each began.
#[derive(Default)]
struct Count {
    done: AtomicUsize,
    changed: Notify,
    /// Microseconds from the time in the job's data to its beginning.
    waits: Mutex<Vec<f64>>,
}

#[async_trait]
impl Provider for Count {
    async fn invoke(&self, invocation: Invocation) -> std::result::Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.as_ref();
        if let Some(sent) = input.and_then(|input| input.get("sent")) {
            let sent: f64 = sent.read().unwrap_or_default();
            self.waits.lock().push((now_us() - sent) / 1e3);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
        Ok(Reply::default())
    }
}

fn now_us() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64() * 1e6
}

fn put(runtime: &Runtime, provider: Arc<Count>) -> Result<()> {
    let config = Json::of(&json!({"concurrency": CONCURRENCY}));
    runtime.queues().put_process(Process {
        id: "noop".into(),
        config: ProcessConfig::read(&config, "noop").map_err(|issues| format!("{issues:?}"))?,
        provider,
        source: Source::default(),
    });
    Ok(())
}

async fn add(runtime: &Runtime, count: usize) -> Result<()> {
    for from in (0..count).step_by(1_000) {
        let jobs = (from..count.min(from + 1_000)).map(|n| JobRequest::new(json!({"n": n})));
        runtime
            .queues()
            .enqueue("noop", jobs.collect(), true)
            .await?;
    }
    Ok(())
}

async fn until(count: &Count, wanted: usize) {
    while count.done.load(Ordering::Relaxed) < wanted {
        count.changed.notified().await;
    }
}

async fn in_process(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    let jobs = 200_000 / bench.scale;
    let begun = Instant::now();
    add(&runtime, jobs).await?;
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    report.add("added through the library, 1,000 at a time", rate, "/s");
    let count = Arc::new(Count::default());
    put(&runtime, count.clone())?;
    let begun = Instant::now();
    until(&count, jobs).await;
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    let target = Target::AtLeast(40_000.0, By::Both);
    report.judge("drained in process", rate, "/s", target);

    // Alone, and at a steady pace.
    let mut done = jobs;
    for _ in 0..1_000 / bench.scale {
        let job = JobRequest::new(json!({"sent": now_us()}));
        runtime.queues().enqueue("noop", vec![job], true).await?;
        done += 1;
        until(&count, done).await;
    }
    let mut waits = std::mem::take(&mut *count.waits.lock());
    let target = Target::Below(1.5, By::Sync);
    let p50 = percentile(&mut waits, 0.5);
    report.judge("from add to start alone, p50", p50, "ms", target);
    let mut pace = tokio::time::interval(Duration::from_millis(2));
    for _ in 0..5_000 / bench.scale {
        pace.tick().await;
        let (task, job) = (runtime.clone(), JobRequest::new(json!({"sent": now_us()})));
        tokio::spawn(async move { task.queues().enqueue("noop", vec![job], true).await });
        done += 1;
    }
    until(&count, done).await;
    let mut waits = std::mem::take(&mut *count.waits.lock());
    let target = Target::Below(10.0, By::Sync);
    let p99 = percentile(&mut waits, 0.99);
    report.judge("from add to start at 500/s, p99", p99, "ms", target);
    runtime.shutdown().await?;
    waiting(bench, report).await
}

/// What a claim costs when a million jobs wait.
async fn waiting(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    let rate = async |waiting: usize| -> Result<f64> {
        add(&runtime, waiting).await?;
        let jobs = 50_000 / bench.scale;
        let count = Arc::new(Count::default());
        put(&runtime, count.clone())?;
        let begun = Instant::now();
        until(&count, jobs).await;
        let rate = jobs as f64 / begun.elapsed().as_secs_f64();
        runtime.queues().remove_process("noop");
        Ok(rate)
    };
    let few = rate(60_000 / bench.scale).await?;
    let many = rate(1_000_000 / bench.scale).await?;
    let target = Target::AtLeast(80.0, By::Nothing);
    let share = many / few * 100.0;
    report.judge(
        "speed with a million waiting, of that with few",
        share,
        "%",
        target,
    );
    runtime.shutdown().await?;
    Ok(())
}

async fn over_http(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    let path: Arc<str> = "/api/queue/noop/jobs?create=true".into();
    let pad = "x".repeat(100);
    let one = {
        let (path, pad) = (path.clone(), pad.clone());
        move |n: usize| {
            (
                path.clone(),
                format!(r#"{{"data":{{"n":{n},"pad":"{pad}"}}}}"#).into(),
            )
        }
    };
    load::requests(server.address, 64, 2_000, 201, one.clone()).await?;
    let mut added = load::requests(server.address, 64, 100_000 / bench.scale, 201, one).await?;
    let target = Target::AtLeast(18_000.0, By::Both);
    report.judge(
        "added over HTTP, 64 in flight",
        added.per_second,
        "/s",
        target,
    );
    report.add("… p99", percentile(&mut added.samples, 0.99), "ms");
    let job = format!(r#"{{"data":{{"n":1,"pad":"{pad}"}}}}"#);
    let bulk = format!(r#"{{"jobs":[{}]}}"#, vec![job.as_str(); 1_000].join(","));
    let many = move |_: usize| (path.clone(), bulk.clone().into());
    let requests = 300 / bench.scale.min(100);
    let added = load::requests(server.address, 4, requests, 201, many.clone()).await?;
    let target = Target::AtLeast(60_000.0, By::Both);
    let rate = added.per_second * 1e3;
    report.judge("added over HTTP, 1,000 a request", rate, "/s", target);
    let few = server.resident_mb();
    report.add("memory with 400,000 waiting", few, "MB");
    load::requests(server.address, 4, requests * 2, 201, many).await?;
    let target = Target::Below(few * 1.05, By::Nothing);
    let memory = server.resident_mb();
    report.judge("memory with a million waiting", memory, "MB", target);
    Ok(())
}

/// A project with a process that gives back what it gets.
fn project(folder: &Path, language: &str, mode: &str) -> Result<()> {
    let processes = folder.join("processes");
    std::fs::create_dir_all(&processes)?;
    let (name, text) = match language {
        "node" => (
            "noop.mjs",
            format!(
                "export const config = {{ runMode: '{mode}', concurrency: {CONCURRENCY} }}\n\
                 export default async (input) => input\n"
            ),
        ),
        _ => (
            "noop.py",
            format!(
                "config = {{'run_mode': '{mode}', 'concurrency': {CONCURRENCY}}}\n\n\n\
                 async def handler(input):\n    return input\n"
            ),
        ),
    };
    std::fs::write(processes.join(name), text)?;
    Ok(())
}

async fn counts(server: &Server) -> Result<Value> {
    server.read("/api/queue/noop").await
}

async fn drain(bench: &Bench, report: &mut Report, language: &str, target: f64) -> Result<()> {
    let folder = bench.folder()?;
    project(folder.path(), language, "queue")?;
    let server = Server::of_project(bench, folder.path()).await?;
    let path = "/api/queue/noop/jobs";
    server.post("/api/queue/noop/pause", &json!({})).await?;
    let jobs = 100_000 / bench.scale;
    for _ in 0..jobs / 1_000 {
        let jobs = vec![json!({"data": {"n": 1}}); 1_000];
        server.post(path, &json!({ "jobs": jobs })).await?;
    }
    let begun = Instant::now();
    server.post("/api/queue/noop/resume", &json!({})).await?;
    loop {
        let completed = counts(&server).await?["counts"]["completed"].as_u64();
        if completed.unwrap_or_default() as usize >= jobs {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    let target = Target::AtLeast(target, By::Both);
    report.judge(format!("drained in {language}"), rate, "/s", target);
    Ok(())
}

async fn calls(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    project(folder.path(), "node", "call")?;
    let server = Server::of_project(bench, folder.path()).await?;
    let call = |n: usize| -> (Arc<str>, bytes::Bytes) {
        let body = format!(r#"{{"process":"noop","input":{{"n":{n}}}}}"#);
        ("/api/runner/execute".into(), body.into())
    };
    load::requests(server.address, 16, 1_000, 200, call).await?;
    let mut alone = load::requests(server.address, 1, 2_000 / bench.scale, 200, call).await?;
    let target = Target::Below(1.0, By::Cpu);
    let p50 = percentile(&mut alone.samples, 0.5);
    report.judge("a warm call to Node, p50", p50, "ms", target);
    let many = load::requests(server.address, 64, 30_000 / bench.scale, 200, call).await?;
    let target = Target::AtLeast(5_000.0, By::Both);
    report.judge("calls to Node, 64 in flight", many.per_second, "/s", target);
    Ok(())
}
