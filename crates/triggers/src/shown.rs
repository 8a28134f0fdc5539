//! A trigger as JSON shows it to people, without its secrets.

use riverrun_store::TriggerRecord;
use riverrun_types::{ErrorCode, Json, time::Iso};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{PREFIX, Trigger};

/// What stands for a secret. Sent back in a change, it means the secret that is there.
pub(crate) const REDACTED: &str = "[redacted]";

/// How many of the next due times are shown.
const UPCOMING: usize = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownTrigger {
    #[serde(flatten)]
    definition: Map<String, Value>,
    #[serde(skip)]
    id: String,
    version: u64,
    enabled: bool,
    /// Why it cannot be used as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<Cause>,
    created_at: Iso,
    updated_at: Iso,
    /// Where requests go that fire it.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_due_at: Option<Iso>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upcoming: Vec<Iso>,
    stats: Stats,
}

#[derive(Serialize)]
struct Cause {
    code: ErrorCode,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    fired: u64,
    failed: u64,
    missed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_fired_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failed_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_due_at: Option<Iso>,
}

impl Stats {
    pub fn of(record: &TriggerRecord) -> Self {
        let stats = &record.stats;
        Self {
            fired: stats.fired,
            failed: stats.failed,
            missed: stats.missed,
            last_fired_at: stats.last_fired_ms.map(Iso),
            last_run_id: stats.last_run.as_ref().map(ToString::to_string),
            last_failed_at: stats.last_failed_ms.map(Iso),
            last_error: stats.last_error.clone(),
            next_due_at: record.due_ms.map(Iso),
        }
    }
}

impl ShownTrigger {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn new(trigger: &Trigger, record: &TriggerRecord) -> Self {
        let mut upcoming = Vec::new();
        if let Some((schedule, due_ms)) = trigger.schedule().zip(record.due_ms) {
            let mut next = Some(due_ms);
            while let Some(due_ms) = next.filter(|_| upcoming.len() < UPCOMING) {
                upcoming.push(Iso(due_ms));
                next = schedule.next_after(due_ms);
            }
        }
        Self {
            upcoming,
            ..Self::kept(record)
        }
    }

    /// As it is kept, whether it can be used or not.
    pub(crate) fn of(record: &TriggerRecord) -> Self {
        match Trigger::of(record) {
            Ok(trigger) => Self::new(&trigger, record),
            Err(error) => Self {
                broken: Some(Cause {
                    code: error.code(),
                    message: error.to_string(),
                }),
                ..Self::kept(record)
            },
        }
    }

    fn kept(record: &TriggerRecord) -> Self {
        let mut definition: Map<String, Value> = record.definition.read().unwrap_or_default();
        // A definition that is damaged may lack what it takes to remove the trigger.
        definition.insert("id".to_owned(), Value::from(&*record.id));
        let config = definition.get_mut("config").and_then(Value::as_object_mut);
        let path = config.and_then(|config| {
            redact(config);
            Some(format!("{PREFIX}{}", config.get("path")?.as_str()?))
        });
        Self {
            definition,
            id: record.id.to_string(),
            version: record.version,
            enabled: record.enabled,
            broken: None,
            created_at: Iso(record.created_ms),
            updated_at: Iso(record.updated_ms),
            path,
            next_due_at: record.due_ms.map(Iso),
            upcoming: Vec::new(),
            stats: Stats::of(record),
        }
    }
}

/// Puts a mark where a secret is.
pub(crate) fn redact(config: &mut Map<String, Value>) {
    if let Some(secret) = secret(config) {
        *secret = Value::from(REDACTED);
    }
}

/// The secret of a signature, where it stands in the definition itself.
pub(crate) fn secret(config: &mut Map<String, Value>) -> Option<&mut Value> {
    config
        .get_mut("signature")?
        .as_object_mut()?
        .get_mut("secret")
}
