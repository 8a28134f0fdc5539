//! `riverrun jobs update`.

use std::time::Duration;

use clap::{ArgGroup, Args};
use reqwest::Method;
use serde::Serialize;

use super::act::done;
use crate::{
    cli::{Global, each::each},
    config::parse_duration,
    failure::{Exit, Result},
};

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("change").args(["priority", "delay"]).required(true).multiple(true))]
pub struct Update {
    /// The ids of the jobs; latest is the one added last.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Higher starts first.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Start after this delay from now.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    delay: Option<Duration>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

impl Update {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let body = Body {
            priority: self.priority,
            delay_ms: self.delay.map(ms),
        };
        let body = serde_json::json!(body).to_string();
        each(global, &self.ids, async |id| {
            let id = client.job_id(id).await?;
            let path = ["api", "jobs", &id];
            let answer = client
                .ask(Method::PATCH, &path, &Vec::new(), Some(body.clone()))
                .await?;
            Ok(done(&id, answer))
        })
        .await
    }
}
