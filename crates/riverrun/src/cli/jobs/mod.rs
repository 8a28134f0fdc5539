//! `riverrun jobs`: add, list, read and steer the jobs of queues.

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
    /// List jobs: of a queue, or of all of them.
    #[command(before_help = "Example: riverrun jobs ls emails --state waiting --state active")]
    Ls(list::List),
    /// Show a job: state, data, attempts, result.
    #[command(before_help = "Example: riverrun jobs show latest")]
    Show(show::Show),
    /// Add one job to a queue, or many at once.
    #[command(before_help = "Example: riverrun jobs add emails -d '{\"name\": \"Ada\"}' --wait")]
    Add(add::Add),
    /// Let jobs that have ended wait again, from their first attempt on.
    #[command(before_help = "Example: riverrun jobs retry 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Retry(act::Act),
    /// Stop jobs: those that wait end at once, those that run are told to.
    #[command(
        before_help = "Example: riverrun jobs cancel 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80 --reason wrong-address"
    )]
    Cancel(act::Cancel),
    /// Let delayed jobs begin now.
    #[command(before_help = "Example: riverrun jobs promote 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Promote(act::Act),
    /// Change the priority or the time of jobs that have not begun.
    #[command(
        before_help = "Example: riverrun jobs update 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80 --priority 5 --delay 10m"
    )]
    Update(update::Update),
    /// Remove jobs that do not run.
    #[command(before_help = "Example: riverrun jobs rm 01996a3e-7c1f-7d2e-9a51-0f4c5d6e7f80")]
    Rm(act::Act),
    /// Print what became of a job and what it said: logs, progress, attempts.
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
