//! `riverrun call`: executes a process at once. The result goes to stdout, logs and progress to
//! stderr.

use riverrun_types::{Code, ErrorCode};
use std::time::Duration;

use clap::Args;
use reqwest::StatusCode;
use riverrun::Json;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Global, run::read_input};
use crate::{
    client::{self, Message},
    config::parse_duration,
    failure::{Exit, Failure, Result},
    output::{self, Format, paint, paint::paint},
};

/// How much longer than a call may take its answer is waited for.
const SLACK: Duration = Duration::from_secs(20);

#[derive(Args, Debug)]
pub struct Call {
    /// The id of the process.
    process: String,
    /// The input: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// Stop the call after this time. Default: the timeout of the process.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    timeout: Option<Duration>,
    /// Print logs, progress and partial results on stderr while it runs.
    #[arg(long)]
    follow: bool,
}

/// What the server is asked for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    process: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

impl Call {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let limit = self.timeout.map(|time| time.saturating_add(SLACK));
        let call = self.call(global);
        match limit {
            None => call.await,
            Some(limit) => match tokio::time::timeout(limit, call).await {
                Ok(end) => end,
                Err(_) => Err(Failure::new(
                    ErrorCode::Timeout,
                    "the server did not answer in time",
                )
                .exit(Exit::Timeout)
                .next("riverrun doctor")),
            },
        }
    }

    async fn call(&self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let body = Body {
            process: &self.process,
            input: self.data.as_deref().map(read_input).transpose()?,
            timeout_ms: self
                .timeout
                .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        };
        let body = serde_json::to_string(&body).unwrap_or_default();
        // As a stream even without --follow, because the answer may take longer than a request may.
        let path = ["api", "runner", "execute"];
        let mut live = client.post_live(&path, body).await?;
        while let Some(message) = live.next().await {
            match message.event.as_deref().unwrap_or_default() {
                "result" => {
                    let data = Json::parse_text(message.data).unwrap_or_else(|_| Json::null());
                    let value = data.get("value").unwrap_or_else(Json::null);
                    output::json_text(global.output, value.as_str());
                    return Ok(Exit::Ok);
                }
                "error" | "cancelled" => return Err(failed(&message)),
                _ if self.follow => tell(global.output, &message),
                _ => {}
            }
        }
        let message = format!("{} went away before the call ended", client.url());
        Err(Failure::new(ErrorCode::Unreachable, message)
            .exit(Exit::Unreachable)
            .note("whether it ran is not known; a call is not tried again by itself"))
    }
}

/// The end of a call that gave no result.
fn failed(message: &Message) -> Failure {
    let error: Value = serde_json::from_str(&message.data).unwrap_or_default();
    let text = |key: &str| error[key].as_str();
    if message.event.as_deref() == Some("cancelled") {
        return Failure::new(
            ErrorCode::Cancelled,
            text("reason").unwrap_or("it was cancelled"),
        );
    }
    let code = text("code").filter(|code| !code.is_empty());
    let code = code.map_or(ErrorCode::CallFailed.into(), Code::from);
    let message = text("message").unwrap_or("it failed");
    let status = |code: ErrorCode| StatusCode::from_u16(code.status()?).ok();
    let (code, exit) = match code.known() {
        Some(ErrorCode::CallFailed) => (code, Exit::Failed),
        Some(ErrorCode::Timeout) => (ErrorCode::CallTimeout.into(), Exit::Timeout),
        known => {
            let exit = known.and_then(status).map_or(Exit::Failed, client::exit_of);
            (code, exit)
        }
    };
    client::server_failure(code, message, exit, &error["details"])
}

fn tell(format: Format, message: &Message) {
    let kind = message.event.as_deref().unwrap_or_default();
    let data: Value = serde_json::from_str(&message.data).unwrap_or_default();
    if format != Format::Table {
        return output::talk(&json!({"type": kind, "data": data}).to_string());
    }
    let text = |key: &str| data[key].as_str().unwrap_or_default();
    let line = match kind {
        "heartbeat" => return,
        "log" => {
            let level = format!("log.{}", text("level"));
            let meta = match &data["meta"] {
                Value::Null => String::new(),
                meta => format!("  {meta}"),
            };
            let style = paint::event(&level);
            format!(
                "{}  {}{}",
                paint(style, format_args!("{level:<9}")),
                output::visible(text("message")),
                paint(paint::DIM, meta)
            )
        }
        "progress" => {
            let part = |value: &Value, after: &str| match value {
                Value::Null => String::new(),
                Value::String(text) => format!("{text}{after}"),
                value => format!("{value}{after}"),
            };
            let (pct, detail) = (part(&data["pct"], "% "), part(&data["detail"], ""));
            format!("progress   {}{}", pct, output::visible(&detail))
        }
        kind => format!("{kind:<9}  {}", output::visible(&data.to_string())),
    };
    output::talk(line.trim_end());
}
