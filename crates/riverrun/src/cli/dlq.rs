//! `riverrun dlq`: list, redrive and purge failed jobs.

use clap::{Args, Subcommand};
use riverrun_types::ErrorCode;
use serde_json::{Value, json};

use super::{
    Global,
    jobs::{self, Limit},
    queues::{Which, removed},
};
use crate::{
    client::Client,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Dlq {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the dead letters of a queue, newest first.
    #[command(before_help = "Example: riverrun dlq ls emails --code SMTP_DOWN")]
    Ls(List),
    /// Queue dead letters again, starting with their first attempt.
    #[command(
        before_help = "Example: riverrun dlq redrive emails --code SMTP_DOWN --per-second 20"
    )]
    Redrive(Redrive),
    /// Remove dead letters.
    #[command(before_help = "Example: riverrun dlq purge emails --older-than 30d")]
    Purge(Purge),
}

#[derive(Args, Debug)]
struct List {
    /// The name of the queue.
    queue: String,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Args, Debug)]
struct Redrive {
    /// The name of the queue.
    queue: String,
    /// The ids of the jobs. Default: all dead letters of the queue.
    #[arg(value_name = "ID", conflicts_with_all = [
        "limit", "per_second", "code", "name", "key", "tag", "before", "after",
    ])]
    ids: Vec<String>,
    /// The most jobs to queue, the newest first.
    #[arg(long)]
    limit: Option<u64>,
    /// The most jobs to start per second.
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..))]
    per_second: Option<u32>,
    #[command(flatten)]
    chosen: Chosen,
}

// Only dead letters that have all that is named. No doc comment: it would be taken for the help of
// the command that this is a part of.
#[derive(Args, Debug)]
struct Chosen {
    /// Only jobs whose error has this code.
    #[arg(long)]
    code: Option<String>,
    /// Only jobs with this name.
    #[arg(long)]
    name: Option<String>,
    /// Only jobs with this key.
    #[arg(long)]
    key: Option<String>,
    /// Only jobs with this tag.
    #[arg(long)]
    tag: Option<String>,
    /// Only jobs that failed at or before this time (ISO 8601 or milliseconds).
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Only jobs that failed at or after this time.
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
}

impl Chosen {
    fn given(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let all = [
            ("code", &self.code),
            ("name", &self.name),
            ("key", &self.key),
            ("tag", &self.tag),
            ("before", &self.before),
            ("after", &self.after),
        ];
        all.into_iter()
            .filter_map(|(member, text)| Some((member, text.as_ref()?)))
    }

    fn add_to(&self, body: &mut Value) {
        for (member, text) in self.given() {
            body["filter"][member] = json!(text);
        }
    }
}

#[derive(Args, Debug)]
struct Purge {
    /// The name of the queue.
    queue: String,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    chosen: Chosen,
}

impl Dlq {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command {
            Command::Ls(list) => {
                let path = ["api", "queues", &list.queue, "dlq"];
                let chosen = list.chosen.given();
                let query = chosen
                    .map(|(member, text)| (member, text.clone()))
                    .collect();
                jobs::list(global, &path, &query, &list.limit, "no dead letters").await
            }
            Command::Redrive(redrive) => redrive.run(global).await,
            Command::Purge(purge) => {
                let path = [purge.queue.as_str(), "dlq", "purge"];
                let mut body = purge.which.body();
                purge.chosen.add_to(&mut body);
                removed(global, &path, &body).await
            }
        }
    }
}

impl Redrive {
    async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        if !self.ids.is_empty() {
            for id in &self.ids {
                self.check(&client, id).await?;
            }
            return jobs::act(global, &self.ids, "retry", &json!({})).await;
        }
        let mut body = json!({});
        if let Some(limit) = self.limit {
            body["limit"] = json!(limit);
        }
        if let Some(per_second) = self.per_second {
            body["perSecond"] = json!(per_second);
        }
        self.chosen.add_to(&mut body);
        let path = ["api", "queues", &self.queue, "dlq", "redrive"];
        let answer = client.post(&path, Some(body.to_string())).await?;
        match global.output {
            Format::Table => {
                let answer = answer.value();
                let rest = match answer["goesOn"].as_bool() {
                    Some(true) => "; the others follow in the background",
                    _ => "",
                };
                output::data(&format!(
                    "{} jobs are queued again{rest}",
                    answer["redriven"]
                ));
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }

    /// A job that is named is a dead letter of the queue that is named.
    async fn check(&self, client: &Client, id: &str) -> Result<()> {
        let job = client.get(&["api", "jobs", id], &Vec::new()).await?.value();
        let text = |key: &str| job[key].as_str().unwrap_or_default();
        let (queue, state) = (text("queue"), text("state"));
        let message = if queue != self.queue {
            format!(
                "job {id} is not in queue {:?}, but in {queue:?}",
                self.queue
            )
        } else if state != "failed" {
            format!("job {id} is {state}, not a dead letter")
        } else {
            return Ok(());
        };
        Err(Failure::usage(ErrorCode::JobState, message).next(format!("riverrun jobs show {id}")))
    }
}
