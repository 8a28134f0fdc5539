//! The OpenAPI document as it is served: what the handlers say of themselves, and the limits and
//! alternatives that their types cannot say.

use serde_json::{Map, Value, json};

use crate::routes;

/// An id of a run, a job or a call.
const ID: &str = "^[A-Za-z0-9._~-]{1,128}$";
/// A text without control characters.
const LABEL: &str = r"^[^\u0000-\u001f\u007f-\u009f]+$";
/// Milliseconds since 1970, or ISO 8601.
const TIME: &str = r"^([0-9]{1,13}|[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-2]):[0-5][0-9]))$";
const EVENT_ID: &str = "^[0-9]{1,15}-[0-9]{1,15}$";
const QUEUE: &str = "^[A-Za-z0-9._-]([A-Za-z0-9._/-]{0,126}[A-Za-z0-9._-])?$";
const PART: &str = "^[A-Za-z0-9._~-]{1,128}$";
/// Ten years.
const MAX_WAIT_MS: i64 = riverrun_types::time::MAX_WAIT_MS;

/// `max_wait_ms`: the longest `?wait=` of this server.
pub(crate) fn document(max_wait_ms: u64) -> Value {
    let mut document = serde_json::to_value(routes::openapi()).unwrap_or_default();
    if let Some(schemas) = document
        .pointer_mut("/components/schemas")
        .and_then(Value::as_object_mut)
    {
        components(schemas);
    }
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        for (path, item) in paths.iter_mut() {
            let operations = item.as_object_mut().into_iter().flatten();
            for (_, operation) in operations {
                parameters(path, operation, max_wait_ms);
                if let Some(body) = operation.get_mut("requestBody") {
                    optional(body);
                }
            }
        }
        answers(paths);
        bodies(paths);
        hooks(paths);
    }
    document
}

fn parameters(path: &str, operation: &mut Value, max_wait_ms: u64) {
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default().to_owned();
        let (place, name) = (text("in"), text("name"));
        if let Some(schema) = parameter_schema(path, &place, &name) {
            parameter["schema"] = schema;
        }
        if name == "wait" {
            parameter["schema"] = json!({"type": "integer", "minimum": 0, "maximum": max_wait_ms});
        }
        unsigned(&mut parameter["schema"]);
    }
}

fn parameter_schema(path: &str, place: &str, name: &str) -> Option<Value> {
    let matching = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let one_of = |words: &[&str]| json!({"type": "string", "enum": words});
    let of_run = ["/api/runs/", "/api/executions/", "/api/jobs/"];
    Some(match (place, name) {
        ("path", "run") => matching(ID),
        ("path", "id") if of_run.iter().any(|start| path.starts_with(start)) => matching(ID),
        ("path", "id" | "type") if path.starts_with("/api/events/") => matching(PART),
        ("path", "stream") => matching("^[A-Za-z0-9._~-]{1,128}(:[A-Za-z0-9._~-]{1,128}){0,1}$"),
        ("path", "correlationId") => {
            json!({"type": "string", "minLength": 1, "maxLength": 256, "pattern": LABEL})
        }
        ("path", "name") if path.starts_with("/api/queue/") => matching(QUEUE),
        ("query", "limit") => json!({"type": "integer", "minimum": 1, "maximum": 1000}),
        ("query", "order") => one_of(&["asc", "desc"]),
        ("query", "cursor" | "from") if is_of_one_stream(path) => matching(EVENT_ID),
        ("query", "since" | "until" | "before" | "after") => matching(TIME),
        ("query", "at") => {
            json!({"type": "string", "anyOf": [{"pattern": TIME}, {"pattern": EVENT_ID}]})
        }
        ("query", "parent") => matching(ID),
        ("query", "direction") => one_of(&["forward", "backward", "asc", "desc"]),
        ("query", "follow") => one_of(&["until-end", "forever"]),
        ("query", "format") => one_of(&["json", "mermaid", "text"]),
        ("query", "type") if path == "/api/triggers" => {
            one_of(&["http", "schedule", "event", "manual"])
        }
        ("header", "idempotency-key") => {
            json!({"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]([ -~]*[!-~])?$"})
        }
        _ => return None,
    })
}

/// Whether a path reads the events of one stream: its cursors are their ids.
fn is_of_one_stream(path: &str) -> bool {
    let is_events = path.starts_with("/api/events/{") && !path.ends_with("/list");
    is_events || path.ends_with("/{id}/events")
}

/// OpenAPI knows only signed integers by their formats; the numbers here that are not negative go
/// further.
fn unsigned(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            let max = match format {
                Some("int32") => u64::from(u32::MAX),
                Some("int64") => u64::MAX,
                _ => 0,
            };
            if max > 0 && members.contains_key("minimum") {
                members.remove("format");
                members.entry("maximum").or_insert(json!(max));
            }
            members.values_mut().for_each(unsigned);
        }
        Value::Array(items) => items.iter_mut().for_each(unsigned),
        _ => {}
    }
}

