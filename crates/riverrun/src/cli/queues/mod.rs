//! `riverrun queues`: look at queues and steer them.

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
    /// List queues: how much waits, runs and fails, how fast they are.
    #[command(before_help = "Example: riverrun queues ls")]
    Ls,
    /// Show a queue: counts by state, rates, latencies.
    #[command(before_help = "Example: riverrun queues show emails")]
    Show(show::Show),
    /// Let no job of these queues begin; those that run finish.
    #[command(before_help = "Example: riverrun queues pause emails")]
    Pause(act::Act),
    /// Let paused queues go on.
    #[command(before_help = "Example: riverrun queues resume emails")]
    Resume(act::Act),
    /// Remove every job that waits.
    #[command(before_help = "Example: riverrun queues drain emails --delayed")]
    Drain(act::Drain),
    /// Remove jobs that have ended.
    #[command(before_help = "Example: riverrun queues clean emails --state failed --older-than 7d")]
    Clean(act::Clean),
}

impl Queues {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls => list::list(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Pause(act) => act.run(global, "pause").await,
            Command::Resume(act) => act.run(global, "resume").await,
            Command::Drain(drain) => drain.run(global).await,
            Command::Clean(clean) => clean.run(global).await,
        }
    }
}
