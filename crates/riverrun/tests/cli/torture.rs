//! The short form of the kill harness; `make torture` is the long one.

use std::{path::PathBuf, time::Duration};

use riverrun_torture::{Options, torture};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_holds_over_kills() {
    let options = Options {
        binary: PathBuf::from(env!("CARGO_BIN_EXE_riverrun")),
        kills: 5,
        clients: 8,
        longest: Duration::from_millis(800),
        seed: std::process::id().into(),
    };
    if let Err(broken) = torture(options).await {
        panic!("{broken}");
    }
}
