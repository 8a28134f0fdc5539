//! `riverrun triggers`: list, show and control what starts flows from outside.

mod act;
mod add;
mod fire;
mod history;
mod list;
mod show;

use clap::{Args, Subcommand};

use super::Global;
use crate::failure::{Exit, Result};

pub use list::print;

#[derive(Args, Debug)]
pub struct Triggers {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List triggers with their flows, counts and due times.
    #[command(before_help = "Example: riverrun triggers ls --type http")]
    Ls(list::List),
    /// Show a trigger.
    #[command(before_help = "Example: riverrun triggers show nightly")]
    Show(show::Show),
    /// Create triggers from files.
    #[command(before_help = "Example: riverrun triggers add triggers/nightly.yaml")]
    Add(add::Add),
    /// Remove triggers. Their runs continue.
    #[command(before_help = "Example: riverrun triggers rm nightly")]
    Rm(act::Act),
    /// Enable triggers.
    #[command(before_help = "Example: riverrun triggers enable nightly")]
    Enable(act::Act),
    /// Disable triggers: they start no runs until they are enabled.
    #[command(before_help = "Example: riverrun triggers disable nightly")]
    Disable(act::Act),
    /// Fire a trigger manually.
    #[command(before_help = "Example: riverrun triggers fire nightly -d '{\"name\": \"Ada\"}'")]
    Fire(fire::Fire),
    /// Show the events of a trigger, the latest first.
    #[command(before_help = "Example: riverrun triggers history nightly")]
    History(history::History),
}

impl Triggers {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls(list) => list.run(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Add(add) => add.run(global).await,
            Command::Rm(act) => act.remove(global).await,
            Command::Enable(act) => act.switch(global, "enable").await,
            Command::Disable(act) => act.switch(global, "disable").await,
            Command::Fire(fire) => fire.run(global).await,
            Command::History(history) => history.run(global).await,
        }
    }
}
