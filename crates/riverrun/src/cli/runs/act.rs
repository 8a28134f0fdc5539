//! `riverrun runs cancel|pause|resume|delete`.

use clap::Args;
use serde_json::json;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The runs' ids, or latest.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why, for the record.
    #[arg(long)]
    reason: Option<String>,
}

impl Act {
    pub async fn run(self, global: &Global, verb: &str) -> Result<Exit> {
        let client = global.client()?;
        for id in &self.ids {
            let id = client.run_id(id).await?;
            let body = match &self.reason {
                Some(reason) => json!({ "reason": reason }),
                None => json!({}),
            };
            let answer = client
                .post(&["api", "runs", &id, verb], Some(body.to_string()))
                .await?;
            match global.output {
                Format::Table => {
                    let run = answer.value();
                    let status = run["status"].as_str().unwrap_or_default();
                    output::data(&format!("{id} {}", paint(paint::status(status), status)));
                }
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }
}

#[derive(Args, Debug)]
pub struct Delete {
    /// The runs' ids, or latest.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl Delete {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        for id in &self.ids {
            let id = client.run_id(id).await?;
            client.delete(&["api", "runs", &id]).await?;
            match global.output {
                Format::Table => output::data(&format!("{id} deleted")),
                format => output::json(format, &json!({"runId": id, "deleted": true})),
            }
        }
        Ok(Exit::Ok)
    }
}
