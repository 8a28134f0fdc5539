//! `riverrun runs show`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    client::{Answer, Client},
    config::show_duration,
    failure::{Exit, Result},
    output::{self, Format, Row, Table, moment, paint},
};

#[derive(Args, Debug)]
pub struct Show {
    /// The id of the run, or latest.
    id: String,
}

impl Show {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let answer = client.get(&["api", "runs", &self.id], &Vec::new()).await?;
        match global.output {
            Format::Table => show(&answer, self.why(&client, &answer).await.as_deref()),
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }

    /// Why the run does not move, if it does not. What is shown does not depend on the answer.
    async fn why(&self, client: &Client, answer: &Answer) -> Option<String> {
        let run = answer.value();
        if run["endedAt"].is_string() {
            return None;
        }
        let path = ["api", "runs", run["runId"].as_str()?, "why"];
        let why = client.get(&path, &Vec::new()).await.ok()?.value();
        let summary = why["summary"].as_str().filter(|_| why["moving"] == false);
        summary.map(str::to_owned)
    }
}

fn show(answer: &Answer, why: Option<&str>) {
    let run = answer.value();
    let text = |key: &str| run[key].as_str().unwrap_or_default();
    let (line, painted) = (output::field, output::painted_field);
    line("run", text("runId"));
    line("flow", &format!("{}@{}", text("flow"), text("version")));
    painted("status", paint::status(text("status")), text("status"));
    if let Some(why) = why {
        line("why", why);
    }
    let took = run["durationMs"]
        .as_u64()
        .map(|ms| show_duration(std::time::Duration::from_millis(ms)));
    let took = took
        .map(|took| format!(", took {took}"))
        .unwrap_or_default();
    line(
        "created",
        &format!("{}{took}", moment(run["createdAt"].as_str())),
    );
    for (title, key) in [
        ("continues", "wakeAt"),
        ("tenant", "tenantId"),
        ("key", "idempotencyKey"),
    ] {
        if let Some(value) = run[key].as_str() {
            line(title, value);
        }
    }
    for (title, key) in [("parent", "parent"), ("from", "forkedFrom")] {
        if let Some(value) = run[key]["runId"].as_str() {
            line(title, value);
        }
    }
    if let Some(tags) = run["tags"].as_array() {
        let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
        line("tags", &tags.join(", "));
    }
    if let Some(code) = run["error"]["code"].as_str() {
        let message = run["error"]["message"].as_str().unwrap_or_default();
        painted("error", paint::BAD, &format!("{code}: {message}"));
    }
    let room = output::field_room();
    for key in ["input", "result", "state"] {
        // A flow may name its whole state as its result.
        if key == "state" && run["result"] == run["state"] {
            continue;
        }
        if let Some(value) = answer.member(key) {
            line(key, &output::shorten(value.as_str(), room));
        }
    }
    line("events", &run["events"].to_string());
    steps(&run["steps"]);
}

fn steps(steps: &Value) {
    let Some(steps) = steps.as_object().filter(|steps| !steps.is_empty()) else {
        return;
    };
    let mut table = Table::new(["step", "status", "visits", "attempt", "started", "error"]);
    for (name, step) in steps {
        let status = step["status"].as_str().unwrap_or_default();
        let started = step["startedAt"].as_str().and_then(|at| at.get(11..23));
        table.push(
            Row::default()
                .cell(name)
                .styled(status, paint::status(status))
                .cell(step["visits"].to_string())
                .cell(step["attempt"].to_string())
                .cell(started.unwrap_or("-"))
                .cell(step["error"]["message"].as_str().unwrap_or_default()),
        );
    }
    output::data("");
    table.print();
}
