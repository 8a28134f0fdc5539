//! `riverrun jobs retry|cancel|promote|rm`.

use clap::Args;
use serde_json::{Value, json};

use crate::{
    cli::Global,
    client::Answer,
    failure::{Exit, Result},
    output::{self, Format, paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The jobs' ids; latest is the one added last.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

#[derive(Args, Debug)]
pub struct Cancel {
    /// The jobs' ids; latest is the one added last.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why, for the record.
    #[arg(long)]
    reason: Option<String>,
}

impl Act {
    pub async fn run(self, global: &Global, verb: &str) -> Result<Exit> {
        act(global, &self.ids, verb, &json!({})).await
    }

    pub async fn remove(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        for id in &self.ids {
            let id = client.job_id(id).await?;
            client.delete(&["api", "jobs", &id]).await?;
            match global.output {
                Format::Table => output::data(&format!("{id} removed")),
                format => output::json(format, &json!({"jobId": id, "removed": true})),
            }
        }
        Ok(Exit::Ok)
    }
}

impl Cancel {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let body = match &self.reason {
            Some(reason) => json!({ "reason": reason }),
            None => json!({}),
        };
        act(global, &self.ids, "cancel", &body).await
    }
}

/// Does the same to jobs, one after the other, and says what became of them.
pub async fn act(global: &Global, ids: &[String], verb: &str, body: &Value) -> Result<Exit> {
    let client = global.client()?;
    for id in ids {
        let id = client.job_id(id).await?;
        let answer = client
            .post(&["api", "jobs", &id, verb], Some(body.to_string()))
            .await?;
        show(global.output, &id, &answer);
    }
    Ok(Exit::Ok)
}

/// Says what became of a job.
pub fn show(format: Format, id: &str, answer: &Answer) {
    if format != Format::Table {
        return output::json_text(format, &answer.text);
    }
    let job = answer.value();
    let state = match job["cancelling"].as_bool() {
        Some(true) => "cancelling",
        _ => job["state"].as_str().unwrap_or_default(),
    };
    output::data(&format!("{id} {}", paint(paint::status(state), state)));
}
