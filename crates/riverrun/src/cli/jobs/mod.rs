//! `riverrun jobs`: add, list, read and control the jobs of queues.

mod act;
mod add;
mod list;
mod logs;
mod show;
mod update;
mod wait;

use clap::{Args, Subcommand};

use super::Global;
use crate::failure::{Exit, Result};

pub use act::act;
pub use list::{Limit, list};

#[derive(Args, Debug)]
pub struct Jobs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the jobs of a queue, or of all queues.
    #[command(before_help = "Example: riverrun jobs ls emails --status waiting --status active")]
    Ls(list::List),
    /// Show a job: status, data, attempts, result.
    #[command(before_help = "Example: riverrun jobs show latest")]
    Show(show::Show),
    /// Add one job to a queue, or many at once.
    #[command(before_help = "Example: riverrun jobs add emails -d '{\"name\": \"Ada\"}' --wait")]
    Add(add::Add),
    /// Queue ended jobs again, starting with their first attempt.
    #[command(before_help = "Example: riverrun jobs retry 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Retry(act::Act),
    /// Cancel jobs: waiting jobs end at once, running ones receive a stop signal.
    #[command(
        before_help = "Example: riverrun jobs cancel 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80 --reason wrong-address"
    )]
    Cancel(act::Cancel),
    /// Start delayed jobs now.
    #[command(before_help = "Example: riverrun jobs promote 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Promote(act::Act),
    /// Change the priority or the delay of jobs that have not started.
    #[command(
        before_help = "Example: riverrun jobs update 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80 --priority 5 --delay 10m"
    )]
    Update(update::Update),
    /// Remove jobs that are not running.
    #[command(before_help = "Example: riverrun jobs rm 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Rm(act::Act),
    /// Print the logs, progress and attempts of a job.
    #[command(before_help = "Example: riverrun jobs logs latest --follow")]
    Logs(logs::Logs),
}

impl Jobs {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls(list) => list.run(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Add(add) => add.run(global).await,
            Command::Retry(act) => act.run(global, "retry").await,
            Command::Cancel(cancel) => cancel.run(global).await,
            Command::Promote(act) => act.run(global, "promote").await,
            Command::Update(update) => update.run(global).await,
            Command::Rm(act) => act.remove(global).await,
            Command::Logs(logs) => logs.run(global).await,
        }
    }
}
