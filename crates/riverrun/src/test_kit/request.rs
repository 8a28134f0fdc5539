//! The requests of the test process.

use riverrun_types::{Json, Millis};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The run that a test plays.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Play {
    pub start_ms: Millis,
    #[serde(default = "Json::null")]
    pub input: Json,
    #[serde(default)]
    pub flow: Option<String>,
    #[serde(default)]
    pub entry: Option<String>,
    #[serde(default)]
    pub run_id: Option<String>,
    #[serde(default)]
    pub tenant_id: Option<String>,
    #[serde(default)]
    pub correlation_id: Option<String>,
    /// Written over the state that the input makes, before the first step begins.
    #[serde(default)]
    pub state: Map<String, Value>,
    #[serde(default)]
    pub events: Vec<Given>,
}

/// An event from outside.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    /// As soon as it is waited for where absent.
    #[serde(default)]
    pub at_ms: Option<Millis>,
    pub event: Value,
}

impl Given {
    pub fn kind(&self) -> &str {
        let kind = self.event["type"].as_str();
        kind.or_else(|| self.event["kind"].as_str())
            .unwrap_or_default()
    }
}

/// An answer to a callback.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub after_ms: i64,
    pub payload: Json,
}

/// Every handler in the test process that runs waits for time to pass, and nothing else goes on
/// there. Anything else that the test process sends ends this.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sleep {
    /// When the first of the handlers goes on.
    pub until_ms: Millis,
    /// The invocations that the test process has received, and neither ended nor been asked to stop.
    /// The engine may have sent more meanwhile: then time does not move.
    pub running: Vec<u64>,
}
