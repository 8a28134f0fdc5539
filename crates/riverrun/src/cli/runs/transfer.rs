//! `riverrun runs export|import`: runs with their events as lines of JSON.

use std::path::PathBuf;

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use super::list::{Filter, rows};
use crate::{
    cli::Global,
    client::Client,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Export {
    /// The runs' ids, or latest; all that the filters leave without them.
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    filter: Filter,
}

/// One line of an export.
#[derive(Serialize)]
struct Line {
    run: Json,
    events: Vec<Json>,
}

impl Export {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let mut ids = Vec::new();
        if self.ids.is_empty() {
            let runs = rows(&client, &["api", "runs"], &self.filter.query(), usize::MAX).await?;
            ids.extend(
                runs.iter()
                    .filter_map(|run| Some(run.get("runId")?.as_text().into_owned())),
            );
        }
        for id in &self.ids {
            ids.push(client.run_id(id).await?);
        }
        for id in &ids {
            output::json(Format::Jsonl, &line(&client, id).await?);
        }
        output::talk(&format!("exported {} runs", ids.len()));
        Ok(Exit::Ok)
    }
}

/// The events first: a run that moves meanwhile has at least those that the line holds.
async fn line(client: &Client, id: &str) -> Result<Line> {
    let path = ["api", "runs", id, "events"];
    let events = rows(client, &path, &Vec::new(), usize::MAX).await?;
    let answer = client.get(&["api", "runs", id], &Vec::new()).await?;
    let run = Json::parse_text(answer.text).map_err(|error| {
        Failure::new("NOT_RIVERRUN", format!("the answer is not JSON: {error}"))
    })?;
    Ok(Line { run, events })
}

#[derive(Args, Debug)]
pub struct Import {
    /// The files that runs export wrote.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Import {
    pub fn run(self) -> Result<Exit> {
        let names: Vec<String> = self
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        Err(Failure::usage(
            "NOT_AVAILABLE",
            format!("{} cannot be imported yet", names.join(", ")),
        )
        .note("this version of the server takes no runs from outside; the export stays valid")
        .next("riverrun runs export, and keep the file"))
    }
}
