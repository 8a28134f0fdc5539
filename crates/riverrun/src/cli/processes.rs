//! `riverrun processes`: the work that a server can run.

use clap::{Args, Subcommand};
use riverrun::Json;
use riverrun_types::ErrorCode;
use serde_json::Value;

use super::Global;
use crate::{
    failure::{Exit, Failure, Result},
    output::{self, Format, Row, Table, paint},
};

/// What a table shows of an error; `processes show` has all of it.
const ERROR_CHARS: usize = 120;

#[derive(Args, Debug)]
pub struct Processes {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List processes: queue workers, steps and callables.
    #[command(before_help = "Example: riverrun processes ls")]
    Ls,
    /// Show a process: its queue, file and config.
    #[command(before_help = "Example: riverrun processes show send-email")]
    Show {
        /// The id of the process.
        id: String,
    },
}

impl Processes {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let found = client
            .get(&["api", "processes"], &Vec::new())
            .await?
            .items();
        match self.command {
            Command::Ls => list(global.output, &found),
            Command::Show { id } => show(global.output, &found, &id)?,
        }
        Ok(Exit::Ok)
    }
}

fn list(format: Format, processes: &[Json]) {
    output::list(format, processes, || {
        if processes.is_empty() {
            return output::talk("no processes");
        }
        let mut table = Table::new(["process", "mode", "queue", "language", "file", "error"]);
        for process in processes {
            let process = process.value();
            let text = |key: &str| process[key].as_str().unwrap_or("-").to_owned();
            table.push(
                Row::default()
                    .styled(text("id"), paint::NAME)
                    .cell(text("runMode"))
                    .cell(text("queue"))
                    .cell(text("language"))
                    .styled(text("file"), paint::DIM)
                    .styled(
                        output::shorten(&error(&process).unwrap_or_default(), ERROR_CHARS),
                        paint::BAD,
                    ),
            );
        }
        table.print();
    });
}

/// Why its file does not load, in one line.
fn error(process: &Value) -> Option<String> {
    let error = process.get("error")?;
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let message = text("message").lines().next().unwrap_or_default();
    Some(format!("{}: {message}", text("code")))
}

fn show(format: Format, processes: &[Json], id: &str) -> Result<()> {
    let named = |process: &&Json| process.value()["id"].as_str() == Some(id);
    let Some(found) = processes.iter().find(named) else {
        let message = format!("there is no process {id:?}");
        return Err(
            Failure::usage(ErrorCode::ProcessNotFound, message).next("riverrun processes ls")
        );
    };
    if format != Format::Table {
        output::json_text(format, found.as_str());
        return Ok(());
    }
    let process: Value = found.value();
    for (title, key) in [
        ("process", "id"),
        ("mode", "runMode"),
        ("queue", "queue"),
        ("language", "language"),
        ("file", "file"),
    ] {
        if let Some(value) = process[key].as_str() {
            output::field(title, value);
        }
    }
    if let Some(error) = error(&process) {
        output::field("error", &error);
    }
    if let Some(config) = found.get("config") {
        output::json_text(Format::Json, config.as_str());
    }
    Ok(())
}
