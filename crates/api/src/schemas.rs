//! The shapes of requests and answers, as the OpenAPI document shows them.
//!
//! What the server serialises itself (runs, events) is written down here for readers; a test
//! compares it with real answers.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use riverrun_types::{EventId, Json, RunId, RunStatus};

/// Every failure has this shape.
#[derive(ToSchema)]
pub struct Failure {
    pub error: FailureBody,
}

#[derive(ToSchema)]
pub struct FailureBody {
    /// Stable: what programs should look at.
    #[schema(example = "RUN_NOT_FOUND")]
    pub code: String,
    /// For people; may change.
    pub message: String,
    /// What belongs to the code: issues, a field, a limit.
    pub details: Option<Value>,
    /// A page about the code.
    pub docs: Option<String>,
}

/// One thing to say about a definition.
#[derive(ToSchema)]
pub struct Issue {
    /// A dot path into the definition.
    pub path: String,
    pub rule: String,
    pub message: String,
    /// `error` or `warning`.
    pub severity: String,
}

/// What a registration did.
#[derive(ToSchema)]
pub struct RegisteredFlow {
    pub id: String,
    pub version: String,
    /// False where the same definition was there already.
    pub created: bool,
    /// Warnings.
    pub issues: Vec<Issue>,
}

#[derive(ToSchema)]
pub struct Validation {
    pub valid: bool,
    pub issues: Vec<Issue>,
}

/// A flow as lists show it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowSummary {
    pub id: String,
    pub version: String,
    /// ISO 8601.
    pub created_at: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub tags: Option<Vec<String>>,
    /// How many steps it has.
    pub steps: u64,
}

#[derive(ToSchema)]
pub struct FlowList {
    pub items: Vec<FlowSummary>,
}

/// A registered version.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowDetail {
    pub id: String,
    pub version: String,
    /// ISO 8601.
    pub created_at: String,
    /// As it was registered; `/api/schemas/flow` is its schema.
    pub definition: Value,
}

/// What leads where in a flow.
#[derive(ToSchema)]
pub struct FlowDiagram {
    /// `id@version`.
    pub flow: String,
    pub name: Option<String>,
    pub nodes: Vec<FlowNode>,
    pub edges: Vec<FlowEdge>,
    /// What has to come from outside: events that no step says it emits, and doors.
    pub outside: Option<Vec<FlowOutside>>,
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
    /// The kind of the event, or who opens the door: `webhook`, `user` or `api`.
    pub label: String,
    /// `enters` (an event that enters the step), `resumes` (one that it waits for) or `opens` (a
    /// door that it waits at).
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

/// How to start a run. Everything may be absent, and so may the body.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StartBody {
    /// What the run's state begins with. An empty object where absent.
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    /// The same key for the same flow and tenant answers with the first run. The header
    /// `Idempotency-Key` does the same.
    pub idempotency_key: Option<String>,
    pub tags: Vec<String>,
    /// Kept with the run for its owner.
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Json>,
    pub tenant_id: Option<String>,
    /// Begin no step for this long.
    pub delay_ms: Option<u64>,
    /// The newest version where absent.
    pub version: Option<String>,
    /// A fresh id where absent.
    pub run_id: Option<String>,
    /// The story that it belongs to; its own where absent.
    pub correlation_id: Option<String>,
    /// What brought it about: the id of a run, a job or an event.
    pub causation_id: Option<String>,
}

/// A run that was started, now or by an earlier request with the same key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    #[schema(value_type = String)]
    pub run_id: RunId,
    /// How far it had come when it became durable.
    #[schema(value_type = String)]
    pub status: RunStatus,
    pub created: bool,
}

