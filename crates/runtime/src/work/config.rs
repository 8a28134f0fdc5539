//! What a process says about itself, in every shape that the specifications know.

use std::time::Duration;

use riverrun_engine::Schema;
use riverrun_expr::Expr;
use riverrun_store::{Gather, QueueLimits, Rate};
use riverrun_types::{Json, Name, Retry};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{fields::Fields, worker::MAX_CLAIM};

/// Attempts where nobody says how many: a crash of a worker must not be the end of a job.
const ATTEMPTS: u32 = 3;
/// Jobs at once where nobody says how many.
const CONCURRENCY: u32 = 16;
const MAX_CONCURRENCY: u32 = 65_536;
/// The most jobs of a batch: those that one claim takes.
const MAX_BATCH: u32 = MAX_CLAIM as u32;

/// How a process is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
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

/// What happens to an attempt that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub retry: Retry,
    pub on_fail: OnFail,
    /// Where failed jobs are copied to.
    pub dead_queue: Option<Name>,
    pub timeout: Option<Duration>,
}

/// What becomes of a job that has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFail {
    /// It is a dead letter of its queue.
    #[default]
    Dlq,
    /// It is never failed for good: it is tried for ever, at the longest delay.
    Retry,
    /// It is forgotten.
    Drop,
}

/// How a job gets its idempotency key.
pub struct Idempotency {
    pub from: KeyFrom,
    /// How long a key is taken; as long as its job is known where absent.
    pub window: Option<Duration>,
}

pub enum KeyFrom {
    /// All of the job's data.
    Auto,
    Expr(Expr),
}

/// One job in a while: the first of a window, or the last.
pub struct Pace {
    pub time: Duration,
    /// Jobs of one key have a pace of their own. The job's own key where absent.
    pub key: Option<Expr>,
}

/// Something in a config that does not fit.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ConfigIssue {
    pub path: String,
    pub message: String,
}

/// Settings that others read: flows, runners, SDKs and people.
const OTHERS: &[&str] = &[
    "await",
    "cancelGraceMs",
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

#[derive(Default)]
struct Written {
    run_mode: RunMode,
    queue: Option<WrittenQueue>,
    concurrency: Option<u32>,
    key_concurrency: Option<u32>,
    rate_limit: Option<WrittenRate>,
    retry_policy: Option<WrittenRetry>,
    dlq: Option<WrittenDlq>,
    timeout_ms: Option<u64>,
    idempotency_key: Option<Function>,
    idempotency_window_ms: Option<u64>,
    idempotency: Option<WrittenIdempotency>,
    key: Option<Function>,
    throttle: Option<WrittenThrottle>,
    debounce: Option<WrittenDebounce>,
    batch: Option<WrittenBatch>,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    state: Option<Value>,
    persist_frames: Option<bool>,
    logs: Option<WrittenLogs>,
}

impl Written {
    fn read(fields: &mut Fields) -> Self {
        Self {
            run_mode: fields.take("runMode").unwrap_or_default(),
            queue: fields.take("queue"),
            concurrency: fields.take("concurrency"),
            key_concurrency: fields.take("keyConcurrency"),
            rate_limit: fields.take("rateLimit"),
            retry_policy: fields.take("retryPolicy"),
            dlq: fields.take("dlq"),
            timeout_ms: fields.take("timeoutMs"),
            idempotency_key: fields.take("idempotencyKey"),
            idempotency_window_ms: fields.take("idempotencyWindowMs"),
            idempotency: fields.take("idempotency"),
            key: fields.take("key"),
            throttle: fields.take("throttle"),
            debounce: fields.take("debounce"),
            batch: fields.take("batch"),
            input_schema: fields.take("inputSchema"),
            output_schema: fields.take("outputSchema"),
            state: fields.take("state"),
            persist_frames: fields.take("persistFrames"),
            logs: fields.take("logs"),
        }
    }
}

/// `'name'`, or `{name, …}` with settings of its own.
#[derive(Default)]
struct WrittenQueue {
    name: Option<String>,
    concurrency: Option<u32>,
}

impl<'de> Deserialize<'de> for WrittenQueue {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Settings {
            name: Option<String>,
            concurrency: Option<u32>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = WrittenQueue;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a queue, or {name, concurrency}")
            }

            fn visit_str<E>(self, name: &str) -> Result<WrittenQueue, E> {
                Ok(WrittenQueue {
                    name: Some(name.to_owned()),
                    concurrency: None,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenQueue, A::Error> {
                let Settings { name, concurrency } =
                    Settings::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WrittenQueue { name, concurrency })
            }
        }
        input.deserialize_any(Either)
    }
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{maxLines, maxBytes}"
)]
struct WrittenLogs {
    max_lines: Option<usize>,
    max_bytes: Option<usize>,
}

