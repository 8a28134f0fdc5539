use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::Server;

/// The document as it is served with the default limits and namespace. The clients are generated
/// from this file; `make clients` writes it and them.
const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

#[tokio::test]
async fn the_checked_in_document_is_the_served_one() {
    let server = Server::new().await;
    let served = server.get("/api/openapi.json").await.expect(200);
    let served = serde_json::to_string_pretty(&served).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(CHECKED_IN, &served).unwrap();
    }
    let checked_in = std::fs::read_to_string(CHECKED_IN).unwrap_or_default();
    assert!(
        checked_in == served,
        "crates/api/openapi.json is out of date\n  try: make clients"
    );
}

#[tokio::test]
async fn every_operation_is_described() {
    let server = Server::new().await;
    let document = server.get("/api/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut ids = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            assert!(operation["summary"].is_string(), "{id} has no summary");
            let parameters = operation["parameters"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            // One name may stand in the path and in the query.
            let place =
                |parameter: &Value| (parameter["in"].to_string(), parameter["name"].to_string());
            let distinct: BTreeSet<_> = parameters.iter().map(place).collect();
            assert_eq!(distinct.len(), parameters.len(), "{id}: {distinct:?}");
        }
    }
}

/// `docs/reference/http.md` lists routes as `GET /path`, several methods before one path too.
#[test]
fn the_reference_page_lists_every_route() {
    let page = include_str!("../../../../docs/reference/http.md");
    let spans = page
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut listed = BTreeSet::new();
    for span in spans {
        let words: Vec<&str> = span.split(' ').collect();
        if let Some((path, methods)) = words.split_last() {
            listed.extend(methods.iter().map(|method| format!("{method} {path}")));
        }
    }
    let document = serde_json::to_value(riverrun_api::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let routes = paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let missing: Vec<String> = routes.filter(|route| !listed.contains(route)).collect();
    assert!(
        missing.is_empty(),
        "docs/reference/http.md lacks {missing:#?}"
    );
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let document = serde_json::to_value(riverrun_api::openapi()).unwrap();
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(at) = members.get("$ref").and_then(Value::as_str) {
                    let found = document.pointer(at.trim_start_matches('#'));
                    assert!(found.is_some(), "{at} leads nowhere");
                }
                members.values().for_each(|value| check(value, document));
            }
            Value::Array(items) => items.iter().for_each(|value| check(value, document)),
            _ => {}
        }
    }
    check(&document, &document);
}

/// What is documented by hand is what is sent.
#[tokio::test]
async fn answers_have_the_members_that_are_documented() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let document = serde_json::to_value(riverrun_api::openapi()).unwrap();
    let documented = |name: &str| -> BTreeSet<String> {
        let schema = &document["components"]["schemas"][name];
        let parts = schema["allOf"].as_array().cloned().unwrap_or_default();
        let parts = parts.iter().chain([schema]);
        parts
            .flat_map(|part| part["properties"].as_object().cloned().unwrap_or_default())
            .map(|(name, _)| name)
            .collect()
    };
    let cases = [
        ("Run", format!("/api/runs/{id}"), ""),
        ("RunSummary", "/api/runs".to_owned(), "/items/0"),
        ("Event", format!("/api/runs/{id}/events"), "/items/2"),
        ("StateAt", format!("/api/runs/{id}/state"), ""),
        ("Why", format!("/api/runs/{id}/why"), ""),
        ("WhyReason", format!("/api/runs/{id}/why"), "/reasons/0"),
        (
            "HistoryEntry",
            format!("/api/runs/{id}/history"),
            "/items/0",
        ),
        ("FlowSummary", "/api/flows".to_owned(), "/items/0"),
        ("FlowDetail", "/api/flows/order".to_owned(), ""),
        ("FlowDiagram", "/api/flows/order/diagram".to_owned(), ""),
        (
            "FlowNode",
            "/api/flows/order/diagram".to_owned(),
            "/nodes/0",
        ),
        (
            "FlowEdge",
            "/api/flows/order/diagram".to_owned(),
            "/edges/0",
        ),
    ];
    for (name, path, at) in cases {
        let answer = server.get(&path).await.expect(200);
        let members = answer.pointer(at).unwrap().as_object().unwrap().clone();
        let known = documented(name);
        assert!(known.len() >= 4, "{name}: {known:?}");
        for member in members.keys() {
            assert!(
                known.contains(member),
                "{name}.{member} is not documented: {known:?}"
            );
        }
    }
}
