//! The routes as a page, from the OpenAPI document.

use std::fmt::Write as _;

use serde_json::Value;

use super::markup::{page, prose};
use crate::html::escape;

const METHODS: [&str; 3] = ["get", "post", "delete"];

pub(super) fn render(document: &Value) -> String {
    let text = |path: &str| {
        document
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let mut body = format!(
        "<h1>{} <span class=\"quiet\">{}</span></h1><p>{}</p>\
         <p>The same as <a href=\"/api/openapi.json\">OpenAPI</a>. A leading underscore in the first \
         segment is accepted (<code>/api/_events</code>), and <code>/api/flow</code> is <code>/api/flows</code>.</p>",
        escape(text("/info/title")),
        escape(text("/info/version")),
        prose(text("/info/description"))
    );
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = tag["name"].as_str().unwrap_or_default();
        let about = tag["description"].as_str().unwrap_or_default();
        let _ = write!(
            body,
            "<h2 id=\"{0}\">{0} <span class=\"quiet\">{1}</span></h2>",
            escape(name),
            prose(about)
        );
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                let operation = &item[method];
                let tags = operation["tags"].as_array();
                if tags.is_some_and(|tags| tags.iter().any(|tag| tag == name)) {
                    operation_entry(&mut body, document, path, method, operation);
                }
            }
        }
    }
    body.push_str("<h2 id=\"schemas\">Shapes</h2>");
    let schemas = document
        .pointer("/components/schemas")
        .and_then(Value::as_object);
    for (name, schema) in schemas.into_iter().flatten() {
        let _ = write!(
            body,
            "<details id=\"schema-{0}\"><summary>{0}</summary><div>{1}{2}</div></details>",
            escape(name),
            about(schema),
            members(schema)
        );
    }
    page("riverrun: the API", &body)
}

fn operation_entry(
    out: &mut String,
    document: &Value,
    path: &str,
    method: &str,
    operation: &Value,
) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let _ = write!(
        out,
        "<details><summary><b class=\"{method}\">{}</b> <code>{}</code> <span class=\"quiet\">{}</span></summary><div>{}",
        method.to_uppercase(),
        escape(path),
        prose(summary),
        about(operation)
    );
    parameters(out, operation);
    if let Some(content) = operation
        .pointer("/requestBody/content")
        .and_then(Value::as_object)
    {
        let said = operation
            .pointer("/requestBody/description")
            .and_then(Value::as_str);
        let _ = write!(out, "<p>Body: {}</p>", prose(said.unwrap_or_default()));
        for (media_type, content) in content {
            let shape = shape(&content["schema"]);
            let _ = write!(out, "<p><code>{}</code> {shape}</p>", escape(media_type));
            out.push_str(&members(resolve(document, &content["schema"])));
        }
    }
    out.push_str("<table><tr><th>status</th><th>answer</th><th></th></tr>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let said = response["description"].as_str().unwrap_or_default();
        let content = response["content"].as_object().into_iter().flatten();
        let shapes: Vec<String> = content
            .map(|(_, content)| shape(&content["schema"]))
            .collect();
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(status),
            prose(said),
            shapes.join(" ")
        );
    }
    out.push_str("</table></div></details>");
}

fn parameters(out: &mut String, operation: &Value) {
    let Some(parameters) = operation["parameters"]
        .as_array()
        .filter(|list| !list.is_empty())
    else {
        return;
    };
    out.push_str("<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>");
    for parameter in parameters {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default();
        let _ = write!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(text("name")),
            escape(text("in")),
            shape(&parameter["schema"]),
            prose(text("description"))
        );
    }
    out.push_str("</table>");
}

fn about(described: &Value) -> String {
    let text = described["description"].as_str().unwrap_or_default();
    match text {
        "" => String::new(),
        text => format!("<p>{}</p>", prose(text)),
    }
}

/// The members of an object as a table; nothing for what is none.
fn members(schema: &Value) -> String {
    let own = schema["properties"].as_object().into_iter().flatten();
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let inherited = parts
        .filter_map(|part| part["properties"].as_object())
        .flatten();
    let mut rows = String::new();
    for (name, member) in inherited.chain(own) {
        let said = member["description"].as_str().unwrap_or_default();
        let _ = write!(
            rows,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            escape(name),
            shape(member),
            prose(said)
        );
    }
    match rows.as_str() {
        "" => String::new(),
        rows => format!("<table><tr><th>member</th><th>type</th><th></th></tr>{rows}</table>"),
    }
}

/// A short name of a schema, with a link where it has a place of its own.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|name| name.rsplit('/').next())
    {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    if let Some(options) = schema["oneOf"].as_array() {
        let shapes = options
            .iter()
            .filter(|option| option["type"] != "null")
            .map(shape);
        return shapes.collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", shape(&schema["items"])),
        Value::String(kind) => escape(kind),
        Value::Array(kinds) => {
            let kinds = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null");
            escape(&kinds.collect::<Vec<_>>().join(" or "))
        }
        _ => "any".to_owned(),
    }
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    if let Some(options) = schema["oneOf"].as_array() {
        schema = options
            .iter()
            .find(|option| !option["$ref"].is_null())
            .unwrap_or(schema);
    }
    match schema["$ref"].as_str().and_then(|at| at.strip_prefix('#')) {
        Some(at) => document.pointer(at).unwrap_or(schema),
        None => schema,
    }
}
