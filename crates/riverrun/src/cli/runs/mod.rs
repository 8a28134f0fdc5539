//! `riverrun runs`: list, read and steer runs.

mod act;
mod copy;
mod events;
mod list;
mod show;
mod state;
mod story;
mod transfer;
mod why;

use clap::{Args, Subcommand};

use super::Global;
use crate::failure::{Exit, Result};

#[derive(Args, Debug)]
pub struct Runs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List runs, newest first.
    #[command(before_help = "Example: riverrun runs ls --status failed --flow hello")]
    Ls(list::List),
    /// Show a run: status, input, steps, result.
    #[command(before_help = "Example: riverrun runs show latest")]
    Show(show::Show),
    /// Print a run's events.
    #[command(before_help = "Example: riverrun runs events latest --follow")]
    Events(events::Events),
    /// Print a run's state, now or at an earlier moment.
    #[command(before_help = "Example: riverrun runs state latest --at 1761754554858-7")]
    State(state::State),
    /// Say why a run, or a job, does not move.
    #[command(before_help = "Example: riverrun runs why latest")]
    Why(why::Why),
    /// Print all that has one correlation id: events of runs, jobs and triggers, in order.
    #[command(before_help = "Example: riverrun runs story order-42")]
    Story(story::Story),
    /// Stop runs for good.
    #[command(before_help = "Example: riverrun runs cancel latest --reason wrong-input")]
    Cancel(act::Act),
    /// Let runs begin no more steps until they are resumed.
    #[command(before_help = "Example: riverrun runs pause latest")]
    Pause(act::Act),
    /// Let paused runs go on.
    #[command(before_help = "Example: riverrun runs resume latest")]
    Resume(act::Act),
    /// Start a run's flow again with the same input, or another one.
    #[command(before_help = "Example: riverrun runs rerun latest --newest")]
    Rerun(copy::Rerun),
    /// Start a new run from another one's past.
    #[command(before_help = "Example: riverrun runs fork latest --at 1761754554858-7")]
    Fork(copy::Fork),
    /// Delete runs that have ended, with their events.
    #[command(before_help = "Example: riverrun runs delete latest")]
    Delete(act::Delete),
    /// Write runs with their events, one JSON line each.
    #[command(before_help = "Example: riverrun runs export --flow hello > runs.jsonl")]
    Export(transfer::Export),
    /// Read runs that were exported.
    #[command(before_help = "Example: riverrun runs import runs.jsonl")]
    Import(transfer::Import),
}

impl Runs {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls(list) => list.run(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Events(events) => events.run(global).await,
            Command::State(state) => state.run(global).await,
            Command::Why(why) => why.run(global).await,
            Command::Story(story) => story.run(global).await,
            Command::Cancel(act) => act.run(global, "cancel").await,
            Command::Pause(act) => act.run(global, "pause").await,
            Command::Resume(act) => act.run(global, "resume").await,
            Command::Rerun(rerun) => rerun.run(global).await,
            Command::Fork(fork) => fork.run(global).await,
            Command::Delete(delete) => delete.run(global).await,
            Command::Export(export) => export.run(global).await,
            Command::Import(import) => import.run(global).await,
        }
    }
}