impl WrittenLogs {
    fn limit(&self) -> LogLimit {
        let usual = LogLimit::default();
        LogLimit {
            lines: self.max_lines.unwrap_or(usual.lines),
            bytes: self.max_bytes.unwrap_or(usual.bytes),
        }
    }
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{max, durationMs}"
)]
struct WrittenRate {
    max: u32,
    duration_ms: i64,
}

#[derive(Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    default,
    deny_unknown_fields,
    expecting = "{attempts, backoff, onFail, retriableErrors}"
)]
pub(super) struct WrittenRetry {
    pub(super) attempts: Option<u32>,
    pub(super) backoff: Option<WrittenBackoff>,
    pub(super) on_fail: Option<OnFail>,
    pub(super) retriable_errors: Option<Vec<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{type, delayMs, maxDelayMs, jitter}"
)]
pub(super) struct WrittenBackoff {
    #[serde(rename = "type", default)]
    kind: BackoffKind,
    #[serde(alias = "delay")]
    delay_ms: u64,
    #[serde(alias = "capMs")]
    max_delay_ms: Option<u64>,
    jitter: Option<f64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BackoffKind {
    Fixed,
    #[default]
    Exponential,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "{enabled, queue}")]
struct WrittenDlq {
    enabled: Option<bool>,
    queue: Option<String>,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{key, windowMs}"
)]
struct WrittenIdempotency {
    key: Function,
    window_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{windowMs, key}"
)]
struct WrittenThrottle {
    key: Option<Function>,
    #[serde(alias = "durationMs")]
    window_ms: u64,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{delayMs, key}"
)]
struct WrittenDebounce {
    key: Option<Function>,
    #[serde(alias = "durationMs", alias = "windowMs")]
    delay_ms: u64,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{size, waitMs}"
)]
struct WrittenBatch {
    #[serde(alias = "max")]
    size: u32,
    #[serde(default, alias = "timeoutMs")]
    wait_ms: i64,
}

/// A function's source, an expression, or the word `auto`.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be a function, an expression as text, or 'auto'"
)]
enum Function {
    Source {
        #[serde(rename = "$function")]
        source: String,
    },
    Text(String),
}

impl Function {
    fn source(&self) -> &str {
        let (Self::Source { source } | Self::Text(source)) = self;
        source
    }
}

