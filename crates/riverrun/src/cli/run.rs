//! `riverrun run`: start a run, and wait for it on request.

use riverrun_types::{Code, ErrorCode};
use std::{path::Path, time::Duration};

use clap::Args;
use riverrun::Json;
use serde::Serialize;

use super::Global;
use crate::{
    client::{Client, End, Follow},
    config::parse_duration,
    failure::{Exit, Failure, Result},
    files,
    output::{self, EventLine, Format, paint, paint::paint},
};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("until_end").args(["wait", "follow"]).multiple(true))]
pub struct Run {
    /// The flow: its id, or id@version.
    flow: String,
    /// The input: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// Wait until the run ends and print its result.
    #[arg(long, conflicts_with = "follow")]
    wait: bool,
    /// Print the events live until the run ends.
    #[arg(long)]
    follow: bool,
    /// How long to wait. The run continues afterwards.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", requires = "until_end")]
    timeout: Option<Duration>,
    /// A tag of the run; may be repeated.
    #[arg(long)]
    tag: Vec<String>,
    /// A second start with the same key returns the first run.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The tenant of the run.
    #[arg(long)]
    tenant: Option<String>,
    /// Start after this delay.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    delay: Option<Duration>,
    /// The version of the flow. Default: the newest.
    #[arg(long)]
    version: Option<String>,
}

/// What the server is asked for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
}

impl Run {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let (flow, version) = match self.flow.split_once('@') {
            Some((flow, version)) => (flow, Some(version)),
            None => (self.flow.as_str(), None),
        };
        let start = Start {
            input: self.data.as_deref().map(read_input).transpose()?,
            idempotency_key: self.key.as_deref(),
            tags: &self.tag,
            tenant_id: self.tenant.as_deref(),
            delay_ms: self
                .delay
                .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            version: self.version.as_deref().or(version),
        };
        let body = serde_json::to_string(&start).unwrap_or_default();
        let answer = client
            .post(&["api", "flows", flow, "start"], Some(body))
            .await?;
        let started = answer.value();
        let run = started["runId"].as_str().unwrap_or_default();
        if started["created"] == false {
            output::talk(&format!("run {run} was started with this key before"));
        }
        if !self.wait && !self.follow {
            match global.output {
                Format::Table => {
                    output::data(run);
                    output::talk(&format!("  try: riverrun runs events {run} --follow"));
                }
                format => output::json_text(format, &answer.text),
            }
            return Ok(Exit::Ok);
        }
        let how = Watch {
            client: &client,
            run,
            events: self.follow,
            ids: Ids::Hidden,
            format: global.output,
        };
        how.to_the_end(self.timeout).await
    }
}

/// Waiting for a run's end.
pub struct Watch<'a> {
    pub client: &'a Client,
    pub run: &'a str,
    /// Print the events, rather than the result.
    pub events: bool,
    pub ids: Ids,
    pub format: Format,
}

/// Whether each event is printed with its id.
#[derive(Clone, Copy)]
pub enum Ids {
    Shown,
    Hidden,
}

impl Watch<'_> {
    /// Waits for the end and ends as the run did.
    pub async fn to_the_end(&self, timeout: Option<Duration>) -> Result<Exit> {
        match self.follow(timeout).await? {
            End::Interrupted => Ok(Exit::Ok),
            _ => self.outcome().await,
        }
    }

    /// Prints the events; how the run ended is in them.
    pub async fn events_only(&self, timeout: Option<Duration>) -> Result<Exit> {
        self.follow(timeout).await.map(|_| Exit::Ok)
    }

    async fn follow(&self, timeout: Option<Duration>) -> Result<End> {
        let line = match self.ids {
            Ids::Shown => EventLine::for_stdout().with_ids(),
            Ids::Hidden => EventLine::for_stdout(),
        };
        let what = Follow {
            run: self.run,
            after: None,
            timeout,
        };
        let end = self
            .client
            .follow(what, |event| match self.format {
                _ if !self.events => {}
                Format::Table => {
                    output::data(&line.show_all(&serde_json::from_str(event).unwrap_or_default()));
                }
                _ => output::json_text(Format::Jsonl, event),
            })
            .await?;
        match end.left(self.run) {
            Some(failure) => Err(failure),
            None => Ok(end),
        }
    }

    /// Says how the run ended, and ends accordingly.
    async fn outcome(&self) -> Result<Exit> {
        let answer = self
            .client
            .get(&["api", "runs", self.run], &Vec::new())
            .await?;
        let run = answer.value();
        let status = run["status"].as_str().unwrap_or_default();
        match (self.events, self.format) {
            // A failed run has no result to print.
            (false, Format::Table) if status != "completed" => {}
            (false, Format::Table) => {
                // A run whose last step gave nothing has only its state to show.
                let result = answer.member("result").filter(|result| !result.is_null());
                if let Some(shown) = result.or_else(|| answer.member("state")) {
                    output::json_text(Format::Json, shown.as_str());
                }
            }
            (false, format) => output::json_text(format, &answer.text),
            (true, _) => output::talk(&format!(
                "{} {}",
                self.run,
                paint(paint::status(status), status)
            )),
        }
        if status == "completed" {
            return Ok(Exit::Ok);
        }
        let error = |key: &str| run["error"][key].as_str();
        let (code, message) = match status {
            "cancelled" => (ErrorCode::RunCancelled.into(), "it was cancelled"),
            _ => (
                error("code").map_or(ErrorCode::RunFailed.into(), Code::from),
                error("message").unwrap_or("it failed"),
            ),
        };
        Err(
            Failure::new(code, format!("run {} {status}: {message}", self.run))
                .next(format!("riverrun runs events {}", self.run)),
        )
    }
}

/// JSON from the command line, a file or stdin, kept as its text.
pub fn read_input(given: &str) -> Result<Json> {
    let text = read_text(given)?;
    Json::parse_text(text.trim().to_owned()).map_err(|error| {
        Failure::usage(
            ErrorCode::InputNotJson,
            format!("the input is not JSON: {error}"),
        )
        .next("-d '{\"name\": \"Ada\"}'")
    })
}

/// What was given itself, or what is in the file or on the stdin that it names.
pub fn read_text(given: &str) -> Result<String> {
    // No flow may keep a larger state, and the input becomes the first one.
    const LIMIT: usize = 64 << 20;
    match given.strip_prefix('@') {
        Some(path) => files::read_text("the input", Path::new(path), LIMIT),
        None if given == "-" => {
            files::read_from(std::io::stdin(), "the input", Path::new("-"), LIMIT)
        }
        None => Ok(given.to_owned()),
    }
}
