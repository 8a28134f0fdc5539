//! The short form of the kill harness; `make torture` is the long one.

use std::{path::PathBuf, time::Duration};

use riverrun_torture::{Only, Options, torture};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_holds_over_kills() {
    holds(5, Duration::from_millis(800), Only::Flows).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_survive_the_death_of_servers_and_runners() {
    holds(5, Duration::from_millis(1_000), Only::Jobs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn awaits_survive_whoever_dies() {
    holds(5, Duration::from_millis(1_000), Only::Awaits).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_survives_kills_and_changes_of_its_code() {
    holds(5, Duration::from_millis(1_500), Only::Code).await;
}

async fn holds(kills: usize, longest: Duration, only: Only) {
    let options = Options {
        binary: PathBuf::from(env!("CARGO_BIN_EXE_riverrun")),
        kills,
        clients: 8,
        longest,
        seed: std::process::id().into(),
        only: Some(only),
    };
    if let Err(broken) = torture(options).await {
        panic!("{broken}");
    }
}
