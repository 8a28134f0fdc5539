//! `riverrun runs state`.

use clap::Args;

use crate::{
    cli::Global,
    client::Query,
    failure::{Exit, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct State {
    /// The id of the run, or latest.
    id: String,
    /// The id of the last event to include, or a time (ISO 8601 or milliseconds).
    #[arg(long, value_name = "EVENT|TIME")]
    at: Option<String>,
}

impl State {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let query: Query = self.at.map(|at| ("at", at)).into_iter().collect();
        let answer = client
            .get(&["api", "runs", &self.id, "state"], &query)
            .await?;
        match global.output {
            Format::Table => {
                let about = answer.value();
                let status = about["status"].as_str().unwrap_or_default();
                output::talk(&format!("after {} events, {status}", about["events"]));
                let state = answer.member("state");
                output::json_text(
                    Format::Json,
                    state.as_ref().map_or("null", |state| state.as_str()),
                );
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}
