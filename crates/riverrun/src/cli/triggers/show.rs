//! `riverrun triggers show`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint},
};

#[derive(Args, Debug)]
pub struct Show {
    /// The id of the trigger.
    trigger: String,
}

impl Show {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let path = ["api", "triggers", &self.trigger];
        let answer = global.client()?.get(&path, &Vec::new()).await?;
        match global.output {
            Format::Table => show(&answer.value()),
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}

fn show(trigger: &Value) {
    let line = output::field;
    let (stats, text) = (&trigger["stats"], |key: &str| trigger[key].as_str());
    line("trigger", text("id").unwrap_or_default());
    line("type", text("type").unwrap_or_default());
    let flow = text("flow").unwrap_or_default();
    let flow = match text("flowVersion") {
        Some(version) => format!("{flow}@{version}"),
        None => flow.to_owned(),
    };
    line("flow", &flow);
    match trigger["enabled"].as_bool() {
        Some(true) => line("state", "enabled"),
        _ => output::painted_field("state", paint::WARN, "disabled"),
    }
    if let Some(message) = trigger["broken"]["message"].as_str() {
        output::painted_field("broken", paint::BAD, message);
    }
    line("version", &trigger["version"].to_string());
    line("kept by", text("origin").unwrap_or_default());
    if let Some(path) = text("path") {
        line("path", path);
    }
    line("config", &trigger["config"].to_string());
    for due in trigger["upcoming"].as_array().into_iter().flatten() {
        line("due", &output::moment(due.as_str()));
    }
    let counts = ["fired", "failed", "missed"].map(|key| format!("{key} {}", stats[key]));
    line("counts", &counts.join(", "));
    if let Some(run) = stats["lastRunId"].as_str() {
        let at = output::moment(stats["lastFiredAt"].as_str());
        line("last run", &format!("{run} at {at}"));
    }
    if let Some(message) = stats["lastError"]["message"].as_str() {
        let at = output::moment(stats["lastFailedAt"].as_str());
        let code = stats["lastError"]["code"].as_str().unwrap_or_default();
        output::painted_field("failed", paint::BAD, &format!("{at} {code}: {message}"));
    }
}
