//! A short run of the hostile client (`tests/fuzz`); `make fuzz` runs it for long.

use std::time::Duration;

use riverrun_fuzz::{Options, fuzz};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_flows_schemas_and_inputs_do_not_hold_up_the_server() {
    let options = Options {
        binary: env!("CARGO_BIN_EXE_riverrun").into(),
        rounds: 30,
        memory_mib: 1024,
        // The unoptimised build on a busy machine; `make fuzz` allows a second.
        health: Duration::from_secs(5),
        seed: 20_261_118,
    };
    fuzz(options).await.unwrap();
}
