//! `riverrun runs rerun|fork`: new runs from old ones.

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use crate::{
    cli::{
        Global,
        run::{Ids, Watch, read_input},
    },
    client::{Answer, Client},
    failure::{Exit, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Rerun {
    /// The id of the run, or latest.
    id: String,
    /// A different input: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// Use the newest version of the flow instead of the version of the run.
    #[arg(long)]
    newest: bool,
    /// Print the events of the new run live until it ends.
    #[arg(long)]
    follow: bool,
}

#[derive(Args, Debug)]
pub struct Fork {
    /// The id of the run, or latest.
    id: String,
    /// The id of the last event that both runs share. Default: the latest event.
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
    /// Print the events of the new run live until it ends.
    #[arg(long)]
    follow: bool,
}

#[derive(Serialize)]
struct RerunBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    latest: bool,
}

#[derive(Serialize)]
struct ForkBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

impl Rerun {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let body = RerunBody {
            input: self.data.as_deref().map(read_input).transpose()?,
            latest: self.newest,
        };
        let answer = ask(&client, &self.id, "rerun", &body).await?;
        tell(&client, global, &answer, self.follow).await
    }
}

impl Fork {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let answer = ask(&client, &self.id, "fork", &ForkBody { at: self.at }).await?;
        tell(&client, global, &answer, self.follow).await
    }
}

async fn ask(client: &Client, id: &str, verb: &str, body: &impl Serialize) -> Result<Answer> {
    let body = serde_json::to_string(body).unwrap_or_default();
    client.post(&["api", "runs", id, verb], Some(body)).await
}

async fn tell(client: &Client, global: &Global, answer: &Answer, follow: bool) -> Result<Exit> {
    let started = answer.value();
    let run = started["runId"].as_str().unwrap_or_default();
    if follow {
        let watch = Watch {
            client,
            run,
            events: true,
            ids: Ids::Hidden,
            format: global.output,
        };
        return watch.to_the_end(None).await;
    }
    match global.output {
        Format::Table => output::data(run),
        format => output::json_text(format, &answer.text),
    }
    Ok(Exit::Ok)
}
