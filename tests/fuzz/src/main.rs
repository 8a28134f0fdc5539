//! The hostile client as a command.
#![allow(clippy::print_stdout, reason = "this is a command that prints")]

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use riverrun_fuzz::{Options, fuzz};

/// Sends random flows, schemas and inputs to the real server under a memory limit.
///
/// Example: cargo run --release -p riverrun-fuzz -- --rounds 2000
#[derive(Parser)]
struct Args {
    /// Definitions to register; each is used by several requests.
    #[arg(long, default_value_t = 500)]
    rounds: usize,
    /// The server's program.
    #[arg(long, default_value = "target/release/riverrun")]
    binary: PathBuf,
    /// The memory that the server may use.
    #[arg(long, default_value_t = 1024)]
    memory_mib: u64,
    /// The longest that /healthz may take.
    #[arg(long, default_value_t = 1_000)]
    health_ms: u64,
    /// Repeat an earlier run.
    #[arg(long)]
    seed: Option<u64>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let options = Options {
        binary: args.binary,
        rounds: args.rounds,
        memory_mib: args.memory_mib,
        health: Duration::from_millis(args.health_ms),
        seed: args.seed.unwrap_or_else(rand::random),
    };
    match fuzz(options).await {
        Ok(summary) => {
            println!("the server held: {summary}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("FAILED: {failure}");
            ExitCode::FAILURE
        }
    }
}
