//! `riverrun queues show`.

use clap::Args;
use serde_json::Value;

use super::{age, count, rate};
use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint},
};

#[derive(Args, Debug)]
pub struct Show {
    /// The name of the queue.
    queue: String,
}

impl Show {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let path = ["api", "queues", &self.queue];
        let answer = client.get(&path, &Vec::new()).await?;
        match global.output {
            Format::Table => show(&answer.value()),
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}

fn show(queue: &Value) {
    let (line, stats) = (output::field, &queue["stats"]);
    line("queue", queue["name"].as_str().unwrap_or_default());
    match queue["paused"].as_bool() {
        Some(true) => output::painted_field("state", paint::WARN, "paused"),
        _ => line("state", "open"),
    }
    line(
        "process",
        queue["process"].as_str().unwrap_or("none takes its jobs"),
    );
    for state in [
        "waiting",
        "delayed",
        "active",
        "parked",
        "completed",
        "failed",
        "cancelled",
    ] {
        line(state, &count(&queue["counts"][state]));
    }
    line("oldest", &age(&queue["oldestMs"]));
    let rates = [
        ("started", "startedPerS"),
        ("completed", "completedPerS"),
        ("failed", "failedPerS"),
    ];
    let rates = rates.map(|(name, key)| format!("{name} {}/s", rate(&stats[key])));
    line("rates", &rates.join(", "));
    for (title, key) in [("wait", "waitMs"), ("total", "totalMs")] {
        let percentiles =
            ["p50", "p95", "p99"].map(|name| format!("{name} {}", age(&stats[key][name])));
        line(title, &percentiles.join(", "));
    }
}
