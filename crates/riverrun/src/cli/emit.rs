//! `riverrun emit` and `riverrun fire`: what happens outside, told to those who wait for it.

use clap::Args;
use riverrun::Json;
use riverrun_runtime::door_signature;
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
    /// The kind of event, such as payment.confirmed.
    kind: String,
    /// What it carries: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// The run that it happened in, or latest; without one it is for whoever waits for the kind.
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Stores it once, however often it is sent with this key; keys are remembered as long as emitted
    /// events are, 7 days unless retention.emitted says otherwise.
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// What it belongs to, across runs and jobs.
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// Whose it is: only what waits in this tenant's runs, or in those of none, hears of it.
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
    /// The trigger's id: in the run's step.await.trigger event, and in riverrun runs why.
    id: String,
    /// What the step is given: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// The secret that the trigger was made with, @file, or - for stdin: what is handed in is signed
    /// with it.
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
            let signature = door_signature(secret.trim_end_matches(['\r', '\n']), signed);
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
                // Of a trigger, which starts a run where a door lets one go on.
                let is_started = answer["created"].is_boolean();
                let does = if is_started { "is started" } else { "goes on" };
                output::data(&format!("run {run} {does}"));
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }
}