/// A run as lists show it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunSummary {
    pub run_id: String,
    /// `flow`.
    pub kind: String,
    pub flow: String,
    pub version: String,
    /// `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// ISO 8601, like all times.
    pub created_at: String,
    pub updated_at: String,
    pub ended_at: Option<String>,
    pub duration_ms: Option<i64>,
    /// When it moves by itself.
    pub wake_at: Option<String>,
    pub error: Option<Value>,
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
    /// The run and the step that started it: `{runId, step, visit}`.
    pub parent: Option<Value>,
    /// The run it was forked or rerun from: `{runId, eventId}`.
    pub forked_from: Option<Value>,
    /// The story that it belongs to, if that is not its own.
    pub correlation_id: Option<String>,
    /// How many events its stream has.
    pub events: u64,
}

/// A run with its state.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Run {
    #[schema(inline)]
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Visits begun so far.
    pub step_count: u64,
    /// The latest news of each step: `{status, visits, attempt, startedAt?, completedAt?, error?}`.
    pub steps: Value,
    /// `{source, reason?}`.
    pub cancellation: Option<Value>,
    pub input: Value,
    /// Once it has ended.
    pub result: Option<Value>,
    pub state: Value,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunList {
    pub items: Vec<RunSummary>,
    /// Give it as `cursor` to read on; absent on the last page.
    pub next_cursor: Option<String>,
}

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
    /// Give it as `cursor` to read on; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Emitted events to which nobody reacted.
#[derive(Serialize, ToSchema)]
pub struct Unheard {
    /// Of all kinds, since the store was made.
    pub total: u64,
    pub kinds: Vec<UnheardKind>,
}

/// How many events of a kind nobody reacted to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnheardKind {
    pub kind: String,
    pub count: u64,
    pub last_at: String,
}

/// Events of many streams.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EventsOfKind {
    /// Each also has `stream`, the full name of the stream that it is from, and `cursor`.
    pub items: Vec<Event>,
    /// Give it as `cursor` to read on; absent where nothing more is there yet.
    pub next_cursor: Option<String>,
    /// Where to go on later: give it as `from`.
    pub cursor: String,
}

/// The state at a moment.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StateAt {
    pub run_id: String,
    /// The time of the last event that counts; absent before the first.
    pub at: Option<String>,
    /// How many events led to it.
    pub events: u64,
    pub status: String,
    pub state: Value,
}

#[derive(ToSchema)]
pub struct RunAwaits {
    pub items: Vec<RunAwait>,
}

/// What a visit waits for, or a door that its code holds open: `event` or `trigger`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RunAwait {
    /// Whoever knows a door's id may open it.
    pub id: String,
    pub step: String,
    pub visit: u32,
    /// ISO 8601.
    pub created_at: String,
    pub expires_at: Option<String>,
    /// `{kind, match?: [[path, value]], filter?, lookbackMs?}`
    #[schema(value_type = Option<Object>)]
    pub event: Option<Value>,
    /// `{type, payload?, many?, signed?, secret?}`
    #[schema(value_type = Option<Object>)]
    pub trigger: Option<Value>,
    /// When it was fired last.
    pub fired_at: Option<String>,
    /// What it was fired with.
    pub values: Option<Vec<Value>>,
}

/// Why a run, or a job, is where it is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Why {
    pub run_id: String,
    /// `flow` or `job`.
    pub kind: String,
    /// The id of a run's flow.
    pub flow: Option<String>,
    /// The run's status, or the job's state.
    pub status: String,
    /// Whether something is under way or about to begin.
    pub moving: bool,
    /// The first reason in a line, and how many others there are.
    pub summary: String,
    /// One for each active visit, the most telling first; those of the whole run before them.
    pub reasons: Vec<WhyReason>,
    /// Active visits that were not looked at, because there are so many.
    pub more: Option<u32>,
    /// The run has failed and undoes what it did.
    pub compensating: Option<bool>,
    /// When the run fails with TIMEOUT unless it has ended. ISO 8601.
    pub deadline_at: Option<String>,
}

