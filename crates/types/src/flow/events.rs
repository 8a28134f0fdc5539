//! The events of a step: which enter it, which it waits for, which undo it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Millis,
    time::{self, MAX_WAIT_MS},
};

/// A kind of event that enters a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subscription {
    pub event_kind: String,
    /// An expression over `event` and `ctx`: the event enters the step only if it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// An expression over `event` and `ctx` that gives the step's input; the event's data when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Join {
    #[default]
    Any,
    All,
}

impl Join {
    pub(super) fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// The await of a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Await {
    #[serde(rename = "type")]
    pub kind: AwaitType,
    /// For a time: how long after the handler has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Delay>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kind: Option<String>,
    /// An expression over `event` and `ctx`.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Dot paths into the event, each with a path into `input` or `state`, or `{value}`.
    #[serde(default, rename = "match", skip_serializing_if = "IndexMap::is_empty")]
    pub equal: IndexMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_type: Option<TriggerType>,
    /// The content of the callback's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// The variable in the server's environment that holds the secret with which bodies must be
    /// signed. Never the secret itself: definitions are readable by all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// How often the callback is resumed before the step goes on, with the list of all bodies.
    /// Once, with the body itself, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many: Option<u32>,
    /// How long it may take: milliseconds or a duration such as `24h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Delay>,
    /// The step that is entered when it takes longer; the visit fails with AWAIT_TIMEOUT when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<String>,
    /// Events of this last period count too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<Delay>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AwaitType {
    Time,
    Event,
    Trigger,
}

/// The kind of client that resumes a callback.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerType {
    #[default]
    Webhook,
    User,
    Api,
}

/// Milliseconds, a duration such as `1h30m`, or an expression over the handler's `result`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "must be milliseconds, a duration such as 1h30m, or an expression"
)]
pub enum Delay {
    Ms(u64),
    Text(String),
}

impl Delay {
    /// How long that is, if it is a duration that a run can wait.
    pub fn ms(&self) -> Option<Millis> {
        let ms = match self {
            Self::Ms(ms) => *ms as f64,
            Self::Text(text) => time::duration_ms(text)?,
        };
        let fits = (0.0..=MAX_WAIT_MS as f64).contains(&ms);
        fits.then_some(ms.round() as Millis)
    }
}

/// The step that undoes a finished visit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compensation {
    pub step: String,
    /// Kinds of events that trigger it; the run's failure always does.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "one_or_many"
    )]
    pub on: Vec<String>,
}

/// A list of texts, or one text by itself.
pub fn one_or_many<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "must be a text or a list of texts")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(input)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}
