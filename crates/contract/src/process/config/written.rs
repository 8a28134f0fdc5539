//! The settings as they are written, each read separately.

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use super::{
    LogLimit, RunMode,
    fields::Fields,
    policy::{WrittenDlq, WrittenRetry},
};

pub(super) struct Written {
    pub run_mode: RunMode,
    pub queue: Option<WrittenQueue>,
    pub concurrency: Option<u32>,
    pub key_concurrency: Option<u32>,
    pub rate_limit: Option<WrittenRate>,
    pub retry: Option<WrittenRetry>,
    pub dlq: Option<WrittenDlq>,
    pub timeout_ms: Option<u64>,
    pub idempotency_key: Option<Function>,
    pub idempotency_window_ms: Option<u64>,
    pub idempotency: Option<WrittenIdempotency>,
    pub key: Option<Function>,
    pub throttle: Option<WrittenThrottle>,
    pub debounce: Option<WrittenDebounce>,
    pub batch: Option<WrittenBatch>,
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    pub state: Option<Value>,
    pub persist_frames: Option<bool>,
    pub logs: Option<WrittenLogs>,
}

impl Written {
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            run_mode: fields.take("runMode").unwrap_or_default(),
            queue: fields.take("queue"),
            concurrency: fields.take("concurrency"),
            key_concurrency: fields.take("keyConcurrency"),
            rate_limit: fields.take("rateLimit"),
            retry: WrittenRetry::of_process(fields),
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

    /// What is said of the process goes before what is said of its queue.
    pub fn concurrency(&self) -> Option<u32> {
        let queue = self.queue.as_ref();
        self.concurrency
            .or(queue.and_then(|queue| queue.concurrency))
    }
}

/// `'name'`, or `{name, …}` with settings of its own.
pub(super) struct WrittenQueue {
    pub name: Option<String>,
    pub concurrency: Option<u32>,
}

impl<'de> Deserialize<'de> for WrittenQueue {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
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
pub(super) struct WrittenLogs {
    pub max_lines: Option<usize>,
    pub max_bytes: Option<usize>,
}

impl WrittenLogs {
    pub fn limit(&self) -> LogLimit {
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
pub(super) struct WrittenRate {
    pub max: u32,
    pub duration_ms: i64,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{key, windowMs}"
)]
pub(super) struct WrittenIdempotency {
    pub key: Function,
    pub window_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{windowMs, key}"
)]
pub(super) struct WrittenThrottle {
    pub key: Option<Function>,
    #[serde(alias = "durationMs")]
    pub window_ms: u64,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{delayMs, key}"
)]
pub(super) struct WrittenDebounce {
    pub key: Option<Function>,
    #[serde(alias = "durationMs", alias = "windowMs")]
    pub delay_ms: u64,
}

#[derive(Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "{size, waitMs}"
)]
pub(super) struct WrittenBatch {
    #[serde(alias = "max")]
    pub size: u32,
    #[serde(default, alias = "timeoutMs")]
    pub wait_ms: i64,
}

/// A function's source, an expression, or the word `auto`.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be a function, an expression as text, or 'auto'"
)]
pub(super) enum Function {
    Source {
        #[serde(rename = "$function")]
        source: String,
    },
    Text(String),
}

impl Function {
    pub fn source(&self) -> &str {
        let (Self::Source { source } | Self::Text(source)) = self;
        source
    }
}
