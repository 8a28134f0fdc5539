//! `riverrun jobs retry|cancel|promote|rm`.

use clap::Args;
use reqwest::Method;
use riverrun_types::id::is_dot_segment;
use serde_json::{Value, json};

use crate::{
    cli::{
        Global,
        each::{Done, each},
    },
    client::Answer,
    failure::{Exit, Result},
    output::{paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The ids of the jobs; latest is the one added last.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

#[derive(Args, Debug)]
pub struct Cancel {
    /// The ids of the jobs; latest is the one added last.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The reason, stored with the job.
    #[arg(long)]
    reason: Option<String>,
}

impl Act {
    pub async fn run(self, global: &Global, verb: &str) -> Result<Exit> {
        act(global, &self.ids, verb, &json!({})).await
    }

    pub async fn remove(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        each(global, &self.ids, async |id| {
            let id = client.job_id(id).await?;
            // URL libraries resolve these two in a path, whatever their encoding.
            let (path, query) = match is_dot_segment(&id) {
                true => (vec!["api", "jobs"], vec![("id", id.clone())]),
                false => (vec!["api", "jobs", id.as_str()], Vec::new()),
            };
            client.ask(Method::DELETE, &path, &query, None).await?;
            Ok(Done {
                line: format!("{id} removed"),
                document: json!({"jobId": id, "removed": true}).to_string(),
            })
        })
        .await
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
    each(global, ids, async |id| {
        let id = client.job_id(id).await?;
        let path = ["api", "jobs", &id, verb];
        let answer = client.post(&path, Some(body.to_string())).await?;
        Ok(done(&id, answer))
    })
    .await
}

/// What became of a job.
pub fn done(id: &str, answer: Answer) -> Done {
    let job = answer.value();
    let state = match job["cancelling"].as_bool() {
        Some(true) => "cancelling",
        _ => job["state"].as_str().unwrap_or_default(),
    };
    Done {
        line: format!("{id} {}", paint(paint::status(state), state)),
        document: answer.text,
    }
}
