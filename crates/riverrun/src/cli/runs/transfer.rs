//! `riverrun runs export|import`: runs with their events as lines of JSON.

use riverrun_types::ErrorCode;
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use super::list::Filter;
use crate::{
    cli::Global,
    client::Client,
    failure::{Exit, Failure, Result},
    files,
    output::{self, Format},
};

/// Bytes of a line that is to be imported: more than a server takes in one request.
const MAX_LINE: usize = 256 << 20;

#[derive(Args, Debug)]
pub struct Export {
    /// The ids of the runs, or latest. Default: all runs that match the filters.
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Include the secrets of signed callbacks, so that runs that wait for them can be imported.
    #[arg(long)]
    secrets: bool,
}

/// One line of an export.
#[derive(Serialize)]
struct Line {
    run: Json,
    events: Vec<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    awaits: Vec<Json>,
}

impl Export {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let mut ids = Vec::new();
        if self.ids.is_empty() {
            let runs = client
                .rows(&["api", "runs"], &self.filter.query(), usize::MAX)
                .await?;
            ids.extend(
                runs.iter()
                    .filter_map(|run| Some(run.get("runId")?.as_text().into_owned())),
            );
        }
        for id in &self.ids {
            ids.push(client.run_id(id).await?);
        }
        for id in &ids {
            output::json(Format::Jsonl, &line(&client, id, self.secrets).await?);
        }
        output::talk(&format!("exported {} runs", ids.len()));
        Ok(Exit::Ok)
    }
}

/// The events first: a run that moves meanwhile has at least those that the line holds.
async fn line(client: &Client, id: &str, secrets: bool) -> Result<Line> {
    let path = ["api", "runs", id, "events"];
    let events = client.rows(&path, &Vec::new(), usize::MAX).await?;
    let answer = client.get(&["api", "runs", id], &Vec::new()).await?;
    let run = Json::parse_text(answer.text).map_err(|error| {
        Failure::new(
            ErrorCode::NotRiverrun,
            format!("the answer is not JSON: {error}"),
        )
    })?;
    let path = ["api", "runs", id, "awaits"];
    let query = vec![("secrets", secrets.to_string())];
    let awaits = client.get(&path, &query).await?.items();
    Ok(Line {
        run,
        events,
        awaits,
    })
}

#[derive(Args, Debug)]
pub struct Import {
    /// The exported files; - reads standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Import {
    /// Takes every run in, line by line. A line that is refused is named with the reason, and the
    /// others still come in.
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let (mut taken, mut refused) = (0, None::<Failure>);
        for file in &self.files {
            let mut lines = open(file)?;
            let mut at = 0;
            while let Some(line) = files::read_line(&mut lines, "the export", file, MAX_LINE)? {
                at += 1;
                if line.trim().is_empty() {
                    continue;
                }
                match client.post(&["api", "runs", "import"], Some(line)).await {
                    Ok(_) => taken += 1,
                    // The other lines would fare no better.
                    Err(failure) if matches!(failure.exit, Exit::Unreachable | Exit::Timeout) => {
                        return Err(failure);
                    }
                    Err(failure) => {
                        let message = format!("{} line {at}: {}", file.display(), failure.message);
                        let failure = Failure { message, ..failure };
                        // The last one is what the command ends with.
                        if let Some(earlier) = refused.replace(failure) {
                            output::talk(&earlier.to_string());
                        }
                    }
                }
            }
        }
        output::talk(&format!("imported {taken} runs"));
        refused.map_or(Ok(Exit::Ok), Err)
    }
}

fn open(file: &Path) -> Result<Box<dyn BufRead>> {
    Ok(match file.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(BufReader::new(files::open("the export", file)?)),
    })
}
