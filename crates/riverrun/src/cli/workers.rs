//! `riverrun workers`: the remote workers of a server.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::Global;
use crate::{
    config::parse_duration,
    failure::{Exit, Result},
    output::{self, Format, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct Workers {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List workers that are connected or may reconnect.
    #[command(before_help = "Example: riverrun workers ls")]
    Ls,
    /// Give workers no more work; they disconnect when their current work has ended.
    #[command(before_help = "Example: riverrun workers drain 3 --grace 5m")]
    Drain {
        /// The ids of the workers.
        #[arg(required = true)]
        ids: Vec<String>,
        /// How long to wait for their current work. Work that takes longer runs again elsewhere.
        #[arg(long, value_parser = parse_duration, value_name = "TIME", default_value = "30s")]
        grace: std::time::Duration,
    },
}

impl Workers {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        match self.command {
            Command::Ls => {
                let found = client.get(&["api", "workers"], &Vec::new()).await?.items();
                output::list(global.output, &found, || {
                    if found.is_empty() {
                        return output::talk(
                            "no workers\n  try: riverrun worker --project <folder>",
                        );
                    }
                    let titles = [
                        "id",
                        "worker",
                        "state",
                        "running",
                        "window",
                        "sdk",
                        "tags",
                        "processes",
                        "since",
                    ];
                    let mut table = Table::new(titles).numbers(3..5);
                    found
                        .iter()
                        .for_each(|worker| table.push(row(&worker.value())));
                    table.print();
                    for worker in &found {
                        tell_faults(&worker.value());
                    }
                });
            }
            Command::Drain { ids, grace } => {
                let grace = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
                for id in ids {
                    let body = json!({ "graceMs": grace }).to_string();
                    let path = ["api", "workers", &id, "drain"];
                    let answer = client.post(&path, Some(body)).await?;
                    match global.output {
                        Format::Table => {
                            let worker = answer.value();
                            let name = worker["name"].as_str().unwrap_or_default();
                            output::data(&format!("{name} ends after {} jobs", worker["running"]));
                        }
                        format => output::json_text(format, &answer.text),
                    }
                }
            }
        }
        Ok(Exit::Ok)
    }
}

fn tell_faults(worker: &Value) {
    let text = |value: &Value| output::visible(value.as_str().unwrap_or_default()).to_string();
    for fault in worker["faults"].as_array().into_iter().flatten() {
        let (name, code) = (text(&worker["name"]), text(&fault["code"]));
        output::talk(&format!("{name}: {code}: {}", text(&fault["message"])));
    }
}

fn row(worker: &Value) -> Row {
    let text = |key: &str| worker[key].as_str().unwrap_or("-").to_owned();
    let list = |key: &str| {
        let items = worker[key].as_array().into_iter().flatten();
        let items: Vec<&str> = items.filter_map(Value::as_str).collect();
        match items.is_empty() {
            true => "-".to_owned(),
            false => output::shorten(&items.join(", "), 60),
        }
    };
    let style = match worker["state"].as_str() {
        Some("connected") => paint::GOOD,
        _ => paint::WARN,
    };
    Row::default()
        .cell(worker["id"].to_string())
        .styled(text("name"), paint::NAME)
        .styled(text("state"), style)
        .cell(worker["running"].to_string())
        .cell(worker["window"].to_string())
        .cell(text("sdk"))
        .cell(list("tags"))
        .cell(list("processes"))
        .styled(text("since"), paint::DIM)
}
