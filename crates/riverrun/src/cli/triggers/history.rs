//! `riverrun triggers history`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct History {
    /// The id of the trigger.
    trigger: String,
    /// The most events to print.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

impl History {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let path = ["api", "triggers", &self.trigger, "history"];
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let events = global.client()?.rows(&path, &Vec::new(), limit).await?;
        output::list(global.output, &events, || {
            let mut table = Table::new(["time", "event", "source", "due", "run or cause"]);
            events
                .iter()
                .for_each(|event| table.push(row(&event.value())));
            table.print();
        });
        Ok(Exit::Ok)
    }
}

fn row(event: &Value) -> Row {
    let data = &event["data"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let kind = event["type"].as_str().unwrap_or_default();
    let kind = kind.strip_prefix("trigger.").unwrap_or(kind);
    let style = match kind {
        "fired" => paint::GOOD,
        "failed" => paint::BAD,
        "timeout" => paint::WARN,
        _ => paint::DIM,
    };
    let said = match kind {
        "failed" => format!(
            "{}: {}",
            text(&data["error"]["code"]),
            text(&data["error"]["message"])
        ),
        "timeout" => format!("missed {}", data["missed"]),
        "registered" | "cancelled" => format!("version {}", data["version"]),
        _ => text(&data["runId"]),
    };
    let due = data["dueAt"].as_str();
    Row::default()
        .cell(output::moment(event["ts"].as_str()))
        .styled(kind, style)
        .cell(text(&data["source"]))
        .cell(due.map_or("-".to_owned(), |due| output::moment(Some(due))))
        .cell(said)
}
