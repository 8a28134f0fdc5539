//! `riverrun triggers fire`.

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use crate::{
    cli::{Global, run::read_input},
    failure::{Exit, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Fire {
    /// The id of the trigger.
    trigger: String,
    /// The input of the run: JSON, @file, or - for stdin. Default: the input of the trigger.
    #[arg(short = 'd', long = "data", value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// A second start with the same key returns the first run.
    #[arg(long)]
    key: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
    source: &'a str,
}

impl Fire {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let body = Json::of(&Body {
            input: self.data.as_deref().map(read_input).transpose()?,
            idempotency_key: self.key.as_deref(),
            source: "cli",
        });
        let path = ["api", "triggers", &self.trigger, "fire"];
        let client = global.client()?;
        let answer = client.post(&path, Some(body.as_str().to_owned())).await?;
        match global.output {
            Format::Table => {
                let started = answer.value();
                if started["created"] == false {
                    output::talk("a run with this key was started before");
                }
                output::data(started["runId"].as_str().unwrap_or_default());
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}
