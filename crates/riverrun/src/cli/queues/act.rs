//! `riverrun queues pause|resume|clear|clean`.

use std::time::Duration;

use clap::Args;
use riverrun_store::JobState;
use serde_json::{Value, json};

use crate::{
    cli::Global,
    config::parse_duration,
    failure::{Exit, Result},
    output::{self, Format, paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The names of the queues.
    #[arg(required = true, value_name = "QUEUE")]
    queues: Vec<String>,
}

#[derive(Args, Debug)]
pub struct Clear {
    /// The name of the queue.
    queue: String,
    /// Also remove delayed jobs.
    #[arg(long)]
    delayed: bool,
}

#[derive(Args, Debug)]
pub struct Clean {
    /// The name of the queue.
    queue: String,
    /// The status of the jobs: completed, failed or cancelled.
    #[arg(long, alias = "state", default_value = "completed", value_parser = ended)]
    status: JobState,
    #[command(flatten)]
    which: Which,
}

/// Which ended jobs are removed.
#[derive(Args, Debug)]
pub struct Which {
    /// Only jobs that ended at least this long ago.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    older_than: Option<Duration>,
    /// The most jobs to remove.
    #[arg(long)]
    limit: Option<u64>,
}

impl Which {
    pub fn body(&self) -> Value {
        let mut body = json!({});
        if let Some(age) = self.older_than {
            body["olderThanMs"] = json!(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        }
        if let Some(limit) = self.limit {
            body["limit"] = json!(limit);
        }
        body
    }
}

fn ended(text: &str) -> std::result::Result<JobState, String> {
    JobState::ALL
        .into_iter()
        .find(|state| state.is_ended() && state.as_str() == text)
        .ok_or_else(|| {
            "it must be completed, failed or cancelled; queues clear removes waiting jobs".into()
        })
}

impl Act {
    pub async fn run(self, global: &Global, verb: &str) -> Result<Exit> {
        let client = global.client()?;
        for name in &self.queues {
            let answer = client.post(&["api", "queues", name, verb], None).await?;
            match global.output {
                Format::Table => {
                    let state = match answer.value()["paused"].as_bool() {
                        Some(true) => paint(paint::WARN, "paused"),
                        _ => paint(paint::GOOD, "open"),
                    };
                    output::data(&format!("{} {state}", output::visible(name)));
                }
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }
}

impl Clear {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let body = json!({ "delayed": self.delayed });
        removed(global, &[&self.queue, "clear"], &body).await
    }
}

impl Clean {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let mut body = self.which.body();
        body["status"] = json!(self.status.as_str());
        removed(global, &[&self.queue, "clean"], &body).await
    }
}

/// Removes jobs of a queue and prints how many.
pub async fn removed(global: &Global, path: &[&str], body: &Value) -> Result<Exit> {
    let client = global.client()?;
    let path = [&["api", "queues"], path].concat();
    let answer = client.post(&path, Some(body.to_string())).await?;
    match global.output {
        Format::Table => {
            let done = answer.value();
            output::data(&format!("removed {} jobs", done["removed"]));
            if let Some(left @ 1..) = done["left"].as_u64() {
                output::talk(&format!(
                    "{left} jobs still wait: jobs of steps, and jobs added in the meantime"
                ));
            }
        }
        format => output::json_text(format, &answer.text),
    }
    Ok(Exit::Ok)
}
