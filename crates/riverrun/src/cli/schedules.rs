//! `riverrun schedules`: list due times, and start runs for past ones.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Global, triggers};
use crate::{
    failure::{Exit, Result},
    output::{self, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct Schedules {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List schedules with their due times.
    #[command(before_help = "Example: riverrun schedules ls")]
    Ls,
    /// Start the missing runs for a range of due times.
    #[command(
        before_help = "Example: riverrun schedules backfill nightly --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --forgotten"
    )]
    Backfill(Backfill),
}

#[derive(Args, Debug)]
struct Backfill {
    /// The id of the schedule.
    schedule: String,
    /// The start of the range, inclusive.
    #[arg(long, value_name = "TIME")]
    from: String,
    /// The end of the range, exclusive.
    #[arg(long, value_name = "TIME")]
    to: String,
    /// The most due times, the earliest first.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
    /// Also start due times that are older than the shortest retention of ended runs. Their runs may
    /// have been deleted, so they may run a second time.
    #[arg(long)]
    forgotten: bool,
}

impl Schedules {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls => triggers::print(global, &["api", "schedules"], None).await,
            Command::Backfill(backfill) => backfill.run(global).await,
        }
    }
}

impl Backfill {
    async fn run(self, global: &Global) -> Result<Exit> {
        let body = json!({
            "from": self.from, "to": self.to, "limit": self.limit, "forgotten": self.forgotten,
        });
        let path = ["api", "schedules", &self.schedule, "backfill"];
        let answer = global.client()?.post(&path, Some(body.to_string())).await?;
        let (done, items) = (answer.value(), answer.items());
        output::list(global.output, &items, || {
            let mut table = Table::new(["due", "run", "news"]);
            items.iter().for_each(|item| table.push(row(&item.value())));
            table.print();
        });
        output::talk(&format!(
            "{} of {} runs are new",
            done["created"],
            items.len()
        ));
        let failed = done["failed"].as_u64().unwrap_or_default();
        if failed > 0 {
            let text = |key: &str| done["firstError"][key].as_str().unwrap_or_default();
            output::talk(&format!(
                "{failed} could not be started, the first with {}: {}",
                text("code"),
                text("message")
            ));
        }
        if let Some(next) = done["nextFrom"].as_str() {
            output::talk(&format!("there are more\n  try: --from {next}"));
        }
        Ok(match failed {
            0 => Exit::Ok,
            _ => Exit::Failed,
        })
    }
}

fn row(item: &Value) -> Row {
    let row = Row::default()
        .cell(output::moment(item["dueAt"].as_str()))
        .styled(item["runId"].as_str().unwrap_or("-"), paint::NAME);
    match item["created"].as_bool() {
        _ if item["error"].is_object() => row.styled(
            item["error"]["code"].as_str().unwrap_or_default(),
            paint::BAD,
        ),
        Some(true) => row.styled("started", paint::GOOD),
        _ => row.styled("was there", paint::DIM),
    }
}
