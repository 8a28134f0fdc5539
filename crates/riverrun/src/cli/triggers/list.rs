//! `riverrun triggers ls`.

use clap::Args;
use riverrun::{Json, TriggerKind};
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Row, Table, paint},
};

/// Rows that are shown at most.
const MOST: usize = 10_000;

#[derive(Args, Debug)]
pub struct List {
    /// Only triggers of this type.
    #[arg(long, value_name = "TYPE", value_parser = TriggerKind::ALL.map(TriggerKind::as_str))]
    r#type: Option<String>,
}

impl List {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        print(global, &["api", "triggers"], self.r#type).await
    }
}

/// Prints a list of triggers.
pub async fn print(global: &Global, path: &[&str], kind: Option<String>) -> Result<Exit> {
    let query = kind.map(|kind| ("type", kind)).into_iter().collect();
    let triggers = global.client()?.rows(path, &query, MOST).await?;
    output::list(global.output, &triggers, || table(&triggers));
    Ok(Exit::Ok)
}

fn table(triggers: &[Json]) {
    if triggers.is_empty() {
        return output::talk("no triggers\n  try: riverrun triggers add <file>");
    }
    let header = [
        "trigger",
        "type",
        "flow",
        "state",
        "fired",
        "failed",
        "next or path",
    ];
    let mut table = Table::new(header).numbers(4..6);
    triggers
        .iter()
        .for_each(|trigger| table.push(row(&trigger.value())));
    table.print();
}

fn row(trigger: &Value) -> Row {
    let text = |key: &str| trigger[key].as_str().unwrap_or_default();
    let row = Row::default()
        .styled(text("id"), paint::NAME)
        .cell(text("type"))
        .cell(text("flow"));
    let row = match trigger["enabled"].as_bool() {
        _ if trigger["broken"].is_object() => row.styled("broken", paint::BAD),
        Some(true) => row.styled("enabled", paint::GOOD),
        _ => row.styled("disabled", paint::WARN),
    };
    let failed = trigger["stats"]["failed"].as_u64().unwrap_or_default();
    let style = if failed == 0 { paint::DIM } else { paint::BAD };
    let place = match (trigger["nextDueAt"].as_str(), trigger["path"].as_str()) {
        (Some(due), _) => output::moment(Some(due)),
        (None, Some(path)) => {
            let method = trigger["config"]["method"].as_str().unwrap_or("POST");
            format!("{} {path}", method.to_ascii_uppercase())
        }
        _ => trigger["config"]["kind"].as_str().unwrap_or("-").to_owned(),
    };
    row.cell(trigger["stats"]["fired"].to_string())
        .styled(failed.to_string(), style)
        .cell(place)
}
