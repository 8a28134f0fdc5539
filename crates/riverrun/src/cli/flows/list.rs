//! `riverrun flows ls`.

use clap::Args;
use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct List {
    /// List all versions of this flow.
    #[arg(value_name = "FLOW")]
    flow: Option<String>,
}

impl List {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let mut path = vec!["api", "flows"];
        if let Some(flow) = &self.flow {
            path.extend([flow.as_str(), "versions"]);
        }
        let answer = client.get(&path, &Vec::new()).await?;
        let items = answer.items();
        output::list(global.output, &items, || {
            if items.is_empty() {
                return output::talk("no flows\n  try: riverrun flows register <file>");
            }
            let mut table = Table::new(["flow", "version", "steps", "name"]);
            items.iter().for_each(|flow| table.push(row(&flow.value())));
            table.print();
        });
        Ok(Exit::Ok)
    }
}

fn row(flow: &Value) -> Row {
    let text = |key: &str| flow[key].as_str().unwrap_or_default();
    Row::default()
        .styled(text("id"), paint::NAME)
        .cell(text("version"))
        .cell(flow["steps"].to_string())
        .cell(text("name"))
}
