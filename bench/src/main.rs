//! Measures riverrun against the limits of the machine it runs on.
//!
//! Machines drift, so nothing here is judged by its absolute value: the limits (synced appends, an
//! empty HTTP server) are measured in the same run, and every target scales with them.
#![allow(clippy::print_stdout, reason = "this is a command that prints")]

mod library;
mod limits;
mod load;
mod report;

use std::path::PathBuf;

use clap::Parser;
use report::Report;

/// Measures riverrun and prints JSON lines and a table.
///
/// Example: cargo run --release -p riverrun-bench -- --only library
#[derive(Parser)]
struct Args {
    /// Only the parts whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Where data is written while measuring; a real disk, not a memory file system.
    #[arg(long, default_value = "target/bench")]
    data: PathBuf,
    /// Fewer rounds: a smoke test of the benchmark itself.
    #[arg(long)]
    quick: bool,
}

fn main() -> std::io::Result<()> {
    let args = Args::parse();
    std::fs::create_dir_all(&args.data)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let mut report = Report::default();
    let wanted = |part: &str| {
        args.only
            .as_ref()
            .is_none_or(|only| part.contains(only.as_str()))
    };
    let scale = if args.quick { 20 } else { 1 };
    if wanted("limits") {
        limits::measure(&mut report, &args.data, scale)?;
        runtime.block_on(limits::http(&mut report, scale));
    }
    if wanted("library") {
        runtime.block_on(library::measure(&mut report, &args.data, scale));
    }
    report.print();
    Ok(())
}
