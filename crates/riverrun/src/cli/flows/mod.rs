//! `riverrun flows`: list, check, register and draw flows.

mod graph;
mod list;
mod register;
mod show;
mod validate;

use clap::{Args, Subcommand};

use super::Global;
use crate::failure::{Exit, Result};

pub use validate::built_in;

#[derive(Args, Debug)]
pub struct Flows {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List registered flows.
    #[command(before_help = "Example: riverrun flows ls")]
    Ls(list::List),
    /// Print the definition of a flow.
    #[command(before_help = "Example: riverrun flows show hello@1.0.0")]
    Show(show::Show),
    /// Validate files without a server and print all issues.
    #[command(before_help = "Example: riverrun flows validate flows/hello.yaml")]
    Validate(validate::Validate),
    /// Register files on the server.
    #[command(before_help = "Example: riverrun flows register flows/hello.yaml")]
    Register(register::Register),
    /// Draw a registered flow or a file.
    #[command(before_help = "Example: riverrun flows graph flows/hello.yaml --format mermaid")]
    Graph(graph::Graph),
}

impl Flows {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls(list) => list.run(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Validate(validate) => validate.run(global),
            Command::Register(register) => register.run(global).await,
            Command::Graph(graph) => graph.run(global).await,
        }
    }
}
