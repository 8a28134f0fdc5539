//! `riverrun awaits`: open awaits of all runs.

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
        "{} awaits of events, {} open callbacks, {} events to be evaluated{since}",
        found["events"], found["doors"], found["judging"]
    ));
    let types = found["types"].as_array().map_or(&[][..], Vec::as_slice);
    if types.is_empty() {
        return;
    }
    output::data("");
    let mut table = Table::new(["type", "waiting", "with where", "to be evaluated"]).numbers(1..4);
    for row_of in types {
        let row = Row::default().styled(row_of["type"].as_str().unwrap_or_default(), paint::NAME);
        let counts = ["open", "filters", "judging"];
        table.push(
            counts
                .iter()
                .fold(row, |row, key| row.cell(row_of[*key].to_string())),
        );
    }
    table.print();
}