/// Which members there are depends on the kind.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WhyReason {
    /// `ended`, `paused`, `not-before`, `await-time`, `await-event`, `await-trigger`, `backoff`,
    /// `queue-paused`, `no-worker`, `no-room`, `concurrency`, `rate-limit`, `gathering`,
    /// `delayed`, `queued`, `lease-expired`, `running`, `child`, `branches` or `ready`.
    pub kind: String,
    /// In a line.
    pub summary: String,
    /// The visit that it is about; reasons of the whole run have none.
    pub step: Option<String>,
    pub visit: Option<u32>,
    pub attempt: Option<u32>,
    /// Of the visit.
    pub status: Option<String>,
    /// The finished visit that this one undoes.
    pub undoes: Option<String>,
    /// ISO 8601.
    pub since: Option<String>,
    /// When it is over by itself, as far as anybody knows. ISO 8601.
    pub until: Option<String>,
    /// Of a pause, or of a time that is waited for.
    pub reason: Option<String>,
    pub await_id: Option<String>,
    pub event_kind: Option<String>,
    /// What the event must be like: `{match?, where?}`.
    pub condition: Option<Value>,
    /// `webhook`, `user` or `api`.
    pub trigger_type: Option<String>,
    /// Where the trigger is fired.
    pub url: Option<String>,
    /// What is awaited has come, and the run is about to go on. ISO 8601.
    pub fired_at: Option<String>,
    /// How often a door was opened that waits for more, and how often it is to be, if that was said.
    pub opened: Option<u32>,
    pub wanted: Option<u32>,
    /// Why its `where` could not be judged: `{at, code, message}`. Such events are passed over.
    pub trouble: Option<Value>,
    /// Events of the kind that its `where` has yet to judge, counted up to 100.
    pub judging: Option<u32>,
    /// Of the last attempt.
    pub error: Option<Value>,
    pub job: Option<WhyJob>,
    /// The process that nobody here knows.
    pub process: Option<String>,
    /// Of `concurrency`: the key, if it is the limit of each key.
    pub key: Option<String>,
    /// Jobs of the queue, or of the key, that may run at once.
    pub limit: Option<u32>,
    /// Of `concurrency`: those that run. Of `branches`: those that are active, as
    /// `{index, step, visit, status}`.
    pub active: Option<Value>,
    /// Jobs of the queue that may begin within a window.
    pub max: Option<u32>,
    pub window_ms: Option<i64>,
    /// Jobs that make a batch, and how many wait.
    pub count: Option<u32>,
    pub waiting: Option<u64>,
    /// The run that is waited for.
    pub child_id: Option<String>,
    pub child_flow: Option<String>,
    /// Why that run is where it is: a `Why`, at most five deep.
    pub child: Option<Value>,
    /// Branches in all, ended, and failed of those.
    pub total: Option<u64>,
    pub ended: Option<u64>,
    pub failed: Option<u64>,
    /// The server drives as many runs as it may.
    pub busy: Option<bool>,
}

/// The job that a reason is about.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WhyJob {
    pub id: String,
    pub queue: String,
    pub state: String,
    /// Of a waiting one: how many of the same key, or without one, begin before it. Counted up to
    /// 1,000.
    pub ahead: Option<u64>,
    /// Of an active one: who runs it, and how long that is believed (ISO 8601).
    pub owner: Option<String>,
    pub lease_until: Option<String>,
    /// Somebody wants it stopped.
    pub cancelling: Option<bool>,
}

