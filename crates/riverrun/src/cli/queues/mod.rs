//! `riverrun queues`: list, show, pause, resume, clear and clean queues.

mod act;
mod list;
mod show;

use clap::{Args, Subcommand};

use super::Global;
use crate::failure::{Exit, Result};

pub use act::{Which, removed};
pub use list::{age, count, rate};

#[derive(Args, Debug)]
pub struct Queues {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List queues with their counts, rates and processes.
    #[command(before_help = "Example: riverrun queues ls")]
    Ls,
    /// Show a queue: counts by status, rates, latencies.
    #[command(before_help = "Example: riverrun queues show emails")]
    Show(show::Show),
    /// Pause queues: no job starts, running jobs finish.
    #[command(before_help = "Example: riverrun queues pause emails")]
    Pause(act::Act),
    /// Resume paused queues.
    #[command(before_help = "Example: riverrun queues resume emails")]
    Resume(act::Act),
    /// Remove the waiting jobs of a queue.
    #[command(
        alias = "drain",
        before_help = "Example: riverrun queues clear emails --delayed"
    )]
    Clear(act::Clear),
    /// Remove ended jobs of a queue.
    #[command(
        before_help = "Example: riverrun queues clean emails --status failed --older-than 7d"
    )]
    Clean(act::Clean),
}

impl Queues {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls => list::list(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Pause(act) => act.run(global, "pause").await,
            Command::Resume(act) => act.run(global, "resume").await,
            Command::Clear(clear) => clear.run(global).await,
            Command::Clean(clean) => clean.run(global).await,
        }
    }
}
