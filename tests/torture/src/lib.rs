//! The kill harness: it starts the real server, loads it, kills it with SIGKILL at random moments,
//! starts it again, and in the end checks the first four promises on every run:
//!
//! 1. what was acknowledged is there,
//! 2. every outcome is recorded once, and every effect happened at least once,
//! 3. every stream is in one order without a gap, for readers that reconnect too,
//! 4. replaying a stream gives the state that the server shows,
//!
//! and that every run ends.
#![allow(clippy::print_stdout, reason = "the harness reports while it runs")]

mod effects;
mod flows;
mod load;
mod server;
mod verify;
mod watch;

use std::{path::PathBuf, sync::Arc, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng};

pub use server::Server;

/// How to torture.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's program.
    pub binary: PathBuf,
    pub kills: usize,
    /// Clients that start runs at the same time.
    pub clients: usize,
    /// The longest that the server lives between two kills.
    pub longest: Duration,
    /// Decides when it is killed. Printed, so that a failure can be repeated, as far as a race can.
    pub seed: u64,
}

/// Runs the whole ordeal; the error says which promise was broken and by which run.
pub async fn torture(options: Options) -> Result<String, String> {
    println!("seed {}: {} kills", options.seed, options.kills);
    let mut dice = StdRng::seed_from_u64(options.seed);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let effects = effects::Effects::serve().await?;
    let mut server = Server::start(&options.binary, folder.path(), None).await?;
    flows::register(&server, effects.address).await?;
    let load = Arc::new(load::Load::new(server.url()));
    let clients = load.spawn(options.clients);
    let watchers = watch::spawn(&load, 4);

    for kill in 1..=options.kills {
        let life = dice.random_range(30..options.longest.as_millis() as u64);
        tokio::time::sleep(Duration::from_millis(life)).await;
        server.kill().await?;
        let begun = std::time::Instant::now();
        server = Server::start(&options.binary, folder.path(), Some(server.port())).await?;
        println!(
            "kill {kill}/{}: lived {life} ms, ready again after {} ms, {} runs acknowledged",
            options.kills,
            begun.elapsed().as_millis(),
            load.acknowledged()
        );
    }

    load.stop();
    for client in clients {
        client.await.map_err(|error| error.to_string())?;
    }
    let summary = verify::verify(&server, &load, &effects).await;
    let watched = watch::finish(watchers, &server).await;
    server.stop().await?;
    let (summary, watched) = (summary?, watched?);
    Ok(format!("{summary}; {watched} watched events in order"))
}