/// An attempt that has ended.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct HistoryEntry {
    pub step_id: String,
    pub handler_type: Option<String>,
    pub visit: u32,
    pub attempt: u32,
    /// `success`, `failure`, `wait` or `cancelled`.
    pub outcome: String,
    pub started_at: String,
    pub completed_at: String,
    pub duration_ms: i64,
    pub error: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct HistoryList {
    pub items: Vec<HistoryEntry>,
    /// Give it as `cursor` to read on; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Why something is done, for the record.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReasonBody {
    pub reason: Option<String>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RerunBody {
    /// Instead of the input of the first run.
    #[serde(deserialize_with = "present")]
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    /// With the newest version of the flow instead of the run's own.
    pub latest: bool,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ForkBody {
    /// The last event that both runs share; everything up to now where absent.
    #[schema(value_type = Option<String>)]
    pub at: Option<EventId>,
}

/// Tells a null that was given from nothing given.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

/// The work of a run. In this version a run has one job, and the job's id is the run's.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    #[schema(value_type = String)]
    pub id: RunId,
    #[schema(value_type = String)]
    pub run_id: RunId,
    pub flow: String,
    pub version: String,
    /// The status of its run.
    #[schema(value_type = String)]
    pub status: RunStatus,
    /// It was to move by itself longer than a lease ago, and nobody has taken it up.
    pub stalled: bool,
    /// When it moves by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    pub items: Vec<Job>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run in FlowMonkey's shape. Times are milliseconds since 1970.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    #[schema(value_type = String)]
    pub id: RunId,
    pub flow_id: String,
    pub flow_version: String,
    /// The step that is active, or the last one that was.
    pub current_step_id: Option<String>,
    /// `pending`, `running`, `waiting`, `completed`, `failed` or `cancelled`. A paused run waits,
    /// with the reason `paused`.
    pub status: &'static str,
    #[schema(value_type = Value)]
    pub context: riverrun_types::State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExecutionError>,
    pub step_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub metadata: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent_execution_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<ExecutionCancellation>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionError {
    pub code: String,
    pub message: String,
    pub step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub details: Option<Json>,
    pub timestamp: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCancellation {
    /// `user`, `timeout`, `system` or `parent`.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub cancelled_at: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionList {
    pub items: Vec<Execution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A stream that is no run's, as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamSummary {
    pub id: String,
    pub r#type: String,
    /// The full name, as `/api/events/{stream}` takes it.
    pub stream: String,
    /// How many events it has.
    pub events: u64,
    pub created_at: String,
    pub updated_at: String,
}

/// A stream that is no run's: what it begins and ends with.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StreamView {
    pub id: String,
    pub r#type: String,
    /// The full name.
    pub stream: String,
    /// Of a trigger: what its events reduce to, with `status` `registered`, `fired`, `timeout` or
    /// `cancelled`.
    pub state: Option<Value>,
    /// How many events it has.
    pub events: u64,
    pub first: Event,
    pub last: Event,
    /// A page of its events.
    pub items: Vec<Event>,
    pub next_cursor: Option<String>,
}

/// Where the events that were appended stand.
#[derive(Serialize, ToSchema)]
pub struct Appended {
    /// The full name.
    pub stream: String,
    #[schema(value_type = Vec<String>)]
    pub ids: Vec<EventId>,
}

/// An event, as anybody may write it: in the form in which events leave, or in an older one.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct NewEvent {
    #[schema(example = "order.paid")]
    pub r#type: String,
    pub step_name: Option<String>,
    pub attempt: Option<u32>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    pub data: Option<Value>,
}

/// An event and where it goes: to a run, to a stream, or to `nq:global`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EmittedEvent {
    pub run_id: Option<String>,
    /// A full name, such as `nq:webhook:github`.
    pub stream: Option<String>,
    /// The same key again, for the same stream, stores nothing and answers with the first event.
    pub idempotency_key: Option<String>,
    #[schema(inline)]
    #[serde(flatten)]
    pub event: NewEvent,
}

/// A kind of step that this server can run.
#[derive(Serialize, ToSchema)]
pub struct HandlerInfo {
    /// The `type` that steps name it by.
    pub r#type: String,
    pub about: String,
    /// `none`: it depends on its input alone and touches nothing. `some`: it talks to the world.
    pub effects: &'static str,
    /// JSON Schema of a step's `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

#[derive(Serialize, ToSchema)]
pub struct HandlerList {
    pub items: Vec<HandlerInfo>,
}

#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
}

#[derive(Serialize, ToSchema)]
pub struct Version {
    pub name: &'static str,
    pub version: &'static str,
    /// Facts about the store, for people.
    #[schema(value_type = Value)]
    pub store: Json,
}

/// A page of a list.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(
        default = "crate::page::default_limit",
        deserialize_with = "crate::extract::page_limit"
    )]
    #[param(value_type = Option<u32>)]
    pub limit: usize,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
}

