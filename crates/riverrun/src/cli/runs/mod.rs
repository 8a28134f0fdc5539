//! `riverrun runs`: list, read and control runs.

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
    /// Print the events of a run.
    #[command(before_help = "Example: riverrun runs events latest --follow")]
    Events(events::Events),
    /// Print the state of a run, now or at an earlier point.
    #[command(before_help = "Example: riverrun runs state latest --at 1761754554858-7")]
    State(state::State),
    /// Explain why a run or a job does not continue.
    #[command(before_help = "Example: riverrun runs why latest")]
    Why(why::Why),
    /// Print all events with one correlation id, across runs, jobs and triggers.
    #[command(before_help = "Example: riverrun runs story order-42")]
    Story(story::Story),
    /// Cancel runs.
    #[command(before_help = "Example: riverrun runs cancel latest --reason wrong-input")]
    Cancel(act::Act),
    /// Pause runs: no step starts until they are resumed.
    #[command(before_help = "Example: riverrun runs pause latest")]
    Pause(act::Act),
    /// Resume paused and parked runs.
    #[command(before_help = "Example: riverrun runs resume latest")]
    Resume(act::Act),
    /// Start the flow of a run again, with the same or a different input.
    #[command(before_help = "Example: riverrun runs rerun latest --newest")]
    Rerun(copy::Rerun),
    /// Start a new run from an earlier point of another run.
    #[command(before_help = "Example: riverrun runs fork latest --at 1761754554858-7")]
    Fork(copy::Fork),
    /// Delete ended runs with their events.
    #[command(before_help = "Example: riverrun runs delete latest")]
    Delete(act::Delete),
    /// Export runs with their events, one JSON line each.
    #[command(before_help = "Example: riverrun runs export --flow hello > runs.jsonl")]
    Export(transfer::Export),
    /// Import exported runs.
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
