//! Measures riverrun against the limits of the machine it runs on.
//!
//! Machines drift, so nothing here is judged by its absolute value: the limits (synced appends, an
//! empty HTTP server) are measured before every part, and its targets scale with them. The server
//! is the release binary with its defaults, in a process of its own.
#![allow(clippy::print_stdout, reason = "this is a command that prints")]

mod append;
mod flows;
mod http;
mod jobs;
mod library;
mod limits;
mod load;
mod memory;
mod pairs;
mod process;
mod read;
mod report;
mod server;
mod sse;
mod start;
mod state;
mod steps;
mod target;
mod waiting;

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use report::Report;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The server's own, since some parts are measured in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// In the order in which they are measured.
const PARTS: [&str; 11] = [
    "library", "http", "append", "read", "sse", "state", "start", "memory", "jobs", "steps",
    "waiting",
];

/// Measures riverrun and prints JSON lines and a table.
///
/// Example: cargo run --release -p riverrun-bench -- --only library
#[derive(Parser)]
struct Args {
    /// Only these parts: library, http, append, read, sse, state, start, memory, jobs, steps, waiting.
    #[arg(long, value_delimiter = ',', value_parser = PARTS)]
    only: Vec<String>,
    /// Where data is written while measuring; a real disk, not a memory file system.
    #[arg(long, default_value = "target/bench")]
    data: PathBuf,
    /// The server to measure.
    #[arg(long, default_value = "target/release/riverrun")]
    binary: PathBuf,
    /// Fewer rounds: a smoke test of the benchmark itself, whose figures mean little.
    #[arg(long)]
    quick: bool,
    /// Seconds to wait before each part for others to leave the machine alone. 0 does not wait.
    #[arg(long, default_value_t = 120)]
    patience: u64,
    /// An older server: measures both in short turns and prints the ratios, instead of all parts.
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["only", "save"])]
    against: Option<PathBuf>,
    /// How many pairs of turns `--against` takes.
    #[arg(long, default_value_t = 40, requires = "against")]
    pairs: usize,
    /// Write the table to bench/RESULTS.md.
    #[arg(long, conflicts_with = "quick")]
    save: bool,
}

/// What every part needs to know.
pub struct Bench {
    data: PathBuf,
    binary: PathBuf,
    /// How many times fewer rounds to take.
    scale: usize,
}

impl Bench {
    /// An empty folder that is removed after its use.
    fn folder(&self) -> std::io::Result<tempfile::TempDir> {
        tempfile::tempdir_in(&self.data)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    if !args.binary.is_file() {
        let binary = args.binary.display();
        return Err(format!("there is no {binary}: cargo build --release -p riverrun").into());
    }
    std::fs::create_dir_all(&args.data)?;
    let bench = Bench {
        data: args.data,
        binary: args.binary,
        scale: if args.quick { 20 } else { 1 },
    };
    if let Some(older) = &args.against {
        process::quiet(Duration::from_secs(args.patience)).await;
        return pairs::measure(&bench, older, args.pairs).await;
    }
    let mut report = Report::default();
    for part in PARTS {
        if args.only.is_empty() || args.only.iter().any(|only| only == part) {
            process::quiet(Duration::from_secs(args.patience)).await;
            report.begin(part, limits::measure(&bench).await?);
            measure(part, &bench, &mut report).await?;
            report.end();
        }
    }
    println!("\n{report}");
    if args.save {
        std::fs::write("bench/RESULTS.md", report.page())?;
    }
    Ok(())
}

async fn measure(part: &str, bench: &Bench, report: &mut Report) -> Result<()> {
    match part {
        "library" => library::measure(bench, report).await,
        "http" => http::measure(bench, report).await,
        "append" => append::measure(bench, report).await,
        "read" => read::measure(bench, report).await,
        "sse" => sse::measure(bench, report).await,
        "state" => state::measure(bench, report).await,
        "start" => start::measure(bench, report).await,
        "jobs" => jobs::measure(bench, report).await,
        "steps" => steps::measure(bench, report).await,
        "waiting" => waiting::measure(bench, report).await,
        _ => memory::measure(bench, report).await,
    }
}
