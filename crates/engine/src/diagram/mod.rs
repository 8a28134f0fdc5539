//! A flow as a diagram: its steps and the edges between them.
//!
//! A diagram is data that serialises to JSON, and can be written as Mermaid or drawn with
//! characters. Errors in the definition are left out of it, not reported.

mod events;
mod label;
mod layout;
mod mermaid;
mod read;
mod text;

use riverrun_types::{AwaitType, Compensation, Join, TriggerType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Catalog;
pub use text::Ink;

/// The diagram of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowDiagram {
    /// `id@version`.
    pub flow: String,
    /// The display name of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In the order of the definition.
    pub nodes: Vec<FlowNode>,
    /// In the order of the steps that they lead away from.
    pub edges: Vec<FlowEdge>,
    /// The kinds of events that steps take and no step says it emits, and the callbacks, which are
    /// resumed from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<FlowOutside>,
    /// How many edges there are beside those that are listed, which are 20,000 at most.
    #[serde(
        default,
        rename = "edgesLeftOut",
        skip_serializing_if = "riverrun_types::is_zero"
    )]
    pub left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowNode {
    /// The step's name in the definition.
    pub id: String,
    #[serde(rename = "type")]
    pub kind: NodeKind,
    /// The type of its handler.
    pub handler: String,
    /// The display name of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether runs begin here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub initial: bool,
    /// Its wait.
    #[serde(default, rename = "await", skip_serializing_if = "Option::is_none")]
    pub wait: Option<FlowAwait>,
    /// The kinds of events that its handler emits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emits: Vec<String>,
    /// The kinds of events that enter it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<FlowSubscription>,
    /// `all` where one event of each kind enters it together.
    #[serde(default, skip_serializing_if = "is_any")]
    pub join: Join,
    /// The step that undoes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Compensation>,
}

fn is_any(join: &Join) -> bool {
    *join == Join::Any
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowSubscription {
    pub event_kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// An event or callback from outside the flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowOutside {
    pub to: String,
    /// The kind of the event, or who resumes the callback: `webhook`, `user` or `api`.
    pub label: String,
    #[serde(rename = "type")]
    pub kind: OutsideKind,
    /// The condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideKind {
    /// An event that enters the step.
    Enters,
    /// An event that the step waits for.
    Resumes,
    /// A callback that the step waits for.
    Opens,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    Step,
    /// A step that waits.
    AwaitStep,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowAwait {
    #[serde(rename = "type")]
    pub kind: AwaitType,
    /// How long, as the definition says it: milliseconds, a duration or a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Value>,
    /// Until when, as the definition says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_type: Option<TriggerType>,
    /// The condition on the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowEdge {
    pub from: String,
    pub to: String,
    /// When the run goes there, in a few words.
    pub label: String,
    #[serde(rename = "type")]
    pub kind: EdgeKind,
    /// The condition, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Of a wait: how long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// The usual next step.
    Then,
    /// An event that enters the step there.
    Emit,
    /// The next step after a wait; an event that ends a wait; and, from a step to itself, the wait.
    Await,
    /// The next step after a timeout.
    Timeout,
    /// The next step under a condition.
    Choice,
    /// A step that runs inside this one, before it ends.
    Inside,
    /// The next step after a failure.
    Failure,
    /// The step that undoes this one.
    Compensation,
}

impl FlowDiagram {
    /// Reads a definition. Only `handlers` know which steps a config leads to.
    pub fn of(definition: &Value, handlers: &dyn Catalog) -> Self {
        read::read(definition, handlers)
    }

    /// In Mermaid's language, for documents and web pages.
    pub fn mermaid(&self) -> String {
        mermaid::mermaid(self)
    }

    /// Drawn with characters: every step on its own line in the order in which runs reach them,
    /// its ways out below it.
    pub fn text(&self) -> String {
        self.draw(&|_, text| text.to_owned())
    }

    /// As [`text`](Self::text), with every part of the drawing passed through `paint`.
    pub fn draw(&self, paint: &dyn Fn(Ink, &str) -> String) -> String {
        text::draw(self, paint)
    }
}

#[cfg(test)]
mod tests;
