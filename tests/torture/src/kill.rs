//! What is killed, and how.

use std::time::Duration;

use rand::{RngExt, rngs::StdRng};

use crate::{Server, server::Setting, tree::Process};

/// About as long as a server takes until it is ready.
const BIRTH: Duration = Duration::from_millis(1_200);

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The server alone: what it has started must end by itself.
    Server,
    /// The server and all that it has started, at once.
    Tree,
    /// The server, and the next one before it is ready.
    Twice,
    /// One process that runs handlers, or is one; the server goes on.
    Runner,
    /// A worker elsewhere; the server goes on.
    Worker,
}

impl Victim {
    pub fn any(dice: &mut StdRng) -> Self {
        match dice.random_range(0..100) {
            0..40 => Self::Server,
            40..52 => Self::Tree,
            52..62 => Self::Twice,
            62..80 => Self::Runner,
            _ => Self::Worker,
        }
    }
}

/// Kills, starts again what has to be, and leaves processes to wait for.
pub async fn kill(
    mut server: Server,
    setting: &Setting,
    victim: Victim,
    dice: &mut StdRng,
) -> Result<(Server, Vec<Process>), String> {
    let port = Some(server.port());
    let mut left = server.children();
    let runners: Vec<&Process> = left.iter().filter(|child| child.is_runner()).collect();
    if victim == Victim::Runner && !runners.is_empty() {
        runners[dice.random_range(0..runners.len())].kill();
        return Ok((server, Vec::new()));
    }
    server.kill().await?;
    match victim {
        Victim::Tree => left.iter().for_each(Process::kill),
        Victim::Twice => {
            let mut newborn = Server::spawn(setting, port)?;
            let life = dice.random_range(0..BIRTH.as_millis() as u64);
            tokio::time::sleep(Duration::from_millis(life)).await;
            left.extend(newborn.children());
            newborn.kill().await?;
        }
        Victim::Server | Victim::Runner | Victim::Worker => {}
    }
    Ok((Server::start(setting, port).await?, left))
}