/// Limits of members, by their names: one name means the same everywhere.
fn components(schemas: &mut Map<String, Value>) {
    let asked = [
        "StartBody",
        "NewEvent",
        "EmittedEvent",
        "AddJobs",
        "AddOptions",
        "ExecuteBody",
        "ChangeJobBody",
        "BackfillBody",
        "NewTrigger",
        "ForkBody",
    ];
    for name in asked {
        if let Some(schema) = schemas.get_mut(name) {
            members(schema);
        }
    }
    for name in ["before", "after"] {
        let time = schemas
            .get_mut("LetterFilter")
            .and_then(|filter| filter.pointer_mut(&format!("/properties/{name}")));
        if let Some(time) = time {
            time["type"] = json!(["string", "integer", "null"]);
            time["pattern"] = json!(TIME);
        }
    }
    schemas.values_mut().for_each(unsigned);
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
    if let Some(process) = schemas
        .get_mut("ExecuteBody")
        .and_then(Value::as_object_mut)
    {
        process.insert("required".to_owned(), json!(["process"]));
    }
}

fn members(schema: &mut Value) {
    let parts = schema.get_mut("allOf").and_then(Value::as_array_mut);
    parts.into_iter().flatten().for_each(members);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        let mut set =
            |limits: Value| property.extend(limits.as_object().cloned().unwrap_or_default());
        match name.as_str() {
            "runId" | "jobId" | "callId" => set(json!({"pattern": ID})),
            "idempotencyKey" | "tenantId" | "correlationId" | "causationId" | "key"
            | "stepName" => {
                set(json!({"minLength": 1, "maxLength": 256, "pattern": LABEL}));
            }
            "process" | "name" => set(json!({"minLength": 1, "maxLength": 256, "pattern": LABEL})),
            "tags" => set(json!({
                "maxItems": riverrun_types::label::MAX_TAGS,
                "items": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": LABEL},
            })),
            "delayMs" => set(json!({"maximum": MAX_WAIT_MS})),
            "timeoutMs" => set(json!({"minimum": 1, "maximum": MAX_WAIT_MS})),
            "onFail" => set(json!({"enum": ["dlq", "retry", "drop", null]})),
            "from" | "to" | "runAt" | "before" | "after" => set(json!({"pattern": TIME})),
            "at" => set(json!({"pattern": EVENT_ID})),
            "attempt" => set(json!({"maximum": u32::MAX})),
            _ => {}
        }
    }
}

/// Answers that have one of several shapes.
fn answers(paths: &mut Map<String, Value>) {
    let run = json!({"anyOf": [refer("StartedRun"), refer("Run")]});
    let job = json!({"anyOf": [refer("Job"), refer("QueueJob")]});
    for (path, method, status, schema) in [
        ("/api/flows/{id}/start", "post", "200", &run),
        ("/api/triggers/{id}/fire", "post", "200", &run),
        ("/hooks/{path}", "post", "200", &run),
        ("/api/jobs/{id}", "get", "200", &job),
        (
            "/api/events/{type}/list",
            "get",
            "200",
            &refer("StreamList"),
        ),
        (
            "/api/events/{type}/{id}",
            "get",
            "200",
            &json!({"anyOf": [refer("StreamView"), refer("Run")]}),
        ),
    ] {
        let answer = paths
            .get_mut(path)
            .and_then(|item| item.pointer_mut(&format!("/{method}/responses/{status}/content")));
        if let Some(content) = answer {
            content["application/json"]["schema"] = schema.clone();
        }
    }
}

/// A body that may be left out is not null either.
fn optional(body: &mut Value) {
    let mut may_be_left_out = false;
    let contents = body.get_mut("content").and_then(Value::as_object_mut);
    for (_, content) in contents.into_iter().flatten() {
        let given = content["schema"]["oneOf"]
            .as_array()
            .filter(|schemas| schemas.contains(&json!({"type": "null"})))
            .and_then(|schemas| schemas.iter().find(|schema| schema["type"] != "null"))
            .cloned();
        if let Some(given) = given {
            content["schema"] = given;
            may_be_left_out = true;
        }
    }
    if may_be_left_out {
        body["required"] = json!(false);
    }
}

/// Bodies that may be left out, and what is answered under another name of a route.
fn bodies(paths: &mut Map<String, Value>) {
    for path in [
        "/api/triggers/{id}",
        "/api/flows/triggers/{id}",
        "/hooks/{path}",
    ] {
        let body = paths
            .get_mut(path)
            .and_then(|item| item.pointer_mut("/post/requestBody"));
        if let Some(body) = body {
            body["required"] = json!(false);
        }
    }
    let responses = paths
        .get("/api/triggers/{id}")
        .and_then(|item| item.pointer("/post/responses"))
        .cloned();
    let alias = paths
        .get_mut("/api/flows/triggers/{id}")
        .and_then(|item| item.pointer_mut("/post/responses"));
    if let (Some(responses), Some(alias)) = (responses, alias) {
        *alias = responses;
    }
    let diagram = paths
        .get_mut("/api/flows/{id}/diagram")
        .and_then(|item| item.pointer_mut("/get/responses/200/content"));
    if let Some(content) = diagram {
        content["text/plain"] = json!({"schema": {"type": "string"}});
    }
}

/// Hooks take the method that their trigger names.
fn hooks(paths: &mut Map<String, Value>) {
    let Some(item) = paths.get_mut("/hooks/{path}") else {
        return;
    };
    let fire = item["post"].clone();
    for method in ["get", "put", "patch", "delete"] {
        let mut operation = fire.clone();
        let id = operation["operationId"].as_str().unwrap_or_default();
        operation["operationId"] = json!(format!("{id}_by_{method}"));
        if method == "get"
            && let Some(operation) = operation.as_object_mut()
        {
            operation.remove("requestBody");
        }
        item[method] = operation;
    }
}

fn refer(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}
