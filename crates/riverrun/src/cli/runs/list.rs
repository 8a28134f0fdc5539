//! `riverrun runs ls`, and the filters that other commands share.

use clap::Args;
use riverrun::RunStatus;
use serde_json::Value;

use crate::{
    cli::Global,
    client::Query,
    config::show_duration,
    failure::{Exit, Result},
    output::{self, Row, Table, moment, paint},
};

#[derive(Args, Debug)]
pub struct List {
    #[command(flatten)]
    filter: Filter,
    /// The most rows to print.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    /// Print all rows.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// Which runs. Every filter narrows.
#[derive(Args, Debug, Default, Clone)]
pub struct Filter {
    /// Only runs with this status; may be repeated.
    #[arg(long, value_parser = status)]
    status: Vec<RunStatus>,
    /// Only runs of this flow.
    #[arg(long)]
    flow: Option<String>,
    /// Only runs of this version of the flow.
    #[arg(long)]
    version: Option<String>,
    /// Only runs with this tag; may be repeated, and all must match.
    #[arg(long)]
    tag: Vec<String>,
    /// Only runs of this tenant.
    #[arg(long)]
    tenant: Option<String>,
    /// Only runs that this run started.
    #[arg(long, value_name = "RUN")]
    parent: Option<String>,
    /// Only runs whose id starts with this text.
    #[arg(long)]
    prefix: Option<String>,
    /// Only runs created at or after this time: ISO 8601 or milliseconds.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only runs created before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Print the oldest run first.
    #[arg(long)]
    oldest_first: bool,
}

fn status(text: &str) -> std::result::Result<RunStatus, String> {
    RunStatus::parse(text).ok_or_else(|| {
        let known: Vec<&str> = RunStatus::ALL
            .iter()
            .map(|status| status.as_str())
            .collect();
        format!("it must be one of {}", known.join(", "))
    })
}

impl Filter {
    pub fn query(&self) -> Query {
        let status: Vec<&str> = self.status.iter().map(|status| status.as_str()).collect();
        let fields = [
            ("status", (!status.is_empty()).then(|| status.join(","))),
            ("flow", self.flow.clone()),
            ("version", self.version.clone()),
            ("tags", (!self.tag.is_empty()).then(|| self.tag.join(","))),
            ("tenant", self.tenant.clone()),
            ("parent", self.parent.clone()),
            ("prefix", self.prefix.clone()),
            ("since", self.since.clone()),
            ("until", self.until.clone()),
            ("order", self.oldest_first.then(|| "asc".to_owned())),
        ];
        let given = fields
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        given.collect()
    }
}

impl List {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let limit = if self.all {
            usize::MAX
        } else {
            self.limit as usize
        };
        let runs = client
            .rows(&["api", "runs"], &self.filter.query(), limit)
            .await?;
        output::list(global.output, &runs, || {
            if runs.is_empty() {
                return output::talk("no runs");
            }
            let mut table = Table::new(["run", "flow", "status", "created", "took", "about"]);
            runs.iter().for_each(|run| table.push(row(&run.value())));
            table.print();
        });
        Ok(Exit::Ok)
    }
}

/// The time alone where it is on the day of the other one.
fn until(at: &str, created: &str) -> String {
    let at = moment(Some(at));
    match at.split_once(' ') {
        Some((day, time)) if created.starts_with(day) => format!("until {time}"),
        _ => format!("until {at}"),
    }
}

fn row(run: &Value) -> Row {
    let text = |key: &str| run[key].as_str().unwrap_or_default();
    let took = run["durationMs"]
        .as_u64()
        .map(|ms| show_duration(std::time::Duration::from_millis(ms)));
    let tags = || {
        let tags = run["tags"].as_array()?;
        Some(
            tags.iter()
                .filter_map(Value::as_str)
                .map(|tag| format!("#{tag}"))
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    let about = match text("status") {
        "failed" => run["error"]["code"].as_str().map(str::to_owned),
        "waiting" | "pending" => run["wakeAt"]
            .as_str()
            .map(|at| until(at, text("createdAt"))),
        _ => None,
    };
    let about: Vec<String> = about.into_iter().chain(tags()).collect();
    Row::default()
        .cell(text("runId"))
        .cell(format!("{}@{}", text("flow"), text("version")))
        .styled(text("status"), paint::status(text("status")))
        .cell(moment(run["createdAt"].as_str()))
        .cell(took.unwrap_or_else(|| "-".to_owned()))
        .styled(about.join(" "), paint::DIM)
}
