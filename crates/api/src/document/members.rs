//! The members of bodies: their limits and patterns.

use riverrun_triggers::Kind;
use riverrun_types::{
    label::{MAX_CHARS, MAX_TAGS},
    time::MAX_WAIT_MS,
};
use serde_json::{Map, Value, json};

use super::{
    patterns::{EVENT_ID, EVENT_TYPE, ID, LABEL, NEW_ID, RUN_KEY, SEGMENT, TIME},
    refer, unsigned,
};

/// Bodies of requests whose members have limits.
const ASKED: [&str; 16] = [
    "StartBody",
    "NewEvent",
    "EmittedEvent",
    "AddJobs",
    "AddJob",
    "AddOptions",
    "Backoff",
    "KeyWindow",
    "Throttle",
    "Debounce",
    "ExecuteBody",
    "BackfillBody",
    "ChangeJobBody",
    "ForkBody",
    "NewTrigger",
    "ChangedTrigger",
];

/// Says what the types of bodies cannot say.
pub(super) fn components(schemas: &mut Map<String, Value>, stream: &str) {
    for name in ASKED {
        if let Some(schema) = schemas.get_mut(name) {
            members(name, schema);
        }
    }
    for (schema, member, limits) in [
        ("DeadLetterFilter", "before", time(true)),
        ("DeadLetterFilter", "after", time(true)),
        ("AddOptions", "runAt", time(true)),
        ("BackfillBody", "from", time(false)),
        ("BackfillBody", "to", time(false)),
        // A backoff is bounded when it is used.
        ("Backoff", "delayMs", json!({"maximum": u64::MAX})),
        ("Backoff", "type", json!({"enum": ["fixed", "exponential"]})),
        (
            "CleanBody",
            "status",
            json!({"enum": ["completed", "failed", "cancelled"]}),
        ),
        ("AddJobs", "jobs", json!({"minItems": 1})),
        ("StartBody", "idempotencyKey", json!({"pattern": RUN_KEY})),
        // Says where a run came from.
        (
            "StartBody",
            "metadata",
            json!({"not": {"type": "object", "required": ["trigger"]}}),
        ),
        ("EmittedEvent", "runId", json!({"pattern": ID})),
        ("EmittedEvent", "stream", json!({"pattern": stream})),
    ] {
        set(schemas, schema, member, &limits);
    }
    if let Some(events) = schemas
        .get_mut("NewEvents")
        .and_then(|events| events.pointer_mut("/oneOf/1"))
    {
        events["minItems"] = json!(1);
    }
    schemas.values_mut().for_each(unsigned);
    if let Some(execute) = schemas
        .get_mut("ExecuteBody")
        .and_then(Value::as_object_mut)
    {
        execute.insert("required".to_owned(), json!(["process"]));
    }
    answers(schemas);
}

/// A time as text or number.
fn time(may_be_null: bool) -> Value {
    let mut types = vec!["string", "integer"];
    types.extend(may_be_null.then_some("null"));
    json!({"type": types, "pattern": TIME, "minimum": i64::MIN, "maximum": i64::MAX})
}

fn set(schemas: &mut Map<String, Value>, schema: &str, member: &str, limits: &Value) {
    let property = schemas
        .get_mut(schema)
        .and_then(|schema| schema.pointer_mut(&format!("/properties/{member}")))
        .and_then(Value::as_object_mut);
    if let (Some(property), Some(limits)) = (property, limits.as_object()) {
        property.extend(limits.clone());
    }
}

/// Limits of members, by their names: one name means the same everywhere, but for the texts of
/// triggers that are expressions.
fn members(schema_name: &str, schema: &mut Value) {
    let is_trigger = schema_name.ends_with("Trigger");
    let label = || json!({"minLength": 1, "maxLength": MAX_CHARS, "pattern": LABEL});
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let limits = match name.as_str() {
            "idempotencyKey" if is_trigger => continue,
            "id" => json!({"pattern": r"^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$"}),
            "type" if is_trigger => json!({"enum": Kind::ALL}),
            "type" => json!({"pattern": EVENT_TYPE}),
            "runId" | "jobId" | "callId" => json!({"pattern": NEW_ID}),
            "correlationId" => {
                json!({"minLength": 1, "maxLength": MAX_CHARS, "pattern": SEGMENT})
            }
            "idempotencyKey" | "tenantId" | "causationId" | "key" | "stepName" | "process"
            | "name" | "flow" | "flowVersion" => label(),
            "tags" => {
                let mut tag = label();
                tag["type"] = json!("string");
                json!({"maxItems": MAX_TAGS, "items": tag})
            }
            "delayMs" => json!({"maximum": MAX_WAIT_MS}),
            "timeoutMs" => json!({"minimum": 1, "maximum": MAX_WAIT_MS}),
            "onFail" => json!({"enum": ["dlq", "retry", "drop", null]}),
            "at" => json!({"pattern": EVENT_ID}),
            _ => continue,
        };
        if let (Some(property), Some(limits)) = (property.as_object_mut(), limits.as_object()) {
            property.extend(limits.clone());
        }
    }
}

/// Answers that have one of several shapes.
fn answers(schemas: &mut Map<String, Value>) {
    schemas.insert(
        "AnyJobList".to_owned(),
        json!({
            "description": "The jobs of runs, or of queues where the request asks for those.",
            "anyOf": [refer("JobList"), refer("QueueJobList")],
        }),
    );
    schemas.insert(
        "StreamList".to_owned(),
        json!({
            "description": "Streams, newest first: those of flows as their runs.",
            "type": "object",
            "required": ["items"],
            "properties": {
                "items": {"type": "array", "items": {"anyOf": [refer("StreamSummary"), refer("RunSummary")]}},
                "nextCursor": {"type": "string"},
            },
        }),
    );
}
