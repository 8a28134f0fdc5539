//! What bad requests get.

use std::fmt::Write as _;

use axum::{
    body::Body,
    http::{Method, Request},
};
use riverrun_api::{ApiOptions, Hosts};
use serde_json::json;

use crate::harness::Server;

#[tokio::test]
async fn every_failure_has_one_shape() {
    let options = ApiOptions {
        max_body_bytes: 4_096,
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    server.order().await;
    let json = "application/json";
    let large = format!("{{\"input\": \"{}\"}}", "x".repeat(5_000));
    let start = "/api/flows/order/start";
    let cases: &[(&str, &str, &str, &str)] = &[
        ("GET", "/nowhere", "", ""),
        ("GET", "/api/nowhere", "", ""),
        ("PUT", "/api/flows", "", ""),
        ("DELETE", "/api/runs", "", ""),
        ("POST", start, json, "{\"input\": {"),
        ("POST", start, json, "{\"input\": 1,\n \"delayMs\" 5}"),
        ("POST", start, json, "{\"delayMs\": \"soon\"}"),
        ("POST", start, json, "{\"delayMs\": -1}"),
        ("POST", start, json, "{\"delayMs\": 18446744073709551615}"),
        ("POST", start, json, "{\"tags\": [\"a\", 5]}"),
        ("POST", start, json, "{\"inptu\": {}}"),
        ("POST", start, json, "[1, 2]"),
        ("POST", start, json, "null"),
        ("POST", start, json, "{\"input\": {\"n\": \"five\"}}"),
        ("POST", start, json, "{\"runId\": \"a b\"}"),
        ("POST", start, json, "{\"runId\": \"latest\"}"),
        ("POST", start, json, "{\"tenantId\": \"\"}"),
        ("POST", start, json, &large),
        ("POST", start, "text/plain", "{}"),
        ("POST", start, "application/x-www-form-urlencoded", "a=1"),
        ("POST", start, "application/yaml", "input: 1"),
        ("POST", "/api/flows/order/start?wait=long", json, "{}"),
        ("POST", "/api/flows/gone/start", json, "{}"),
        ("POST", "/api/flows", json, "{"),
        (
            "POST",
            "/api/flows",
            json,
            "{\"a\": 12345678901234567890123}",
        ),
        ("POST", "/api/flows", "text/yaml", "a: [b"),
        ("GET", "/api/runs?limit=0", "", ""),
        ("GET", "/api/runs?limit=5000", "", ""),
        ("GET", "/api/runs?limit=many", "", ""),
        ("GET", "/api/runs?status=sleeping", "", ""),
        ("GET", "/api/runs?staus=failed", "", ""),
        ("GET", "/api/runs?flow=a&flow=b", "", ""),
        ("GET", "/api/runs?since=yesterday", "", ""),
        ("GET", "/api/runs?order=up", "", ""),
        ("GET", "/api/runs?cursor=zzz", "", ""),
        ("GET", "/api/runs?parent=a%20b", "", ""),
        ("GET", "/api/runs/%ff", "", ""),
        ("GET", "/api/runs/gone", "", ""),
        ("GET", "/api/runs/gone/stream", "", ""),
        ("GET", "/api/events/flow/gone/stream", "", ""),
        ("GET", "/api/events/global/global/stream?from=here", "", ""),
        ("GET", "/api/events/a%20b", "", ""),
        ("GET", "/api/docs/errors/NOPE", "", ""),
        ("POST", "/api/runs/gone/cancel", json, "{\"reason\": 5}"),
    ];
    let mut report = String::new();
    for (method, path, content_type, body) in cases {
        let mut request = Request::builder().method(*method).uri(*path);
        if !content_type.is_empty() {
            request = request.header("content-type", *content_type);
        }
        let answer = server
            .send(request.body(Body::from((*body).to_owned())).unwrap())
            .await;
        let shown: String = body.chars().take(40).collect();
        let _ = writeln!(
            report,
            "{method} {path} {content_type} {}",
            shown.replace('\n', "\\n")
        );
        if let Some(allow) = answer.headers.get("allow") {
            let _ = writeln!(report, "  allow: {}", allow.to_str().unwrap());
        }
        let _ = writeln!(report, "  {} {}\n", answer.status.as_u16(), answer.json());
        assert!(answer.headers.contains_key("x-request-id"));
    }
    insta::assert_snapshot!(report);
}

#[tokio::test]
async fn a_body_that_only_turns_out_too_large_is_refused() {
    let options = ApiOptions {
        max_body_bytes: 1_000,
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    server.order().await;
    let pieces = (0..100).map(|_| Ok::<_, std::io::Error>(vec![b' '; 100]));
    let body = Body::from_stream(futures::stream::iter(pieces));
    let request = Request::post("/api/flows/order/start").body(body).unwrap();
    let body = server.send(request).await.refused(413, "TOO_LARGE");
    assert_eq!(body["error"]["details"]["limit"], 1_000);
}

#[tokio::test]
async fn a_request_id_is_taken_or_made() {
    let server = Server::new().await;
    let ask = async |id: &str| {
        let request = Request::get("/healthz").header("x-request-id", id);
        let answer = server.send(request.body(Body::empty()).unwrap()).await;
        answer.headers["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(ask("abc-1").await, "abc-1");
    let made = ask(&"x".repeat(500)).await;
    assert!(made.len() < 40, "{made}");
    assert_ne!(made, ask("").await);
}

#[tokio::test]
async fn a_page_of_another_site_may_not_change_anything() {
    let server = Server::new().await;
    server.order().await;
    let ask = async |method: Method, origin: &str| {
        let path = match method {
            Method::POST => "/api/flows/order/start",
            _ => "/api/runs",
        };
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("host", "localhost:4600")
            .header("origin", origin);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    for foreign in ["https://evil.example", "null", "http://localhost:4601", ""] {
        ask(Method::POST, foreign)
            .await
            .refused(403, "FORBIDDEN_ORIGIN");
    }
    assert_eq!(ask(Method::POST, "http://localhost:4600").await.status, 201);
    assert_eq!(ask(Method::GET, "https://evil.example").await.status, 200);
}

#[tokio::test]
async fn pages_of_the_public_address_are_the_servers_own() {
    let server = Server::at("https://Flows.example.org:443/below").await;
    server.order().await;
    let ask = async |origin: &str| {
        let request = Request::post("/api/flows/order/start")
            .header("host", "10.0.0.7:4600")
            .header("origin", origin);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    ask("https://flows.example.org").await.expect(201);
    for foreign in [
        "http://flows.example.org",
        "https://flows.example.org:4600",
        "https://example.org",
        "null",
    ] {
        ask(foreign).await.refused(403, "FORBIDDEN_ORIGIN");
    }
}

#[tokio::test]
async fn a_name_that_is_not_the_servers_is_refused() {
    let options = ApiOptions {
        hosts: Hosts::local_and(["flows.example.org".to_owned()]),
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    let ask = async |host: &str, uri: &str| {
        let request = Request::get(uri).header("host", host);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    for host in ["localhost:4600", "127.0.0.1", "flows.example.org"] {
        ask(host, "/api/runs").await.expect(200);
    }
    for (host, uri) in [
        ("evil.example:4600", "/api/runs"),
        ("evil.example", "/"),
        ("localhost", "http://evil.example/api/runs"),
    ] {
        let body = ask(host, uri).await.refused(403, "FORBIDDEN_HOST");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("evil.example"), "{message}");
        assert!(message.contains("allowed_hosts"), "{message}");
    }
    // Without a name there is no page that could have one of its own.
    server.get("/api/runs").await.expect(200);
}

#[tokio::test]
async fn a_handler_that_panics_harms_nobody() {
    let server = Server::new().await;
    let flow = json!({"id": "boom", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "panic"}}});
    server.post("/api/flows", flow).await.expect(201);
    let run = server
        .post("/api/flows/boom/start?wait=5000", json!({}))
        .await
        .expect(200);
    assert_eq!(run["status"], "failed");
    assert_eq!(run["error"]["code"], "HANDLER_ERROR", "{run}");
    server.get("/healthz").await.expect(200);
}

#[tokio::test]
async fn large_answers_are_compressed_and_small_ones_are_not() {
    let server = Server::new().await;
    let ask = async |path: &str, accept: &str| {
        let request = Request::get(path).header("accept-encoding", accept);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    let gzip = ask("/api/openapi.json", "gzip").await;
    assert_eq!(gzip.headers["content-encoding"], "gzip");
    let plain = ask("/api/openapi.json", "identity").await.body.len();
    assert!(
        gzip.body.len() * 4 < plain,
        "{} of {plain}",
        gzip.body.len()
    );
    assert!(
        !ask("/healthz", "gzip, br")
            .await
            .headers
            .contains_key("content-encoding")
    );
    assert!(
        !ask("/api/openapi.json", "identity")
            .await
            .headers
            .contains_key("content-encoding")
    );
}

/// Valid JSON by its grammar that a parser still rejects.
#[tokio::test]
async fn json_that_nobody_can_read_is_refused() {
    let server = Server::new().await;
    server.order().await;
    let run = server.waiting_run().await;
    let deep = "[".repeat(130) + &"]".repeat(130);
    for value in [r#"{"\ud800": 1}"#, r#""\uDC00""#, "1e999", &deep] {
        for (path, body) in [
            ("/api/flows/order/start", r#"{"input": {"n": VALUE}}"#),
            ("/api/flows/order/start", r#"{"metadata": VALUE}"#),
            ("/api/events", r#"{"type": "a", "data": VALUE}"#),
            ("/api/events/flow/RUN", r#"[{"type": "a", "data": VALUE}]"#),
            (
                "/api/events/flow/RUN",
                r#"{"type": "state.set", "data": {"key": "a", "value": VALUE}}"#,
            ),
            ("/api/flows", r#"{"id": VALUE}"#),
            ("/api/flows/validate", r#"{"id": VALUE}"#),
            (
                "/api/runs/import",
                r#"{"run": {"runId": "r", "flow": "f", "version": "1"}, "events": [VALUE]}"#,
            ),
        ] {
            let path = path.replace("RUN", &run);
            let body = body.replace("VALUE", value);
            let answer = server.post_text(&path, "application/json", body).await;
            answer.refused(400, "BAD_JSON");
        }
    }
}

#[tokio::test]
async fn a_value_nests_only_so_deep() {
    let server = Server::new().await;
    server.order().await;
    let run = server.waiting_run().await;
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let start = async |levels: usize| {
        let body = format!(r#"{{"input": {}}}"#, nested(levels));
        let path = "/api/flows/sleeper/start";
        server.post_text(path, "application/json", body).await
    };
    start(100).await.expect(201);
    start(101).await.refused(422, "TOO_DEEP");
    let set = async |levels: usize| {
        let value = nested(levels);
        let body =
            format!(r#"{{"type": "state.set", "data": {{"key": "a.b.c", "value": {value}}}}}"#);
        let path = format!("/api/events/flow/{run}");
        server.post_text(&path, "application/json", body).await
    };
    set(98).await.expect(201);
    set(99).await.refused(422, "TOO_DEEP");
    // What is just not too deep can be read.
    server.get(&format!("/api/runs/{run}")).await.expect(200);
    server
        .get(&format!("/api/runs/{run}/events"))
        .await
        .expect(200);
}
