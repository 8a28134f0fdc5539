//! `riverrun runs story`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, EventLine, Format, paint, paint::paint},
};

/// Events asked for at a time.
const PAGE: usize = 500;

#[derive(Args, Debug)]
pub struct Story {
    /// The correlation id; latest is that of the newest run.
    id: String,
    /// The most events to print.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Story {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let id = client.run_id(&self.id).await?;
        let line = EventLine::for_stdout();
        let (mut left, mut cursor) = (self.limit.unwrap_or(usize::MAX), None);
        let mut document = Vec::new();
        while left > 0 {
            let mut query = vec![("limit", left.min(PAGE).to_string())];
            query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
            let page = client.get(&["api", "stories", &id], &query).await?;
            let items = page.items();
            left = left.saturating_sub(items.len());
            match global.output {
                Format::Table => items.iter().for_each(|event| show(&line, &event.value())),
                Format::Jsonl => {
                    let rows = items.iter();
                    rows.for_each(|event| output::json(Format::Jsonl, event));
                }
                Format::Json => document.extend(items),
            }
            match page.value()["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        if global.output == Format::Json {
            output::json(Format::Json, &document);
        }
        Ok(Exit::Ok)
    }
}

fn show(line: &EventLine, event: &Value) {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let cause = match event["causationId"].is_string() {
        true => paint(paint::DIM, format!("  because of {}", text("causationId"))),
        false => String::new(),
    };
    let stream = paint(paint::NAME, text("stream"));
    output::data(&format!("{stream}  {}{cause}", line.show(event)));
}
