//! `riverrun emit` and `riverrun fire`: events and answers from outside.

use clap::Args;
use riverrun::Json;
use riverrun_runtime::callback_signature;
use riverrun_types::ErrorCode;
use serde::Serialize;

use super::{
    Global,
    run::{read_input, read_text},
};
use crate::{
    failure::{Exit, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Emit {
    /// The type of the event, for example payment.confirmed.
    kind: String,
    /// The data of the event: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// The id of the run to emit it in, or latest. Default: all runs that wait for its type.
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Store the event only once for this key. Keys are kept as long as emitted events: 7 days, or
    /// retention.emitted.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// The correlation id that connects it with runs and jobs.
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// The tenant of the event: only runs of this tenant, or of no tenant, receive it.
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a str>,
}

impl Emit {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let run_id = match &self.run {
            None => None,
            Some(run) => Some(client.run_id(run).await?),
        };
        let event = Json::of(&Event {
            r#type: &self.kind,
            data: self.data.as_deref().map(read_input).transpose()?,
            run_id,
            idempotency_key: self.idempotency_key.as_deref(),
            correlation_id: self.correlation_id.as_deref(),
            tenant_id: self.tenant.as_deref(),
        });
        let body = Some(event.as_str().to_owned());
        let answer = client.post(&["api", "events"], body).await?;
        match global.output {
            Format::Table => {
                let said = answer.value();
                let (stream, id) = (&said["stream"], &said["ids"][0]);
                let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
                output::data(&format!("{} {}", text(stream), text(id)));
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}

#[derive(Args, Debug)]
pub struct Fire {
    /// The id of the callback: riverrun runs why prints it.
    id: String,
    /// The data for the step: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// The secret of the callback to sign the data with: text, @file, or - for stdin.
    #[arg(long, value_name = "SECRET|@FILE|-")]
    secret: Option<String>,
}

impl Fire {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let data = self.data.as_deref().map(read_input).transpose()?;
        let body = data.map(|data| data.as_str().to_owned());
        let secret = self.secret.as_deref().map(read_text).transpose()?;
        let signature = secret.map(|secret| {
            let signed = body.as_deref().unwrap_or_default().as_bytes();
            let signature = callback_signature(secret.trim_end_matches(['\r', '\n']), signed);
            ("x-riverrun-signature", signature)
        });
        let client = global.client()?;
        let path = ["api", "triggers", &self.id];
        let answer = client.post_with(&path, body, signature).await;
        let answer = answer.map_err(|failure| match failure.code.known() {
            Some(ErrorCode::AwaitUsed | ErrorCode::AwaitExpired | ErrorCode::AwaitClosed) => {
                failure.next(format!("riverrun tail trigger/{} --from-start", self.id))
            }
            _ => failure,
        })?;
        match global.output {
            Format::Table => {
                let answer = answer.value();
                let run = answer["runId"].as_str().unwrap_or("-");
                // Of a trigger, which starts a run, whereas a callback resumes one.
                let is_started = answer["created"].is_boolean();
                let does = if is_started {
                    "is started"
                } else {
                    "continues"
                };
                output::data(&format!("run {run} {does}"));
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}
