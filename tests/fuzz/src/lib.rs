//! The hostile client: it registers random flows and schemas with the real server and sends random
//! inputs, small definitions with large effects among them. The server runs under a memory limit.
//!
//! The run fails when the server ends, when `/healthz` takes longer than allowed, when an answer is
//! an internal error, when an error's answer is large, when a request outlives the server's own
//! timeout, or when the server does not start again on the data that it has stored.
#![allow(clippy::print_stdout, reason = "the fuzzer reports while it runs")]

mod attack;
mod generate;
mod health;
mod server;

use std::{fmt, path::PathBuf, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use attack::{Attack, Tally};
use health::Health;
use server::Server;

/// How to attack.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's program.
    pub binary: PathBuf,
    /// Definitions that are registered. Each is followed by several requests that use it.
    pub rounds: usize,
    /// The memory that the server may use, in MiB.
    pub memory_mib: u64,
    /// The longest that `/healthz` may take.
    pub health: Duration,
    /// Decides every request. Printed, so that a failure can be repeated.
    pub seed: u64,
}

/// The command that repeats the run.
impl fmt::Display for Options {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "cargo run --release -p riverrun-fuzz -- --binary {} --rounds {} --memory-mib {} --health-ms {} --seed {}",
            self.binary.display(),
            self.rounds,
            self.memory_mib,
            self.health.as_millis(),
            self.seed
        )
    }
}

/// Runs the whole attack. The error says what the server did wrong and how to repeat it.
pub async fn fuzz(options: Options) -> Result<String, String> {
    println!("seed {}: {} rounds", options.seed, options.rounds);
    let repeat = options.to_string();
    let done = run(options).await;
    done.map_err(|failure| format!("{failure}\nrepeat with: {repeat}"))
}

async fn run(options: Options) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut dice = StdRng::seed_from_u64(options.seed);
    let mut tally = Tally::default();
    let mut server = Server::start(&options, folder.path()).await?;
    let mut health = Health::watch(&server, options.health);
    for round in 0..options.rounds {
        let attack = Attack::new(&mut dice, round);
        let outcome = attack.run(&server, &mut dice, &mut tally).await;
        let shown = || format!("round {round}: {}", attack.describe());
        outcome.map_err(|failure| format!("{}\n{failure}", shown()))?;
        health
            .check()
            .map_err(|failure| format!("{}\n{failure}", shown()))?;
        server
            .check()
            .map_err(|failure| format!("{}\n{failure}", shown()))?;
        // What was stored so far must not keep the next start from working.
        if round % 50 == 49 {
            health.stop().await?;
            server.stop(dice.random_bool(0.5)).await?;
            server = Server::start(&options, folder.path()).await?;
            health = Health::watch(&server, options.health);
        }
    }
    let slowest = health.stop().await?;
    let peak_mib = server.peak_mib()?;
    server.stop(true).await?;
    Ok(format!(
        "{tally}; slowest /healthz of the last server {} ms; its memory peaked at {peak_mib} MiB",
        slowest.as_millis()
    ))
}