/// One job, or several under `jobs`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AddJobs {
    /// The queue's name where absent.
    pub name: Option<String>,
    /// What the handler gets.
    pub data: Option<Value>,
    pub options: Option<AddOptions>,
    /// Several jobs, each with `name`, `data` and `options`.
    pub jobs: Option<Vec<Value>>,
}

/// How a job is to be run, where it differs from what its process says.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AddOptions {
    /// The same id again is the same job.
    pub job_id: Option<String>,
    /// Higher goes first.
    pub priority: Option<i32>,
    pub delay_ms: Option<u64>,
    /// ISO 8601 or milliseconds.
    pub run_at: Option<String>,
    pub attempts: Option<u32>,
    /// `{type: fixed | exponential, delayMs, maxDelayMs?, jitter?}`
    pub backoff: Option<Value>,
    pub timeout_ms: Option<u64>,
    /// `dlq`, `retry` or `drop`.
    pub on_fail: Option<String>,
    pub retriable_errors: Option<Vec<String>>,
    /// One job for this key, as long as the job is known or for a time.
    pub idempotency_key: Option<String>,
    pub idempotency_window_ms: Option<u64>,
    /// `{key, windowMs?}`: the same, said in one.
    pub idempotency: Option<Value>,
    /// `{key, windowMs?}`: one job for this key, until it has ended or for a time.
    pub dedupe: Option<Value>,
    /// `{key?, windowMs}`: the first job of each window.
    pub throttle: Option<Value>,
    /// `{key?, delayMs}`: the last job, once nobody has added another for a while.
    pub debounce: Option<Value>,
    /// Jobs of one key take turns with other keys and share the key's concurrency.
    pub key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
}

/// What became of the jobs, in order.
#[derive(ToSchema)]
pub struct AddedJobs {
    /// Each `{jobId, created}`.
    pub jobs: Vec<Value>,
}

/// A job of a queue.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct QueueJob {
    pub id: String,
    pub queue: String,
    pub name: String,
    /// `waiting`, `delayed`, `active`, `completed`, `failed` or `cancelled`.
    pub state: String,
    pub data: Value,
    pub priority: i32,
    pub key: Option<String>,
    /// Attempts begun.
    pub attempt: u32,
    pub created_at: String,
    pub run_at: Option<String>,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub progress: Option<Value>,
    pub checkpoint: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct QueueJobList {
    pub items: Vec<QueueJob>,
    pub next_cursor: Option<String>,
}

/// A queue: how many jobs it has in each state, and how fast it is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Queue {
    pub name: String,
    pub paused: bool,
    /// The process that takes its jobs here.
    pub process: Option<String>,
    /// By state.
    pub counts: Value,
    /// How long the job that has waited longest has waited.
    pub oldest_ms: Option<i64>,
    /// Rates and latencies that this server has seen since it started.
    pub stats: Value,
}

#[derive(ToSchema)]
pub struct QueueList {
    pub items: Vec<Queue>,
}

#[derive(ToSchema)]
pub struct Removed {
    pub removed: u64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Redriven {
    pub redriven: u64,
    /// There are more, and they follow in the background.
    pub goes_on: bool,
}

/// The jobs of runs, or of queues where the request asks for those.
#[derive(ToSchema)]
pub enum AnyJobList {
    Runs(JobList),
    Queues(QueueJobList),
}

/// The result of a call.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Executed {
    pub call_id: String,
    pub value: Value,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ShownProcess {
    pub id: String,
    /// `queue`, `flow` or `call`; not known of one that never loaded.
    pub run_mode: Option<String>,
    pub queue: Option<String>,
    pub language: Option<String>,
    pub file: Option<String>,
    pub config: Option<Value>,
    /// Why its file does not load, with a code and a message.
    pub error: Option<Value>,
}

#[derive(ToSchema)]
pub struct ProcessList {
    pub items: Vec<ShownProcess>,
}

/// A remote worker.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ShownWorker {
    /// Tells workers of the same name apart.
    pub id: u64,
    pub name: String,
    pub tags: Vec<String>,
    /// The language and version of its SDK.
    pub sdk: String,
    /// The ids of the processes that it has.
    pub processes: Vec<String>,
    /// Those of them that the server has itself, and runs itself.
    pub shadowed: Option<Vec<String>>,
    /// The flows that its processes make, as `<id>@<version>`.
    pub flows: Option<Vec<String>>,
    /// Why some flow is not what its processes say: `{code, message}`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub faults: Option<Vec<Value>>,
    /// How many invocations it takes at once.
    pub window: u32,
    pub running: u64,
    /// When it connected last.
    #[schema(format = DateTime)]
    pub since: String,
    /// `connected`, `draining` or `away`.
    pub state: String,
}

