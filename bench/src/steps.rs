//! Flows of processes: steps that events lead to, code that records what it did, awaits that are
//! resumed.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, stream};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{
    Invocation, Process, ProcessConfig, Provider, Runtime, Source, StartRequest,
};
use riverrun_types::{Json, RunStatus};
use serde_json::{Value, json};

use crate::{
    Bench, Result,
    flows::open,
    load,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

const IN_FLIGHT: usize = 256;
/// The median of these counts where a round is brief.
const ROUNDS: usize = 3;

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    in_process(bench, report).await?;
    in_node(bench, report).await?;
    resumed(bench, report).await
}

/// Emits the kind in its input, or nothing.
struct Emits;

#[async_trait]
impl Provider for Emits {
    async fn invoke(&self, call: Invocation) -> std::result::Result<Reply, WorkError> {
        let next = match call.invoke.step.as_deref() {
            Some("a") => Some("one"),
            Some("b") => Some("two"),
            _ => None,
        };
        if let Some(kind) = next {
            let event = json!({"type": kind, "data": {"n": 1}});
            call.host.ask("emit", Json::of(&event)).await?;
        }
        Ok(Reply::default())
    }
}

/// Three steps, each of which an event of the one before it enters.
fn three() -> Value {
    let step = |process: &str, kind: Option<&str>| {
        let mut step = json!({"type": "process", "config": {"process": process}});
        if let Some(kind) = kind {
            step["subscriptions"] = json!([{ "eventKind": kind }]);
        }
        step
    };
    json!({
        "id": "three", "version": "1.0.0", "initialStepId": "a",
        "steps": {"a": step("a", None), "b": step("b", Some("one")), "c": step("c", Some("two"))},
    })
}

fn put(runtime: &Runtime, id: &str) -> Result<()> {
    let config = Json::of(&json!({"concurrency": 1_024}));
    runtime.queues().put_process(Process {
        id: id.into(),
        config: ProcessConfig::read(&config, id).map_err(|issues| format!("{issues:?}"))?,
        provider: Arc::new(Emits),
        source: Source::default(),
    });
    Ok(())
}

async fn in_process(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    for id in ["a", "b", "c"] {
        put(&runtime, id)?;
    }
    runtime.flows().register(&three()).await?;
    let runs = 20_000 / bench.scale;
    let mut rates = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        run_all(&runtime, runs).await?;
        rates.push(runs as f64 / begun.elapsed().as_secs_f64());
    }
    let rate = percentile(&mut rates, 0.5);
    let target = Target::AtLeast(6_000.0, By::Both);
    report.judge("event flows of three steps in process", rate, "/s", target);
    runtime.shutdown().await?;
    Ok(())
}

/// Starts so many flows, and waits for the end of each.
async fn run_all(runtime: &Runtime, runs: usize) -> Result<()> {
    let ended = stream::iter(0..runs).map(|_| async {
        let started = runtime
            .runs()
            .start(StartRequest::new("three", json!({})))
            .await?;
        let wait = Duration::from_secs(60);
        let ended = runtime.runs().wait(&started.run, wait).await?;
        Ok::<_, riverrun_runtime::Error>(ended.loaded.state)
    });
    let mut ended = ended.buffer_unordered(IN_FLIGHT);
    while let Some(state) = ended.next().await {
        let state = state?;
        if state.status != RunStatus::Completed {
            return Err(format!("a flow did not complete: {:?}", state.error).into());
        }
    }
    Ok(())
}

fn project(folder: &Path) -> Result<()> {
    let processes = folder.join("processes");
    std::fs::create_dir_all(&processes)?;
    let step = |config: &str, body: &str| {
        format!(
            "export const config = {{ concurrency: 1024, {config} }}\n\
             export default async (input, ctx) => {{ {body} }}\n"
        )
    };
    for (name, config, body) in [
        (
            "a",
            "step: 'three', emits: ['one']",
            "await ctx.emit({ type: 'one', data: { n: 1 } })",
        ),
        (
            "b",
            "step: 'b', subscriptions: [{ eventKind: 'one' }], emits: ['two']",
            "await ctx.emit({ type: 'two', data: { n: 1 } })",
        ),
        (
            "c",
            "step: 'c', subscriptions: [{ eventKind: 'two' }]",
            "return input",
        ),
        (
            "code",
            "step: 'code'",
            "for (const name of ['x', 'y', 'z']) await ctx.run(name, () => name)",
        ),
    ] {
        std::fs::write(processes.join(format!("{name}.mjs")), step(config, body))?;
    }
    Ok(())
}