impl ProcessConfig {
    /// Reads a config. `name` is the queue's name where the config gives none.
    pub fn read(raw: &Json, name: &str) -> Result<Self, Vec<ConfigIssue>> {
        let issue = |path: &str, message: String| ConfigIssue {
            path: path.to_owned(),
            message,
        };
        let settings: Map<String, Value> = match raw.value() {
            Value::Null => Map::new(),
            Value::Object(settings) => settings,
            other => {
                let message = format!("must be an object of settings, not {other}");
                return Err(vec![issue("config", message)]);
            }
        };
        let mut fields = Fields::new(settings);
        let written = Written::read(&mut fields);
        let mut issues = fields.end(OTHERS);
        let own_queue = written.queue.as_ref();
        let queue = own_queue.and_then(|queue| queue.name.as_deref());
        let queue = queue.unwrap_or(name);
        let own = own_queue.and_then(|queue| queue.concurrency);
        if let Err(message) = check_queue_name(queue) {
            issues.push(issue("queue", message));
        }
        let concurrency = written.concurrency.or(own);
        if concurrency.is_some_and(|n| n == 0 || n > MAX_CONCURRENCY) {
            issues.push(issue(
                "concurrency",
                format!("must be 1 to {MAX_CONCURRENCY}"),
            ));
        }
        if let Some(retry) = &written.retry_policy
            && retry.attempts == Some(0)
        {
            let message = "must be 1 or more".to_owned();
            issues.push(issue("retryPolicy.attempts", message));
        }
        if written.key_concurrency == Some(0) {
            issues.push(issue("keyConcurrency", "must be 1 or more".to_owned()));
        }
        if let Some(rate) = &written.rate_limit
            && (rate.max == 0 || rate.duration_ms <= 0)
        {
            let message = "max and durationMs must be 1 or more".to_owned();
            issues.push(issue("rateLimit", message));
        }
        if let Some(batch) = &written.batch {
            if !(1..=MAX_BATCH).contains(&batch.size) {
                issues.push(issue("batch.size", format!("must be 1 to {MAX_BATCH}")));
            }
            if batch.wait_ms < 0 {
                issues.push(issue("batch.waitMs", "must be 0 or more".to_owned()));
            }
        }
        if written.timeout_ms == Some(0) {
            issues.push(issue("timeoutMs", "must be 1 or more".to_owned()));
        }
        issues.extend(paces(&written));
        if let Some(dead) = written.dlq.as_ref().and_then(|dlq| dlq.queue.as_deref())
            && let Err(message) = check_queue_name(dead)
        {
            issues.push(issue("dlq.queue", message));
        }
        let mut schema = |path: &str, schema: &Option<Value>| {
            let compiled = schema.as_ref().map(Schema::compile).transpose();
            compiled.unwrap_or_else(|message| {
                issues.push(issue(path, message));
                None
            })
        };
        let input_schema = schema("inputSchema", &written.input_schema);
        let output_schema = schema("outputSchema", &written.output_schema);
        let state_schema = schema("state", &written.state);
        let mut expr = |path: &str, function: &Function| {
            let compiled = Expr::compile(function.source());
            compiled
                .map_err(|error| issues.push(issue(path, error.to_string())))
                .ok()
        };
        let key = written.key.as_ref().and_then(|key| expr("key", key));
        let twin = written.idempotency.as_ref();
        let from = match (&written.idempotency_key, twin) {
            (None, None) => None,
            (Some(Function::Text(text)), _) if text == "auto" => Some(KeyFrom::Auto),
            (Some(function), _) => expr("idempotencyKey", function).map(KeyFrom::Expr),
            (None, Some(twin)) => match &twin.key {
                Function::Text(text) if text == "auto" => Some(KeyFrom::Auto),
                function => expr("idempotency.key", function).map(KeyFrom::Expr),
            },
        };
        let window = written.idempotency_window_ms;
        let window = window.or(twin.and_then(|twin| twin.window_ms));
        let idempotency = from.map(|from| Idempotency {
            from,
            window: window.map(Duration::from_millis),
        });
        let mut pace = |path: &str, key: Option<&Function>, ms: u64| Pace {
            time: Duration::from_millis(ms),
            key: key.and_then(|key| expr(path, key)),
        };
        let throttle = written.throttle.as_ref();
        let throttle = throttle.map(|t| pace("throttle.key", t.key.as_ref(), t.window_ms));
        let debounce = written.debounce.as_ref();
        let debounce = debounce.map(|d| pace("debounce.key", d.key.as_ref(), d.delay_ms));
        if window.is_some() && idempotency.is_none() {
            let message = "there is no key that it could hold for".to_owned();
            issues.push(issue("idempotencyWindowMs", message));
        }
        if !issues.is_empty() {
            return Err(issues);
        }
        let batch = written.batch.as_ref();
        // A batch can be filled, however few jobs may run at once otherwise.
        let least = batch.map_or(1, |batch| batch.size);
        let limit = concurrency.map(|jobs| jobs.max(least));
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
            policy: policy(&written),
            idempotency,
            key,
            throttle,
            debounce,
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

/// A job is held to one of them.
fn paces(written: &Written) -> Option<ConfigIssue> {
    let key = written.idempotency_key.is_some() || written.idempotency.is_some();
    let all = [
        ("debounce", written.debounce.is_some()),
        ("throttle", written.throttle.is_some()),
        ("idempotencyKey", key),
    ];
    let mut given = all.iter().filter(|(_, is_given)| *is_given);
    let ((first, _), (second, _)) = (given.next()?, given.next()?);
    Some(ConfigIssue {
        path: (*first).to_owned(),
        message: format!("cannot stand beside {second}: give one of them"),
    })
}

fn policy(written: &Written) -> Policy {
    let none = WrittenRetry::default();
    let retry = written.retry_policy.as_ref().unwrap_or(&none);
    let dlq = written.dlq.as_ref();
    let mut policy = Policy {
        retry: default_retry(),
        on_fail: OnFail::Dlq,
        dead_queue: dlq.and_then(|dlq| dlq.queue.as_deref().map(Name::from)),
        timeout: written.timeout_ms.map(Duration::from_millis),
    };
    policy.amend(retry);
    if dlq.is_some_and(|dlq| dlq.enabled == Some(false)) && retry.on_fail.is_none() {
        policy.on_fail = OnFail::Drop;
    }
    policy
}

fn default_retry() -> Retry {
    Retry {
        max_attempts: ATTEMPTS,
        backoff_ms: 1_000,
        backoff_multiplier: 2.0,
        max_backoff_ms: 60_000,
        retry_on: None,
        jitter: 0.2,
    }
}

impl Default for Policy {
    /// What holds for a job whose process nobody knows.
    fn default() -> Self {
        policy(&Written::default())
    }
}

impl Policy {
    /// Takes over what somebody says in particular.
    pub(super) fn amend(&mut self, said: &WrittenRetry) {
        if let Some(attempts) = said.attempts {
            self.retry.max_attempts = attempts.max(1);
        }
        if let Some(backoff) = &said.backoff {
            self.retry.backoff_ms = backoff.delay_ms;
            let (multiplier, cap) = match backoff.kind {
                BackoffKind::Fixed => (1.0, backoff.delay_ms),
                BackoffKind::Exponential => (2.0, self.retry.max_backoff_ms.max(backoff.delay_ms)),
            };
            self.retry.backoff_multiplier = multiplier;
            self.retry.max_backoff_ms = backoff.max_delay_ms.unwrap_or(cap);
            self.retry.jitter = backoff.jitter.unwrap_or(0.0).clamp(0.0, 1.0);
        }
        if let Some(errors) = &said.retriable_errors {
            self.retry.retry_on = Some(errors.clone());
        }
        if let Some(on_fail) = said.on_fail {
            self.on_fail = on_fail;
        }
    }
}

/// A queue's name: letters, digits, `-`, `_`, `.` and `/`, at most 128 of them.
pub fn check_queue_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let known = (1..=128).contains(&name.len()) && name.chars().all(fits);
    match known && !name.starts_with('/') && !name.ends_with('/') {
        true => Ok(()),
        false => Err(format!(
            "{:?} is no name of a queue: 1 to 128 letters, digits, '-', '_', '.' and '/' inside",
            name.chars().take(64).collect::<String>()
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(config: Value) -> Result<ProcessConfig, Vec<ConfigIssue>> {
        ProcessConfig::read(&Json::of(&config), "file-name")
    }

    #[test]
    fn a_process_without_config_is_a_queue_worker_named_by_its_file() {
        let config = read(Value::Null).ok().unwrap();
        assert_eq!(
            (config.run_mode, &*config.queue),
            (RunMode::Queue, "file-name")
        );
        assert_eq!(config.policy.retry.max_attempts, 3);
        assert_eq!((config.concurrency, config.limits.concurrency), (16, None));
    }

    #[test]
    fn every_setting_is_read() {
        let config = read(json!({
            "runMode": "queue", "queue": {"name": "mail", "concurrency": 4}, "keyConcurrency": 1,
            "rateLimit": {"max": 10, "durationMs": 1000},
            "retryPolicy": {"attempts": 5, "backoff": {"type": "fixed", "delayMs": 250},
                "onFail": "drop", "retriableErrors": ["SMTP"]},
            "dlq": {"queue": "dead"}, "timeoutMs": 900,
            "idempotencyKey": {"$function": "(input) => input.id"}, "idempotencyWindowMs": 7,
            "key": "input.tenant", "batch": {"size": 20, "waitMs": 50},
            "inputSchema": {"type": "object"}, "outputSchema": true, "state": {"type": "object"},
        }))
        .ok()
        .unwrap();
        assert_eq!(&*config.queue, "mail");
        // So that a batch can be filled.
        assert_eq!(
            (config.limits.concurrency, config.concurrency),
            (Some(20), 20)
        );
        assert_eq!(
            config.limits.rate,
            Some(Rate {
                max: 10,
                window_ms: 1_000
            })
        );
        assert_eq!(
            config.limits.gather,
            Some(Gather {
                count: 20,
                wait_ms: 50
            })
        );
        let Policy {
            retry,
            on_fail,
            dead_queue,
            timeout,
        } = config.policy;
        assert_eq!(
            (
                retry.max_attempts,
                retry.backoff_multiplier,
                retry.max_backoff_ms
            ),
            (5, 1.0, 250)
        );
        assert_eq!(retry.retry_on, Some(vec!["SMTP".to_owned()]));
        assert_eq!(
            (on_fail, dead_queue.as_deref()),
            (OnFail::Drop, Some("dead"))
        );
        assert_eq!(timeout, Some(Duration::from_millis(900)));
        let idempotency = config.idempotency.unwrap();
        assert!(matches!(idempotency.from, KeyFrom::Expr(_)));
        assert_eq!(idempotency.window, Some(Duration::from_millis(7)));
        let paced = json!({"throttle": {"windowMs": 5, "key": "input.user"}, "concurrency": 4});
        let paced = read(paced).ok().unwrap();
        assert!(paced.throttle.unwrap().key.is_some());
        assert_eq!((paced.limits.concurrency, paced.concurrency), (Some(4), 4));
    }

    #[test]
    fn every_issue_is_told_at_once() {
        let issues = read(json!({
            "queue": "a b", "concurrency": 0, "rateLimit": {"max": 0, "durationMs": 1},
            "batch": {"size": 0, "waitMs": -1}, "timeoutMs": 0, "inputSchema": {"type": 7},
            "idempotencyKey": "input.(", "dlq": {"queue": ""}, "retryPolicy": {"attempts": 0},
            "debounce": {"delayMs": 1, "key": ")"},
        }))
        .err()
        .unwrap();
        let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "queue",
                "concurrency",
                "retryPolicy.attempts",
                "rateLimit",
                "batch.size",
                "batch.waitMs",
                "timeoutMs",
                "debounce",
                "dlq.queue",
                "inputSchema",
                "idempotencyKey",
                "debounce.key"
            ]
        );
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_setting() {
        let issues = read(json!({
            "retryPolicy": {"attempts": "many"}, "rateLimit": {"max": 1, "durationMS": 1},
            "concurency": 2, "queue": 7, "runMode": "sideways", "zzz": 1, "key": 4,
        }))
        .err()
        .unwrap();
        let told: Vec<(&str, &str)> = issues
            .iter()
            .map(|issue| (issue.path.as_str(), issue.message.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("runMode", "must be queue, flow or call, not \"sideways\""),
                (
                    "queue",
                    "must be the name of a queue, or {name, concurrency}, not 7"
                ),
                (
                    "rateLimit.durationMS",
                    "unknown field `durationMS`, expected `max` or `durationMs`; did you mean durationMs?"
                ),
                (
                    "retryPolicy.attempts",
                    "must be a whole number from 0 to 4294967295, not \"many\""
                ),
                (
                    "key",
                    "must be a function, an expression as text, or 'auto'"
                ),
                ("concurency", "is no setting; did you mean concurrency?"),
                ("zzz", "is no setting"),
            ]
        );
        let issues = read(json!([1])).err().unwrap();
        assert_eq!(issues[0].path, "config");
    }

    #[test]
    fn what_flows_and_sdks_read_is_accepted() {
        let config = read(json!({
            "flow": {"id": "f", "role": "entry", "step": "a"}, "step": "a", "emits": ["x"],
            "subscriptions": [{"eventKind": "x"}], "await": {"type": "time"}, "join": "all",
            "compensation": {"step": "b", "on": "c"}, "triggers": "t", "onFailure": "b",
            "description": "what it does", "name": "A", "version": "1", "id": "a", "logger": {},
            "persistFrames": false, "cancelGraceMs": 5, "concurrency": null,
        }));
        assert!(config.is_ok());
    }
}