#[derive(ToSchema)]
pub struct WorkerList {
    pub items: Vec<ShownWorker>,
}

/// What a trigger is made of.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct NewTrigger {
    #[schema(example = "nightly")]
    pub id: String,
    /// `http`, `schedule`, `event` or `manual`.
    #[schema(example = "schedule")]
    pub r#type: String,
    /// The flow that it starts, or `id@version`.
    #[schema(example = "report")]
    pub flow: String,
    /// The newest where absent.
    pub flow_version: Option<String>,
    /// Default true.
    pub enabled: Option<bool>,
    pub description: Option<String>,
    /// What is peculiar to the type: see the documentation of triggers.
    pub config: Value,
    /// The input of its runs where nothing else gives one.
    pub input: Option<Value>,
    /// An expression that makes the input of what came.
    pub input_map: Option<String>,
    /// Where in the input it lands.
    pub context_key: Option<String>,
    /// An expression that gives the run's idempotency key.
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Trigger {
    pub id: String,
    pub r#type: String,
    /// Counts its changes.
    pub version: u64,
    pub flow: String,
    pub flow_version: Option<String>,
    pub enabled: bool,
    pub description: Option<String>,
    pub config: Value,
    pub input: Option<Value>,
    pub input_map: Option<String>,
    pub context_key: Option<String>,
    pub idempotency_key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Option<Value>,
    /// `api`, or `project` where a file keeps it.
    pub origin: String,
    pub created_at: String,
    pub updated_at: String,
    /// Where requests go that fire it.
    pub path: Option<String>,
    pub next_due_at: Option<String>,
    /// The next due times.
    pub upcoming: Option<Vec<String>>,
    pub stats: TriggerStats,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TriggerStats {
    pub fired: u64,
    pub failed: u64,
    /// Due times that passed without a run.
    pub missed: u64,
    pub last_fired_at: Option<String>,
    pub last_run_id: Option<String>,
    pub last_failed_at: Option<String>,
    pub last_error: Option<Value>,
    pub next_due_at: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TriggerList {
    pub items: Vec<Trigger>,
    /// Give it as `cursor` to read on; absent on the last page.
    pub next_cursor: Option<String>,
}

#[derive(ToSchema)]
pub struct RemovedTrigger {
    pub id: String,
    pub removed: bool,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FireBody {
    #[schema(value_type = Option<Value>)]
    pub input: Option<Json>,
    pub idempotency_key: Option<String>,
    /// Who or what fires it, for the run's metadata. Default `manual`.
    pub source: Option<String>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackfillBody {
    /// The first moment that counts: ISO 8601 or milliseconds.
    #[schema(value_type = String, example = "2026-01-01T00:00:00Z")]
    pub from: Option<Json>,
    /// The first that does not.
    #[schema(value_type = String, example = "2026-02-01T00:00:00Z")]
    pub to: Option<Json>,
    /// At most so many due times, the earliest first: up to 1,000, default 100.
    pub limit: Option<usize>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Backfilled {
    pub items: Vec<BackfilledTime>,
    /// How many runs were started.
    pub created: usize,
    /// Where to go on; absent if nothing is left.
    pub next_from: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BackfilledTime {
    pub due_at: String,
    pub run_id: String,
    /// False if there was a run for this time already.
    pub created: bool,
}
