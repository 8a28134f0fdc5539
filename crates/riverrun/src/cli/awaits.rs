//! `riverrun awaits`: who waits for what, in all runs together.

use clap::Args;
use serde_json::Value;

use super::Global;
use crate::{
    failure::{Exit, Result},
    output::{self, Format, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct Awaits;

impl Awaits {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let found = client.get(&["api", "awaits"], &Vec::new()).await?.value();
        match global.output {
            Format::Table => print(&found),
            format => output::json(format, &found),
        }
        Ok(Exit::Ok)
    }
}

fn print(found: &Value) {
    let since = found["judgingSince"].as_str();
    let since = since.map_or_else(String::new, |since| format!(", the first since {since}"));
    output::data(&format!(
        "{} wait for events, {} doors are open, {} events are to be judged{since}",
        found["events"], found["doors"], found["judging"]
    ));
    let kinds = found["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    if kinds.is_empty() {
        return;
    }
    output::data("");
    let mut table = Table::new(["kind", "waiting", "with where", "to be judged"]).numbers(1..4);
    for kind in kinds {
        let row = Row::default().styled(kind["kind"].as_str().unwrap_or_default(), paint::NAME);
        let counts = ["open", "filters", "judging"];
        table.push(
            counts
                .iter()
                .fold(row, |row, key| row.cell(kind[*key].to_string())),
        );
    }
    table.print();
}
