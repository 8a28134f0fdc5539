//! Events: read, of many streams, and written.

use riverrun_types::EventId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One fact of a stream.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Event {
    /// `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader.
    #[schema(example = "1761754554858-0")]
    pub id: String,
    /// ISO 8601.
    pub ts: String,
    #[schema(example = "step.completed")]
    pub r#type: String,
    pub run_id: String,
    pub flow_name: String,
    pub step_name: Option<String>,
    pub step_id: Option<String>,
    pub attempt: Option<u32>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    pub tenant_id: Option<String>,
    pub data: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EventList {
    pub items: Vec<Event>,
    /// The `cursor` of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Events of many streams.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EventsOfKind {
    /// Each also has `stream`, the full name of the stream that it is from, and `cursor`.
    pub items: Vec<Event>,
    /// The `cursor` of the next page; absent if there are no more events yet.
    pub next_cursor: Option<String>,
    /// The `from` of a later request.
    pub cursor: String,
}

/// An event from a client. Older forms are accepted as well.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    #[schema(example = "order.paid")]
    pub r#type: String,
    pub step_name: Option<String>,
    pub attempt: Option<u32>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    /// The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it. An
    /// event of a run has the tenant of the run; another one is rejected.
    pub tenant_id: Option<String>,
    pub data: Option<Value>,
}

/// An event, or a list of events.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum NewEvents {
    One(NewEvent),
    Several(Vec<NewEvent>),
}

/// An event and where it goes: to a run, to a stream, or to `nq:global`. Older forms are accepted as
/// well.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmittedEvent {
    #[schema(example = "order.paid")]
    pub r#type: String,
    pub run_id: Option<String>,
    /// A full name, such as `nq:webhook:github`.
    pub stream: Option<String>,
    /// The same key again, for the same stream, stores nothing and answers with the first event.
    pub idempotency_key: Option<String>,
    pub step_name: Option<String>,
    pub attempt: Option<u32>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    /// The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it. An
    /// event of a run has the tenant of the run; another one is rejected.
    pub tenant_id: Option<String>,
    pub data: Option<Value>,
}

/// Where the events that were appended stand.
#[derive(Serialize, ToSchema)]
pub struct Appended {
    /// The full name.
    pub stream: String,
    #[schema(value_type = Vec<String>)]
    pub ids: Vec<EventId>,
}

/// Emitted events without a receiver.
#[derive(Serialize, ToSchema)]
pub struct Unheard {
    /// Of all types, since the store was created.
    pub total: u64,
    pub types: Vec<UnheardKind>,
}

/// How many events of a type had no receiver.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnheardKind {
    pub r#type: String,
    pub count: u64,
    pub last_at: String,
}

/// Open awaits of all runs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwaitStats {
    /// Open awaits of events.
    pub events: u64,
    /// Open callbacks: webhooks, answers of people.
    #[serde(rename = "doors")]
    pub callbacks: u64,
    /// Emitted events for which a `where` expression or an event trigger has yet to be evaluated.
    /// Counted up to 10,000.
    pub judging: u64,
    /// When the first of them arrived. ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judging_since: Option<String>,
    /// The event types that most awaits wait for, up to 1,000, and those of events that wait for an
    /// expression.
    pub types: Vec<AwaitKind>,
}

/// How many awaits wait for events of a type.
#[derive(Serialize, ToSchema)]
pub struct AwaitKind {
    pub r#type: String,
    pub open: u64,
    /// Awaits among them that have an expression (`where`).
    pub filters: u64,
    /// Events of this type that wait for an expression to be evaluated.
    pub judging: u64,
}
