//! One definition and the requests that use it.

use std::{fmt, time::Duration};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    generate::{flow, schema, value},
    server::{REQUEST_TIMEOUT, Server, text},
};

/// An error's answer is meant to be read.
const MAX_ERROR_BYTES: usize = 256 << 10;

/// What was sent, by how it was answered.
#[derive(Default)]
pub struct Tally {
    accepted: usize,
    rejected: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "{} requests accepted, {} rejected",
            self.accepted, self.rejected
        )
    }
}

pub enum Attack {
    /// A flow, and runs of it.
    Flow(Value),
    /// A flow with a schema of its input or its state.
    Schema(Value),
    /// A trigger whose schema judges bodies.
    Hook {
        flow: Value,
        trigger: Value,
        path: String,
    },
    /// Bytes that are no definition.
    Garbage(Vec<u8>),
}

impl Attack {
    pub fn new(dice: &mut StdRng, round: usize) -> Self {
        match dice.random_range(0..10) {
            0..5 => Self::Flow(flow(dice, round)),
            5..7 => {
                let mut flow = flow(dice, round);
                let place = ["inputSchema", "stateSchema"][dice.random_range(0..2)];
                flow[place] = schema(dice);
                Self::Schema(flow)
            }
            7..9 => {
                let path = format!("/fuzz/{round}");
                let trigger = json!({
                    "id": format!("hook-{round}"), "type": "http", "flow": format!("flow-{round}"),
                    "config": {"path": path, "bodySchema": schema(dice), "maxBodyBytes": 16 << 20},
                });
                Self::Hook {
                    flow: flow(dice, round),
                    trigger,
                    path,
                }
            }
            _ => Self::Garbage(value::garbage(dice)),
        }
    }

    /// The definition, shortened.
    pub fn describe(&self) -> String {
        let shown = match self {
            Self::Flow(flow) | Self::Schema(flow) => flow.to_string(),
            Self::Hook { flow, trigger, .. } => format!("{flow}\n{trigger}"),
            Self::Garbage(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        match shown.char_indices().nth(4_000) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        }
    }

    pub async fn run(
        &self,
        server: &Server,
        dice: &mut StdRng,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut send = async |path: &str, body: Vec<u8>| send(server, path, body, tally).await;
        match self {
            Self::Garbage(bytes) => {
                for path in [
                    "/api/flows",
                    "/api/flows/validate",
                    "/api/events",
                    "/api/triggers",
                    "/api/runs/import",
                ] {
                    send(path, bytes.clone()).await?;
                }
            }
            Self::Flow(flow) | Self::Schema(flow) => {
                send("/api/flows/validate", bytes(flow)).await?;
                send("/api/flows", bytes(flow)).await?;
                for _ in 0..dice.random_range(1..4) {
                    let wait = [0, 500, 3_000][dice.random_range(0..3)];
                    let start = json!({"input": value::any(dice)});
                    let path = format!(
                        "/api/flows/{}/start?wait={wait}",
                        flow["id"].as_str().unwrap_or_default()
                    );
                    send(&path, bytes(&start)).await?;
                }
            }
            Self::Hook {
                flow,
                trigger,
                path,
            } => {
                send("/api/flows", bytes(flow)).await?;
                send("/api/triggers", bytes(trigger)).await?;
                for _ in 0..dice.random_range(1..4) {
                    send(&format!("/hooks{path}"), bytes(&value::any(dice))).await?;
                }
            }
        }
        Ok(())
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Sends a request and judges its answer.
async fn send(server: &Server, path: &str, body: Vec<u8>, tally: &mut Tally) -> Result<(), String> {
    let size = body.len();
    let request = server
        .client()
        .post(format!("{}{path}", server.url()))
        .header("content-type", "application/json")
        .body(body);
    let exchange = async {
        let answer = request.send().await.map_err(text)?;
        let status = answer.status();
        Ok::<_, String>((status, answer.bytes().await.map_err(text)?))
    };
    // The server's timeout, and the time that its answer may take on a busy machine.
    let patience = REQUEST_TIMEOUT + Duration::from_secs(10);
    let (status, answer) = tokio::time::timeout(patience, exchange)
        .await
        .map_err(|_| {
            format!(
                "POST {path} ({size} bytes) has no answer after {} s",
                patience.as_secs()
            )
        })?
        .map_err(|error| format!("POST {path} ({size} bytes): {error}"))?;
    let shown = || String::from_utf8_lossy(&answer[..answer.len().min(600)]).into_owned();
    if status.is_success() {
        tally.accepted += 1;
        return Ok(());
    }
    tally.rejected += 1;
    let code = serde_json::from_slice::<Value>(&answer).ok();
    let code = code.and_then(|answer| answer["error"]["code"].as_str().map(str::to_owned));
    let overloaded = matches!(status.as_u16(), 503 | 504 | 507);
    match code {
        _ if answer.len() > MAX_ERROR_BYTES => Err(format!(
            "POST {path} ({size} bytes): an error of {} bytes: {}",
            answer.len(),
            shown()
        )),
        None => Err(format!(
            "POST {path} ({size} bytes): {status} without a code: {}",
            shown()
        )),
        Some(_) if status.is_server_error() && !overloaded => {
            Err(format!("POST {path} ({size} bytes): {status}: {}", shown()))
        }
        Some(_) => Ok(()),
    }
}
