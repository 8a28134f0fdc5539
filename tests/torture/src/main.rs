//! The long form of the kill harness.
#![allow(clippy::print_stdout, reason = "this is a command that prints")]

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use riverrun_torture::{Only, Options, torture};

/// Kills the real server under load and checks that every promise still holds.
///
/// Example: cargo run --release -p riverrun-torture -- --kills 200 --only jobs
#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 50)]
    kills: usize,
    /// The server's program.
    #[arg(long, default_value = "target/release/riverrun")]
    binary: PathBuf,
    #[arg(long, default_value_t = 16)]
    clients: usize,
    /// The longest that the server lives between two kills, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    longest_ms: u64,
    /// Repeat the kills of an earlier run.
    #[arg(long)]
    seed: Option<u64>,
    /// One kind of load instead of all.
    #[arg(long)]
    only: Option<Load>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Load {
    Flows,
    Jobs,
    Awaits,
    Code,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let options = Options {
        binary: args.binary,
        kills: args.kills,
        clients: args.clients,
        longest: Duration::from_millis(args.longest_ms),
        seed: args.seed.unwrap_or_else(rand::random),
        only: args.only.map(|only| match only {
            Load::Flows => Only::Flows,
            Load::Jobs => Only::Jobs,
            Load::Awaits => Only::Awaits,
            Load::Code => Only::Code,
        }),
    };
    match torture(options).await {
        Ok(summary) => {
            println!("all promises held: {summary}");
            ExitCode::SUCCESS
        }
        Err(broken) => {
            println!("BROKEN: {broken}");
            ExitCode::FAILURE
        }
    }
}
