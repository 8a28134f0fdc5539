//! The OpenAPI document as it is served: the descriptions of the handlers, and the limits and
//! alternatives that their types cannot express.

mod members;
mod parameters;
mod patterns;

use serde_json::{Map, Value, json};

use crate::routes;
use members::components;
use parameters::parameters;

/// `max_wait_ms`: the longest `?wait=` of this server. `namespace`: what the names of its streams
/// begin with.
pub(crate) fn document(max_wait_ms: u64, namespace: &str) -> Value {
    let stream = patterns::stream(namespace);
    let mut document = serde_json::to_value(routes::openapi()).unwrap_or_default();
    if let Some(schemas) = document
        .pointer_mut("/components/schemas")
        .and_then(Value::as_object_mut)
    {
        components(schemas, &stream);
    }
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        for (path, item) in paths.iter_mut() {
            let operations = item.as_object_mut().into_iter().flatten();
            for (_, operation) in operations {
                parameters(path, operation, max_wait_ms, &stream);
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
