//! The config of a process, in every form that the specifications have.
//!
//! A config is read setting by setting (`fields`, `written`), checked against the rules (`check`),
//! and converted to the one form that the rest of the crate uses. All issues are reported at once.

mod check;
mod fields;
mod policy;
mod queue_name;
#[cfg(test)]
mod tests;
mod uniqueness;
mod written;

pub use fields::meant_within;
pub use policy::{OnFail, Policy, WrittenBackoff, WrittenRetry, operation_retry};
pub use queue_name::{check_new_queue_name, check_queue_name};
pub use uniqueness::{Idempotency, KeyFrom, Pace};

use fields::Fields;
use riverrun_engine::Schema;
use riverrun_expr::Expr;
use riverrun_types::{Gather, Json, Name, QueueLimits, Rate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uniqueness::Keys;
use written::{Written, WrittenLogs};

/// The most jobs of one claim, and so of one batch.
pub const MAX_CLAIM: usize = 1_024;

/// Jobs at once if the config does not say how many.
const CONCURRENCY: u32 = 16;

/// Settings that others read: flows, runners, SDKs and people.
const OTHERS: &[&str] = &[
    "await",
    "compensation",
    "description",
    "emits",
    "flow",
    "id",
    "join",
    "logger",
    "metadata",
    "name",
    "onFailure",
    "role",
    "step",
    "subscriptions",
    "tags",
    "triggers",
    "version",
];

/// How a process is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    #[default]
    Queue,
    Flow,
    Call,
}

/// A process's settings, read and checked.
pub struct ProcessConfig {
    pub run_mode: RunMode,
    pub queue: Name,
    pub limits: QueueLimits,
    /// Jobs that this instance runs at once.
    pub concurrency: u32,
    pub policy: Policy,
    pub idempotency: Option<Idempotency>,
    /// Gives a job its key where the enqueuer gave none.
    pub key: Option<Expr>,
    pub throttle: Option<Pace>,
    pub debounce: Option<Pace>,
    /// A handler gets up to this many jobs at a time.
    pub batch: Option<u32>,
    pub input_schema: Option<Schema>,
    pub output_schema: Option<Schema>,
    pub state_schema: Option<Schema>,
    /// Whether calls are recorded.
    pub persist_frames: bool,
    /// How much of what an attempt says is kept.
    pub logs: LogLimit,
    /// As it was written.
    pub raw: Json,
}

/// How much of what one attempt says (logs, progress, partial results) is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogLimit {
    pub lines: usize,
    pub bytes: usize,
}

impl Default for LogLimit {
    fn default() -> Self {
        Self {
            lines: 10_000,
            bytes: 4 << 20,
        }
    }
}

/// Something in a config that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigIssue {
    pub path: String,
    pub message: String,
}

impl ConfigIssue {
    pub fn new(path: &str, message: String) -> Self {
        Self {
            path: path.to_owned(),
            message,
        }
    }
}

impl ProcessConfig {
    /// Reads a config. `name` is the queue's name where the config gives none.
    pub fn read(raw: &Json, name: &str) -> Result<Self, Vec<ConfigIssue>> {
        let settings: Map<String, Value> = match raw.value() {
            Value::Null => Map::new(),
            Value::Object(settings) => settings,
            other => {
                let message = format!("must be an object of settings, not {other}");
                return Err(vec![ConfigIssue::new("config", message)]);
            }
        };
        let mut fields = Fields::new(settings);
        let written = Written::read(&mut fields);
        let mut issues = fields.end(OTHERS);
        let queue = written.queue.as_ref();
        let queue = queue.and_then(|queue| queue.name.as_deref());
        let queue = queue.unwrap_or(name);
        issues.extend(check::check(&written, queue));
        let mut schema = |path: &str, schema: &Option<Value>| {
            let compiled = schema.as_ref().map(Schema::compile).transpose();
            compiled.unwrap_or_else(|error| {
                issues.push(ConfigIssue::new(path, error.to_string()));
                None
            })
        };
        let input_schema = schema("inputSchema", &written.input_schema);
        let output_schema = schema("outputSchema", &written.output_schema);
        let state_schema = schema("state", &written.state);
        let keys = Keys::read(&written, &mut issues);
        if !issues.is_empty() {
            return Err(issues);
        }
        let batch = written.batch.as_ref();
        // A batch can be filled, however few jobs may run at once otherwise.
        let least = batch.map_or(1, |batch| batch.size);
        let limit = written.concurrency().map(|jobs| jobs.max(least));
        Ok(Self {
            run_mode: written.run_mode,
            queue: Name::from(queue),
            limits: QueueLimits {
                concurrency: limit,
                per_key: written.key_concurrency,
                rate: written.rate_limit.as_ref().map(|rate| Rate {
                    max: rate.max,
                    window_ms: rate.duration_ms,
                }),
                gather: batch.map(|batch| Gather {
                    count: batch.size,
                    wait_ms: batch.wait_ms,
                }),
            },
            concurrency: limit.unwrap_or(CONCURRENCY.max(least)),
            policy: Policy::read(
                written.retry.as_ref(),
                written.dlq.as_ref(),
                written.timeout_ms,
            ),
            idempotency: keys.idempotency,
            key: keys.key,
            throttle: keys.throttle,
            debounce: keys.debounce,
            batch: batch.map(|batch| batch.size),
            input_schema,
            output_schema,
            state_schema,
            persist_frames: written.persist_frames.unwrap_or(true),
            logs: written
                .logs
                .as_ref()
                .map_or_else(LogLimit::default, WrittenLogs::limit),
            raw: raw.clone(),
        })
    }
}
