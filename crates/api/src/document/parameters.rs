//! The parameters of operations: their limits and patterns.

use riverrun_store::JobState;
use riverrun_triggers::Kind;
use riverrun_types::RunStatus;
use serde_json::{Value, json};

use super::{
    patterns::{
        BEGIN, DEAD_LETTER, EVENT_ID, HEADER_KEY, HEADER_RUN_KEY, HISTORY, ID, KINDS, LABEL,
        NUMBER, PLACE, QUEUE, QUEUE_JOB, ROW, STORY, TAGS, TIME, list_of,
    },
    unsigned,
};

pub(super) fn parameters(path: &str, operation: &mut Value, max_wait_ms: u64, stream: &str) {
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    let Some(parameters) = parameters else {
        return;
    };
    // Given by the path; the query may only repeat it.
    parameters.retain(|parameter| match path {
        "/api/flows/{id}/runs" => parameter["name"] != "flow",
        "/api/runs/{id}/children" => parameter["name"] != "parent",
        // Accepted, and called `status` from here on.
        "/api/jobs" => parameter["name"] != "state",
        _ => true,
    });
    for parameter in parameters {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default().to_owned();
        let (place, name) = (text("in"), text("name"));
        if let Some(schema) = parameter_schema(path, &place, &name) {
            parameter["schema"] = schema;
        }
        if (place.as_str(), name.as_str()) == ("path", "stream") {
            parameter["schema"] = json!({"type": "string", "pattern": stream});
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
        ("path", "id" | "type") if path.starts_with("/api/events/") => matching(ID),

        ("path", "correlationId") => {
            json!({"type": "string", "minLength": 1, "maxLength": 256, "pattern": LABEL})
        }
        ("path", "name") if path.starts_with("/api/queues/") => matching(QUEUE),
        ("query", "limit") => json!({"type": "integer", "minimum": 1, "maximum": 1000}),
        ("query", "order") => one_of(&["asc", "desc"]),
        ("query", "cursor") => matching(cursor(path)?),
        ("query", "from") if path == "/api/events" => matching(BEGIN),
        ("query", "from") => matching(EVENT_ID),
        ("query", "type") if path == "/api/events" => matching(KINDS),
        ("query", "tags") => matching(TAGS),
        ("query", "status") if path == "/api/jobs" => {
            let either = [run_statuses(), job_states()].map(|words| list_of(&words));
            json!({"type": "string", "anyOf": either.map(|pattern| json!({"pattern": pattern}))})
        }
        ("query", "status") if path.starts_with("/api/queues/") => {
            matching(&list_of(&job_states()))
        }
        ("query", "status") => matching(&list_of(&run_statuses())),
        ("query", "since" | "until" | "before" | "after") => matching(TIME),
        ("query", "at") => {
            json!({"type": "string", "anyOf": [{"pattern": TIME}, {"pattern": EVENT_ID}]})
        }
        ("query", "id" | "parent") => matching(ID),
        ("query", "follow") => one_of(&["until-end", "forever"]),
        ("query", "format") => one_of(&["json", "mermaid", "text"]),
        ("query", "type") if path == "/api/triggers" => one_of(&Kind::ALL.map(Kind::as_str)),
        ("header", "idempotency-key") => {
            let pattern = match path.ends_with("/start") {
                true => HEADER_RUN_KEY,
                false => HEADER_KEY,
            };
            json!({"type": "string", "minLength": 1, "maxLength": 256, "pattern": pattern})
        }
        _ => return None,
    })
}

fn job_states() -> Vec<&'static str> {
    JobState::ALL.iter().map(|state| state.as_str()).collect()
}

fn run_statuses() -> Vec<&'static str> {
    RunStatus::ALL
        .iter()
        .map(|status| status.as_str())
        .collect()
}

/// What the cursors of a list look like; none where any text is one, or where that depends on other
/// parameters.
fn cursor(path: &str) -> Option<&'static str> {
    Some(match path {
        "/api/jobs" | "/api/triggers" | "/api/schedules" => return None,
        "/api/events" => NUMBER,
        "/api/stories/{correlationId}" => STORY,
        "/api/events/{type}/list" => ROW,
        _ if path.starts_with("/api/events/") || path.ends_with("/{id}/events") => EVENT_ID,
        "/api/queues/{name}/dlq" => DEAD_LETTER,
        "/api/queues/{name}/jobs" => QUEUE_JOB,
        _ if path.starts_with("/api/triggers/") => PLACE,
        _ if path.starts_with("/api/runs/") && path.ends_with("/history") => HISTORY,
        _ => ROW,
    })
}