async fn in_node(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    project(folder.path())?;
    let server = Server::of_project(bench, folder.path()).await?;
    let run = |flow: &'static str| {
        move |_: usize| -> (Arc<str>, Bytes) {
            let path = format!("/api/flows/{flow}/start?wait=60000");
            (path.into(), r#"{"input":{}}"#.into())
        }
    };
    let runs = 10_000 / bench.scale;
    load::requests(server.address, 64, 500, 200, run("three")).await?;
    for (flow, what) in [
        ("three", "event flows of three steps in Node"),
        ("code", "runs of code with three ctx.run in Node"),
    ] {
        let mut rates = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let ended = load::requests(server.address, IN_FLIGHT, runs, 200, run(flow)).await?;
            rates.push(ended.per_second);
        }
        let target = Target::AtLeast(2_500.0, By::Both);
        report.judge(what, percentile(&mut rates, 0.5), "/s", target);
    }
    let mut alone =
        load::requests(server.address, 1, 1_000 / bench.scale, 200, run("code")).await?;
    let target = Target::Below(3.0, By::Sync);
    let p50 = percentile(&mut alone.samples, 0.5);
    report.judge("… alone, p50", p50, "ms", target);
    Ok(())
}

/// Waits for the event that its input names.
struct Waits;

#[async_trait]
impl Provider for Waits {
    async fn invoke(&self, call: Invocation) -> std::result::Result<Reply, WorkError> {
        let job = &call.invoke.job;
        if job.journal.is_empty() {
            let id = job.input.as_ref().and_then(|input| input.get("id"));
            let wait = json!({"type": "event", "eventKind": "go", "match": {"data.id": id}});
            return Ok(Reply {
                suspended: serde_json::from_value(wait).ok(),
                ..Reply::default()
            });
        }
        Ok(Reply::default())
    }
}

/// From the answer to an event to the end of the run that waited for it.
async fn resumed(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let runtime = open(folder.path()).await?;
    let config = Json::of(&json!({"concurrency": 1_024}));
    runtime.queues().put_process(Process {
        id: "wait".into(),
        config: ProcessConfig::read(&config, "wait").map_err(|issues| format!("{issues:?}"))?,
        provider: Arc::new(Waits),
        source: Source::default(),
    });
    let flow = json!({"id": "wait", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "process", "config": {"process": "wait"}},
    }});
    runtime.flows().register(&flow).await?;
    let runs = 1_000 / bench.scale;
    let mut ids = Vec::with_capacity(runs);
    for id in 0..runs {
        let request = StartRequest::new("wait", json!({ "id": id }));
        ids.push(runtime.runs().start(request).await?.run);
    }
    let waiting = async |run: &riverrun_types::RunId| -> Result<()> {
        while runtime.runs().run(run).await?.loaded.state.status != RunStatus::Waiting {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    };
    for run in &ids {
        waiting(run).await?;
    }
    let global = riverrun_types::StreamName::new("global", "global");
    let mut samples = Vec::with_capacity(runs);
    for (id, run) in ids.iter().enumerate() {
        let event = Json::of(&json!({"type": "go", "data": {"id": id}}));
        runtime.events().append(&global, &[event]).await?;
        let answered = Instant::now();
        runtime.runs().wait(run, Duration::from_secs(60)).await?;
        samples.push(answered.elapsed().as_secs_f64() * 1e3);
    }
    let target = Target::Below(20.0, By::Sync);
    let p99 = percentile(&mut samples, 0.99);
    report.judge(
        "from an event's answer to the end of its run, p99",
        p99,
        "ms",
        target,
    );
    runtime.shutdown().await?;
    Ok(())
}
