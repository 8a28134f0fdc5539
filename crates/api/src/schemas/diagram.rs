//! A flow as a diagram.

use serde_json::Value;
use utoipa::ToSchema;

/// What leads where in a flow.
#[derive(ToSchema)]
pub struct FlowDiagram {
    /// `id@version`.
    pub flow: String,
    pub name: Option<String>,
    pub nodes: Vec<FlowNode>,
    pub edges: Vec<FlowEdge>,
    /// What has to come from outside: events that no step says it emits, and callbacks.
    pub outside: Option<Vec<FlowOutside>>,
    /// How many edges there are beside those that are listed, which are 20,000 at most.
    #[schema(rename = "edgesLeftOut")]
    pub edges_left_out: Option<u64>,
}

#[derive(ToSchema)]
pub struct FlowNode {
    /// The step's name in the definition.
    pub id: String,
    /// `step`, or `await-step` where it waits.
    pub r#type: String,
    /// The type of its handler.
    pub handler: String,
    pub name: Option<String>,
    /// Whether runs begin here.
    pub initial: Option<bool>,
    pub r#await: Option<FlowAwait>,
    /// The kinds of events that its handler emits.
    pub emits: Option<Vec<String>>,
    /// The kinds of events that enter it.
    pub subscriptions: Option<Vec<FlowSubscription>>,
    /// `all` where one event of each kind enters it together.
    pub join: Option<String>,
    pub compensation: Option<FlowCompensation>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowSubscription {
    pub event_kind: String,
    pub when: Option<String>,
}

/// What undoes a step.
#[derive(ToSchema)]
pub struct FlowCompensation {
    pub step: String,
    /// Kinds of events that call for it; the run's failure always does.
    pub on: Option<Vec<String>>,
}

/// What comes from outside the flow.
#[derive(ToSchema)]
pub struct FlowOutside {
    pub to: String,
    /// The kind of the event, or who resumes the callback: `webhook`, `user` or `api`.
    pub label: String,
    /// `enters` (an event that enters the step), `resumes` (one that it waits for) or `opens` (a
    /// callback that it waits for).
    pub r#type: String,
    pub condition: Option<String>,
}

/// What a step waits for.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowAwait {
    /// `time`, `event` or `trigger`.
    pub r#type: String,
    /// How long, as the definition says it.
    pub delay: Option<Value>,
    /// Until when, as the definition says it.
    pub until: Option<Value>,
    pub event_kind: Option<String>,
    /// `webhook`, `user` or `api`.
    pub trigger_type: Option<String>,
    /// What must hold of the event.
    pub condition: Option<String>,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
}

#[derive(ToSchema)]
pub struct FlowEdge {
    pub from: String,
    pub to: String,
    /// When the run goes there, in a few words.
    pub label: String,
    /// `then`, `emit` (an event that enters the step there), `await` (when the wait is over; from
    /// a step to itself, the wait), `timeout`, `choice`, `inside` (before the step ends),
    /// `failure` or `compensation`.
    pub r#type: String,
    /// What must hold, in full.
    pub condition: Option<String>,
    /// Of a wait: how long it may take, in milliseconds.
    pub timeout: Option<u64>,
}
