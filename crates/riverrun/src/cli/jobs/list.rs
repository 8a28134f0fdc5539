//! `riverrun jobs ls`, and the table that dead letters are shown in as well.

use clap::Args;
use riverrun_store::JobState;
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
    /// The name of the queue. Without it, all queues, one after the other.
    queue: Option<String>,
    /// Only jobs with this status; may be repeated.
    #[arg(long, alias = "state", value_parser = status)]
    status: Vec<JobState>,
    /// Only jobs with this name.
    #[arg(long)]
    name: Option<String>,
    /// Only jobs with this key.
    #[arg(long)]
    key: Option<String>,
    /// Only jobs with this tag; may be repeated, and all must match.
    #[arg(long)]
    tag: Vec<String>,
    #[command(flatten)]
    limit: Limit,
}

/// How many rows.
#[derive(Args, Debug)]
pub struct Limit {
    /// The most rows to print.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    /// Print all rows.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl Limit {
    fn rows(&self) -> usize {
        match self.all {
            true => usize::MAX,
            false => self.limit as usize,
        }
    }
}

fn status(text: &str) -> std::result::Result<JobState, String> {
    JobState::ALL
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| {
            let known = JobState::ALL.map(JobState::as_str).join(", ");
            format!("it must be one of {known}")
        })
}

impl List {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let mut query: Query = Vec::new();
        if !self.status.is_empty() {
            let words: Vec<&str> = self.status.iter().map(|status| status.as_str()).collect();
            query.push(("status", words.join(",")));
        }
        let tags = (!self.tag.is_empty()).then(|| self.tag.join(","));
        for (member, text) in [("name", self.name), ("key", self.key), ("tags", tags)] {
            query.extend(text.map(|text| (member, text)));
        }
        match &self.queue {
            Some(queue) => {
                let path = ["api", "queues", queue, "jobs"];
                list(global, &path, &query, &self.limit, "no jobs").await
            }
            None => {
                // Without a queue, a status would select the jobs of runs.
                query.push(("queue", "*".to_owned()));
                list(global, &["api", "jobs"], &query, &self.limit, "no jobs").await
            }
        }
    }
}

/// Prints the jobs that a path lists.
pub async fn list(
    global: &Global,
    path: &[&str],
    query: &Query,
    limit: &Limit,
    none: &str,
) -> Result<Exit> {
    let client = global.client()?;
    let jobs = client.rows(path, query, limit.rows()).await?;
    output::list(global.output, &jobs, || {
        if jobs.is_empty() {
            return output::talk(none);
        }
        let mut table = Table::new([
            "job", "queue", "name", "state", "attempt", "created", "took", "about",
        ]);
        jobs.iter().for_each(|job| table.push(row(&job.value())));
        table.print();
    });
    Ok(Exit::Ok)
}

fn row(job: &Value) -> Row {
    let text = |key: &str| job[key].as_str().unwrap_or_default();
    let state = text("state");
    let mut about = Vec::new();
    match state {
        "failed" => about.extend(job["error"]["code"].as_str().map(str::to_owned)),
        "delayed" => about.push(format!("until {}", moment(job["runAt"].as_str()))),
        "active" => about.extend(job["progress"]["pct"].as_f64().map(|pct| format!("{pct}%"))),
        _ => {}
    }
    if job["cancelling"] == true {
        about.push("cancelling".to_owned());
    }
    if let Some(priority) = job["priority"].as_i64().filter(|priority| *priority != 0) {
        about.push(format!("priority {priority}"));
    }
    about.extend(job["key"].as_str().map(|key| format!("key {key}")));
    let tags = job["tags"].as_array().into_iter().flatten();
    about.extend(tags.filter_map(Value::as_str).map(|tag| format!("#{tag}")));
    Row::default()
        .cell(text("id"))
        .cell(text("queue"))
        .cell(text("name"))
        .styled(state, paint::status(state))
        .cell(job["attempt"].to_string())
        .cell(moment(job["createdAt"].as_str()))
        .cell(took(job).unwrap_or_else(|| "-".to_owned()))
        .styled(about.join(" "), paint::DIM)
}

/// From the beginning of its last attempt to its end.
pub fn took(job: &Value) -> Option<String> {
    let at = |key: &str| riverrun_types::time::parse(job[key].as_str()?);
    let ms = at("endedAt")?.checked_sub(at("startedAt")?)?;
    let ms = u64::try_from(ms).ok()?;
    Some(show_duration(std::time::Duration::from_millis(ms)))
}
