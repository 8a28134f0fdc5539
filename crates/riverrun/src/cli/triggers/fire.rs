//! `riverrun triggers fire`.

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use crate::{
    cli::Global,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Fire {
    /// The trigger's id.
    trigger: String,
    /// The run's input, in JSON. Default: the input that the trigger names.
    #[arg(short = 'd', long = "data", value_name = "JSON")]
    data: Option<String>,
    /// The same key again answers with the first run.
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
        let input = self.data.map(Json::parse_text).transpose();
        let input = input.map_err(|error| {
            Failure::usage("INPUT_NOT_JSON", format!("the input is not JSON: {error}"))
                .next("-d '{\"name\": \"Ada\"}'")
        })?;
        let body = Json::of(&Body {
            input,
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
