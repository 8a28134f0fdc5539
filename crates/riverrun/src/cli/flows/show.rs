//! `riverrun flows show`.

use clap::Args;
use riverrun::Json;

use crate::{
    cli::Global,
    client::Client,
    failure::{Exit, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Show {
    /// The flow: its id, or id@version.
    flow: String,
}

impl Show {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let definition = definition(&global.client()?, &self.flow).await?;
        let format = match global.output {
            Format::Table => Format::Json,
            format => format,
        };
        output::json_text(format, definition.as_str());
        Ok(Exit::Ok)
    }
}

/// A definition as the server keeps it.
pub async fn definition(client: &Client, flow: &str) -> Result<Json> {
    let answer = client.get(&["api", "flows", flow], &Vec::new()).await?;
    Ok(answer.member("definition").unwrap_or_else(Json::null))
}
