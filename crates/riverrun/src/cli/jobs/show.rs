//! `riverrun jobs show`.

use clap::Args;
use serde_json::Value;

use super::list::took;
use crate::{
    cli::Global,
    client::Answer,
    failure::{Exit, Result},
    output::{self, Format, moment, paint},
};

#[derive(Args, Debug)]
pub struct Show {
    /// The id of the job, or latest.
    id: String,
}

impl Show {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let id = client.job_id(&self.id).await?;
        let answer = client.get(&["api", "jobs", &id], &Vec::new()).await?;
        match global.output {
            Format::Table => show(&answer),
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}

fn show(answer: &Answer) {
    let job = answer.value();
    let (line, text) = (output::field, |key: &str| {
        job[key].as_str().unwrap_or_default()
    });
    line("job", text("id"));
    if let Some(run) = job["runId"].as_str() {
        // The work behind a run is a job as well, and has its own page.
        line("run", &format!("{run}, see riverrun runs show {run}"));
    }
    // A job of a queue has a state, the one behind a run the run's status.
    let state = job["state"].as_str().unwrap_or(text("status"));
    for key in ["queue", "name", "flow"] {
        if let Some(value) = job[key].as_str() {
            line(key, value);
        }
    }
    output::painted_field("state", paint::status(state), state);
    if job["cancelling"] == true {
        line("cancel", "it was asked to stop");
    }
    if let Some(attempt) = job["attempt"].as_u64() {
        match job["attempts"].as_u64() {
            Some(most) => line("attempt", &format!("{attempt} of at most {most}")),
            None => line("attempt", &attempt.to_string()),
        }
    }
    for (title, key) in [
        ("created", "createdAt"),
        ("runs at", "runAt"),
        ("due", "dueAt"),
        ("started", "startedAt"),
        ("lease", "leaseUntil"),
    ] {
        if job[key].is_string() {
            line(title, &moment(job[key].as_str()));
        }
    }
    if job["endedAt"].is_string() {
        let took = took(&job).map(|took| format!(", took {took}"));
        let ended = moment(job["endedAt"].as_str());
        line("ended", &format!("{ended}{}", took.unwrap_or_default()));
    }
    labels(&job);
    if let Some(code) = job["error"]["code"].as_str() {
        let message = job["error"]["message"].as_str().unwrap_or_default();
        output::painted_field("error", paint::BAD, &format!("{code}: {message}"));
        let stack = output::stack_lines(job["error"]["stack"].as_str(), message);
        stack
            .iter()
            .for_each(|line| output::data(&paint::paint(paint::DIM, line)));
    }
    let room = output::field_room();
    for (title, key) in [
        ("data", "data"),
        ("metadata", "metadata"),
        ("progress", "progress"),
        ("saved", "checkpoint"),
        ("result", "result"),
    ] {
        if let Some(value) = answer.member(key) {
            line(title, &output::shorten(value.as_str(), room));
        }
    }
}

fn labels(job: &Value) {
    if let Some(priority) = job["priority"].as_i64().filter(|priority| *priority != 0) {
        output::field("priority", &priority.to_string());
    }
    for (title, key) in [("key", "key"), ("tenant", "tenantId"), ("worker", "owner")] {
        if let Some(value) = job[key].as_str() {
            output::field(title, value);
        }
    }
    if let Some(tags) = job["tags"].as_array() {
        let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
        output::field("tags", &tags.join(", "));
    }
}
