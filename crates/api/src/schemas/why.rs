//! Why a run or a job does not continue.

use serde_json::Value;
use utoipa::ToSchema;

/// Why a run, or a job, is where it is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Why {
    pub run_id: String,
    /// `flow`, `job` or `call`.
    pub kind: String,
    /// The id of a run's flow.
    pub flow: Option<String>,
    /// The run's status, the job's state, or whether the call runs or how it has ended.
    pub status: String,
    /// Whether something is under way or about to begin.
    pub moving: bool,
    /// The first reason in a line, and how many others there are.
    pub summary: String,
    /// One for each active visit, the most telling first; those of the whole run before them.
    pub reasons: Vec<WhyReason>,
    /// Active visits that were not looked at, because there are so many.
    pub more: Option<u32>,
    /// The code of the failure with which the run ends once what is active has ended.
    pub failing: Option<String>,
    /// The run has failed and undoes what it did.
    pub compensating: Option<bool>,
    /// When the run fails with TIMEOUT unless it has ended. ISO 8601.
    pub deadline_at: Option<String>,
}

/// Which members there are depends on the kind.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WhyReason {
    /// `ended`, `paused`, `parked`, `not-before`, `await-time`, `await-event`, `await-trigger`, `backoff`,
    /// `queue-paused`, `no-worker`, `process-broken`, `no-room`, `concurrency`, `rate-limit`,
    /// `gathering`, `delayed`, `queued`, `lease-expired`, `worker-away`, `running`, `child`,
    /// `branches` or `ready`.
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
    /// When the reason ends by itself, if that is known. ISO 8601.
    pub until: Option<String>,
    /// Of what is parked: why, and the command that releases it.
    pub code: Option<String>,
    pub message: Option<String>,
    pub details: Option<Value>,
    pub release: Option<String>,
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
    /// When the awaited event or request arrived; the run is about to continue. ISO 8601.
    pub fired_at: Option<String>,
    /// How often a callback was resumed that waits for more, and how often it is to be, if that was
    /// said.
    pub opened: Option<u32>,
    pub wanted: Option<u32>,
    /// Why its `where` could not be judged: `{at, code, message}`. Such events are passed over.
    pub trouble: Option<Value>,
    /// Events of the kind that its `where` has yet to judge, counted up to 100.
    pub judging: Option<u32>,
    /// Of the last attempt, or why the process does not load.
    pub error: Option<Value>,
    /// Of `backoff`: the operation of the step's code whose try failed, `{op, name, nth?, try}`.
    pub operation: Option<Value>,
    pub job: Option<WhyJob>,
    /// The process that is unknown to this server, or that does not load.
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
    /// The run is paused, and it begins when that is over.
    pub held: Option<bool>,
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
    /// Of one that has its time: its queue is paused too, so that is not when it begins.
    pub queue_paused: Option<bool>,
    /// Of an active one: who runs it, and how long that is believed (ISO 8601).
    pub owner: Option<String>,
    pub lease_until: Option<String>,
    /// The remote worker that has it: `{id, name}`.
    pub worker: Option<Value>,
    /// Somebody wants it stopped.
    pub cancelling: Option<bool>,
}
