//! How many no-op invocations a second go through one runner of each language.
//!
//! `cargo run --release -p riverrun-providers --example runner_speed -- [invocations] [at once]`

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use riverrun_contract::{Cancellation, Host, Invocation, Provider};
use riverrun_protocol::{Frame, Invoke, JobInput, WorkError};
use riverrun_providers::{InProcess, Language, RunnerOptions, Runners};
use riverrun_types::Json;

struct NoHost;

#[async_trait]
impl Host for NoHost {
    fn frame(&self, _: Frame) {}

    async fn ask(&self, _: &str, _: Json) -> Result<Json, WorkError> {
        Ok(Json::null())
    }
}

#[tokio::main]
async fn main() -> Result<(), WorkError> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().ok());
    let count = arguments.next().flatten().unwrap_or(200_000);
    let at_once = arguments.next().flatten().unwrap_or(256);
    let fixtures =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sdks/conformance/fixtures");
    for (language, file) in [
        (Language::Node, "typescript/echo.mjs"),
        (Language::Python, "python/echo.py"),
    ] {
        let runners = Runners::new(language, RunnerOptions::default());
        let file = fixtures.join(file);
        let file = file.to_string_lossy();
        runners.load(&file, 1).await?;
        let provider = runners.provider(&file, Some("default"), 1);
        report(&language.to_string(), provider, count, at_once).await?;
        runners.drain(Duration::from_secs(1)).await;
    }
    let function = Arc::new(InProcess::new(async |input, _| Ok(input)));
    report("in process", function, count, at_once).await
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
async fn report(
    name: &str,
    provider: Arc<dyn Provider>,
    count: usize,
    at_once: usize,
) -> Result<(), WorkError> {
    run(&provider, count / 10, at_once).await?;
    for _ in 0..3 {
        let begun = Instant::now();
        run(&provider, count, at_once).await?;
        let took = begun.elapsed();
        let rate = count as f64 / took.as_secs_f64();
        println!("{name:>10}: {rate:>9.0} invocations/s, {at_once} at once");
    }
    let mut alone = Vec::new();
    for _ in 0..2_000 {
        let begun = Instant::now();
        run(&provider, 1, 1).await?;
        alone.push(begun.elapsed());
    }
    alone.sort();
    println!(
        "{name:>10}: {:?} alone at p50, {:?} at p99",
        alone[1_000], alone[1_980]
    );
    Ok(())
}

async fn run(provider: &Arc<dyn Provider>, count: usize, at_once: usize) -> Result<(), WorkError> {
    let left = Arc::new(AtomicUsize::new(count));
    let done = Arc::new(AtomicUsize::new(0));
    let workers = (0..at_once).map(|_| {
        let (provider, left, done) = (provider.clone(), left.clone(), done.clone());
        tokio::spawn(async move {
            let host: Arc<dyn Host> = Arc::new(NoHost);
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                let invocation = Invocation {
                    invoke: Arc::new(invoke()),
                    host: host.clone(),
                    cancel: Cancellation::default(),
                };
                let input = invocation.invoke.job.input.clone();
                let reply = provider.invoke(invocation).await?;
                // A rate of wrong answers would say nothing.
                if reply.value != input {
                    let message = format!("{:?} is not the input", reply.value);
                    return Err(WorkError::new("INTERNAL", message));
                }
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, WorkError>(())
        })
    });
    for worker in futures::future::join_all(workers).await {
        worker.map_err(|error| WorkError::new("INTERNAL", error.to_string()))??;
    }
    match done.load(Ordering::Relaxed) {
        done if done == count => Ok(()),
        done => Err(WorkError::new(
            "INTERNAL",
            format!("{done} of {count} were answered"),
        )),
    }
}

fn invoke() -> Invoke {
    Invoke {
        process: "echo".to_owned(),
        kind: "job".to_owned(),
        queue: Some("echo".to_owned()),
        job: JobInput {
            job_id: Some("0198c0de-0000-7000-8000-000000000000".to_owned()),
            name: Some("echo".to_owned()),
            input: Json::parse_text(r#"{"orderId":4711}"#.to_owned()).ok(),
            attempt: 1,
            max_attempts: 3,
            ..JobInput::default()
        },
        timeout_ms: Some(30_000),
        ..Invoke::default()
    }
}
