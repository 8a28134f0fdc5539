//! Flow definitions as people write them, in JSON or YAML.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A versioned definition: steps and the transitions between them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flow {
    pub id: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub initial_step_id: String,
    pub steps: IndexMap<String, Step>,
    /// The whole run fails with TIMEOUT when it has not ended after this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Limits::is_default")]
    pub limits: Limits,
    /// JSON Schema of the input that starts a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the state; a write that breaks it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<Value>,
    /// Which value of the final state is the run's result: a dot path. When absent, the output of
    /// the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The effect of an uncaught failure on the rest of the run.
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
}

/// The effect of an uncaught failure on the rest of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Everything else is cancelled, and the run fails at once.
    #[default]
    Stop,
    /// Active visits go on to their end; then the run fails.
    Finish,
}

impl OnFailure {
    fn is_stop(&self) -> bool {
        *self == Self::Stop
    }
}

impl Flow {
    /// `id@version`, the name under which a definition never changes.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }
}

/// One node of a flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub handler: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub config: Map<String, Value>,
    #[serde(default)]
    pub input: Selector,
    /// Where the output lands in the state: a dot path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_key: Option<String>,
    #[serde(default, skip_serializing_if = "Transitions::is_empty")]
    pub transitions: Transitions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// How long one attempt may take; the limit of the server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Events of the run that enter the step, each as a visit of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<Subscription>,
    /// Whether one of the subscribed events enters the step, or one of each together.
    #[serde(default, skip_serializing_if = "Join::is_any")]
    pub join: Join,
    /// The kinds of events that the step emits. A built-in handler's output is the data of an event
    /// of each; for a process they declare what its code may emit, for the diagram and its
    /// warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<String>,
    /// The await of the step: an event or a trigger before its handler, a time after it.
    #[serde(default, rename = "await", skip_serializing_if = "Option::is_none")]
    pub awaits: Option<Await>,
    /// The step that undoes a completed visit of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Compensation>,
}

/// The input of a step. Written as `{type: key, key: …}` and the like.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Selector {
    Key(String),
    Keys(Vec<String>),
    Path(String),
    Template(Value),
    #[default]
    Full,
    Static(Value),
}

impl Selector {
    /// Reads a selector, with the reason if it is invalid.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        let object = value
            .as_object()
            .ok_or("an input selector is an object with a type")?;
        let kind = object
            .get("type")
            .and_then(Value::as_str)
            .ok_or("type is missing")?;
        let text = |name: &str| {
            let field = object
                .get(name)
                .ok_or_else(|| format!("{name} is missing"))?;
            field
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("{name} must be a string"))
        };
        let any = |name: &str| {
            object
                .get(name)
                .cloned()
                .ok_or_else(|| format!("{name} is missing"))
        };
        match kind {
            "key" => text("key").map(Self::Key),
            "keys" => {
                let keys = any("keys")?;
                let keys = keys.as_array().ok_or("keys must be a list of strings")?;
                let keys = keys.iter().map(|key| key.as_str().map(str::to_owned));
                let keys = keys
                    .collect::<Option<_>>()
                    .ok_or("keys must be a list of strings")?;
                Ok(Self::Keys(keys))
            }
            "path" => text("path").map(Self::Path),
            "template" => any("template").map(Self::Template),
            "full" => Ok(Self::Full),
            "static" => any("value").map(Self::Static),
            other => Err(format!(
                "{other:?} is no selector: use key, keys, path, template, full or static"
            )),
        }
    }

    pub fn to_value(&self) -> Value {
        use serde_json::json;
        match self {
            Self::Key(key) => json!({"type": "key", "key": key}),
            Self::Keys(keys) => json!({"type": "keys", "keys": keys}),
            Self::Path(path) => json!({"type": "path", "path": path}),
            Self::Template(template) => json!({"type": "template", "template": template}),
            Self::Full => json!({"type": "full"}),
            Self::Static(value) => json!({"type": "static", "value": value}),
        }
    }
}

impl Serialize for Selector {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

mod events;
mod retry;
mod retry_policy;

pub use events::{
    Await, AwaitType, Compensation, Delay, Join, Subscription, TriggerType, one_or_many,
};
pub use retry::Retry;
pub use retry_policy::{canonical_definition, canonical_retry, has_retry_policy};

/// Where a run goes when a step ended. Absent and null both mean: nowhere.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transitions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_success: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_resume: Option<String>,
}

impl Transitions {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The existing transitions, with their names.
    pub fn targets(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("onSuccess", &self.on_success),
            ("onFailure", &self.on_failure),
            ("onResume", &self.on_resume),
        ]
        .into_iter()
        .filter_map(|(name, target)| Some((name, target.as_deref()?)))
    }
}

const DEFAULT_AWAITS: u64 = 10_000;

fn is_default_awaits(awaits: &u64) -> bool {
    *awaits == DEFAULT_AWAITS
}

/// The size limits of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Visits a run may make before it fails with MAX_STEPS.
    pub max_steps: u64,
    /// Awaits in the code of one visit before it fails with MAX_AWAITS. Left out if it is the
    /// default, so that definitions from before it are still the same.
    #[serde(skip_serializing_if = "is_default_awaits")]
    pub max_awaits: u64,
    /// Bytes of one step's output.
    pub max_value_bytes: usize,
    /// Bytes of the whole state.
    pub max_state_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 1_000,
            max_awaits: DEFAULT_AWAITS,
            max_value_bytes: 1 << 20,
            max_state_bytes: 10 << 20,
        }
    }
}

impl Limits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flow_reads_with_every_field_and_reads_back() {
        let written = json!({
            "id": "f", "version": "1.0.0", "name": "F", "description": "d", "tags": ["t"],
            "initialStepId": "a", "timeoutMs": 5, "result": "x.y",
            "limits": {"maxSteps": 1, "maxValueBytes": 2, "maxStateBytes": 3},
            "inputSchema": {"type": "object"}, "stateSchema": true,
            "steps": {"a": {
                "id": "a", "type": "set", "name": "A", "config": {"value": 1},
                "input": {"type": "key", "key": "k"}, "outputKey": "x", "timeoutMs": 7,
                "transitions": {"onSuccess": "a", "onFailure": "a", "onResume": "a"},
                "retry": {"maxAttempts": 2, "backoffMs": 1, "backoffMultiplier": 3.0,
                    "maxBackoffMs": 9, "retryOn": ["E"], "jitter": 0.5},
            }},
        });
        let flow: Flow = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&flow).unwrap(), written);
        assert_eq!(flow.key(), "f@1.0.0");
    }

    #[test]
    fn what_a_flow_leaves_out_has_a_default() {
        let least = json!({"id": "f", "version": "1", "initialStepId": "a",
            "steps": {"a": {"type": "set", "retry": {"maxAttempts": 2}}}});
        let flow: Flow = serde_json::from_value(least).unwrap();
        let (limits, step) = (&flow.limits, &flow.steps["a"]);
        assert_eq!(
            (
                limits.max_steps,
                limits.max_value_bytes,
                limits.max_state_bytes
            ),
            (1_000, 1 << 20, 10 << 20)
        );
        assert_eq!((&step.id, &step.input), (&None, &Selector::Full));
        let retry = step.retry.as_ref().unwrap();
        assert_eq!((retry.backoff_ms, retry.max_backoff_ms), (0, 60_000));
    }
}
