//! `riverrun runs cancel|pause|resume|delete`.

use clap::Args;
use serde_json::json;

use crate::{
    cli::{
        Global,
        each::{Done, each},
    },
    failure::{Exit, Result},
    output::{paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The ids of the runs, or latest.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The reason, stored with the run.
    #[arg(long)]
    reason: Option<String>,
}

impl Act {
    pub async fn run(self, global: &Global, verb: &str) -> Result<Exit> {
        let client = global.client()?;
        let body = match &self.reason {
            Some(reason) => json!({ "reason": reason }),
            None => json!({}),
        };
        each(global, &self.ids, async |id| {
            let id = client.run_id(id).await?;
            let path = ["api", "runs", &id, verb];
            let answer = client.post(&path, Some(body.to_string())).await?;
            let run = answer.value();
            let status = run["status"].as_str().unwrap_or_default();
            Ok(Done {
                line: format!("{id} {}", paint(paint::status(status), status)),
                document: answer.text,
            })
        })
        .await
    }
}

#[derive(Args, Debug)]
pub struct Delete {
    /// The ids of the runs, or latest.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl Delete {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        each(global, &self.ids, async |id| {
            let id = client.run_id(id).await?;
            client.delete(&["api", "runs", &id]).await?;
            Ok(Done {
                line: format!("{id} deleted"),
                document: json!({"runId": id, "deleted": true}).to_string(),
            })
        })
        .await
    }
}
