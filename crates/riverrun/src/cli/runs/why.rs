//! `riverrun runs why`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint},
};

#[derive(Args, Debug)]
pub struct Why {
    /// The id of a run, a job or a call, or latest.
    id: String,
}

impl Why {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let path = ["api", "runs", &self.id, "why"];
        let answer = client.get(&path, &Vec::new()).await?;
        match global.output {
            Format::Table => show(&answer.value()),
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}

fn show(why: &Value) {
    let text = |key: &str| why[key].as_str().unwrap_or_default();
    let kind = match text("kind") {
        kind @ ("job" | "call") => kind,
        _ => "run",
    };
    output::field(kind, text("runId"));
    output::painted_field("status", paint::status(text("status")), text("status"));
    if let Some(code) = why["failing"].as_str() {
        let says = format!("it fails with {code} once what is active has ended");
        output::field("", &says);
    }
    if why["compensating"] == true {
        output::field("", "it has failed and undoes what it did");
    }
    if let Some(deadline) = why["deadlineAt"].as_str() {
        output::field("deadline", deadline);
    }
    reasons(why, 0);
}

/// A line for each reason; those of a child stand below the step that waits for it.
fn reasons(why: &Value, depth: usize) {
    let margin = "  ".repeat(depth);
    for reason in why["reasons"].as_array().into_iter().flatten() {
        let text = |key: &str| reason[key].as_str().unwrap_or_default();
        let child = &reason["child"];
        // The child's own lines follow, so the line need not repeat them.
        let summary = text("summary");
        let line = match child.is_object() {
            true => summary.split_once(", which: ").map_or(summary, |it| it.0),
            false => summary,
        };
        let kind = paint::paint(paint::DIM, format!("({})", text("kind")));
        let line = output::visible(line);
        output::data(&format!("{margin}- {line} {kind}"));
        if child.is_object() {
            reasons(child, depth + 1);
        }
    }
    if let Some(more) = why["more"].as_u64() {
        output::data(&format!("{margin}- and {more} more"));
    }
}
