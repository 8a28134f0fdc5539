//! The handler against real servers on loopback.

use std::net::SocketAddr;

use axum::{
    Json as AxumJson, Router,
    body::Body,
    extract::{Path as AxumPath, RawQuery, Request},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{any, get},
};
use riverrun_contract::Handler;
use riverrun_engine::Outcome;
use riverrun_types::Json;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Bench, NOW_MS, check_issues};

/// A server that ends with the test.
struct Server {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, routes()).await.unwrap() });
        Self { address, task }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same server under a name.
    fn named(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn routes() -> Router {
    Router::new()
        .route("/echo", any(echo))
        .route("/echo/{*rest}", any(echo))
        .route("/status/{status}", any(status))
        .route("/to", any(to))
        .route("/loop", any(|| async { Redirect::temporary("/loop") }))
        .route("/json", get(big_json))
        .route("/broken-json", get(|| typed("application/json", "{\"a\":")))
        .route(
            "/half-json",
            get(|| typed("application/json", r#"{"\ud800":1e999}"#)),
        )
        .route(
            "/problem",
            get(|| typed("Application/Problem+JSON; x=y", "\u{feff}{\"a\":1.10}")),
        )
        .route("/text", get(|| typed("text/plain", "{\"a\":1}")))
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }))
        .route("/endless", get(endless))
        .route("/silent", get(std::future::pending::<()>))
        .route("/stalled", get(stalled))
}

async fn echo(request: Request) -> AxumJson<Value> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()));
    AxumJson(json!({
        "method": parts.method.as_str(),
        "uri": parts.uri.to_string(),
        "headers": headers.collect::<serde_json::Map<String, Value>>(),
        "body": String::from_utf8_lossy(&body),
    }))
}

/// `?retry-after=…` is echoed as a header.
async fn status(AxumPath(status): AxumPath<u16>, RawQuery(query): RawQuery) -> Response {
    let mut headers = HeaderMap::new();
    if let Some((_, after)) = query.as_deref().and_then(|query| query.split_once('=')) {
        let after = after.replace("%20", " ");
        headers.insert(header::RETRY_AFTER, after.parse().unwrap());
    }
    headers.insert(header::SET_COOKIE, "session=secret".parse().unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    (status, headers, AxumJson(json!({"why": "because"}))).into_response()
}

/// `?<status>=<location>`
async fn to(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let (status, location) = query.split_once('=').unwrap();
    let status = StatusCode::from_bytes(status.as_bytes()).unwrap();
    (status, [(header::LOCATION, location.to_owned())]).into_response()
}

async fn big_json() -> impl IntoResponse {
    typed(
        "application/json",
        r#"{"id": 12345678901234567890123, "pi": 3.10}"#,
    )
    .await
}

async fn typed(content_type: &'static str, body: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, content_type)], body)
}

async fn endless() -> Body {
    let chunk = || Ok::<_, std::io::Error>(bytes::Bytes::from_static(&[b'x'; 4096]));
    Body::from_stream(futures::stream::repeat_with(chunk))
}

/// One chunk and then nothing more.
async fn stalled() -> Body {
    let chunk = Ok::<_, std::io::Error>(bytes::Bytes::from_static(b"x"));
    let first = futures::stream::iter([chunk]);
    Body::from_stream(futures::StreamExt::chain(first, futures::stream::pending()))
}

fn http(allow: &[&str]) -> Http {
    let allow = allow.iter().map(|rule| rule.parse().unwrap());
    Http::new(HttpOptions {
        allow: allow.collect(),
    })
}

fn local() -> Http {
    http(&["127.0.0.0/8", "::1"])
}

async fn run(handler: &Http, config: Value, input: Value) -> Outcome {
    let bench = Bench::new(json!({"token": "s3cret", "id": "from state", "list": ["a", 1, null]}));
    bench.run(handler, config, input).await
}

async fn output(config: Value, input: Value) -> Value {
    match run(&local(), config, input).await {
        Outcome::Success { output, next: None } => output.unwrap().value(),
        other => panic!("{other:?}"),
    }
}

async fn failure(handler: &Http, config: Value) -> Failure {
    match run(handler, config, json!(null)).await {
        Outcome::Failure(failure) => failure,
        other => panic!("{other:?}"),
    }
}

async fn check_failure(config: Value, code: &str, retriable: Option<bool>) {
    let failure = failure(&local(), config.clone()).await;
    let found = (failure.code.as_str(), failure.retriable);
    assert_eq!(found, (code, retriable), "{config}: {failure:?}");
}

#[tokio::test]
async fn methods() {
    let server = Server::start().await;
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let config = json!({"url": server.url("/echo"), "method": method});
        let output = output(config, json!(null)).await;
        assert_eq!(
            (&output["status"], &output["body"]["method"]),
            (&json!(200), &json!(method))
        );
    }
    let config = json!({"url": server.url("/echo"), "method": "HEAD", "maxResponseBytes": 1});
    let output = output(config, json!(null)).await;
    assert_eq!(
        (&output["status"], &output["body"]),
        (&json!(200), &json!(null))
    );
    assert_eq!(output["headers"]["content-type"], "application/json");
}

#[tokio::test]
async fn values_come_from_the_input_and_then_from_the_state() {
    let server = Server::start().await;
    let config = json!({
        "url": server.url("/echo/${id}/x?a=${id}"),
        "headers": {"Authorization": "Bearer ${token}", "x-n": 1, "x-gone": "${gone}"},
        "query": {"l": "${list}", "b": true, "gone": "${gone}", "t": "<${id}>"},
    });
    let with_input = output(config.clone(), json!({"id": "ä/&"})).await;
    assert_eq!(
        with_input["body"]["uri"],
        "/echo/%C3%A4%2F%26/x?a=%C3%A4%2F%26&l=a&l=1&b=true&t=%3C%C3%A4%2F%26%3E"
    );
    let headers = &with_input["body"]["headers"];
    assert_eq!(headers["authorization"], "Bearer s3cret");
    assert_eq!(headers["x-n"], "1");
    assert_eq!(headers.get("x-gone"), None);
    assert_eq!(
        headers["user-agent"],
        concat!("riverrun/", env!("CARGO_PKG_VERSION"))
    );
    let from_state = output(config, json!({})).await;
    assert!(
        from_state["body"]["uri"]
            .as_str()
            .unwrap()
            .starts_with("/echo/from%20state/x?")
    );
    let whole = json!({"url": "${input}"});
    let whole = output(whole, json!(server.url("/echo/a/b?c=d e"))).await;
    assert_eq!(whole["body"]["uri"], "/echo/a/b?c=d%20e");
}

#[tokio::test]
async fn bodies() {
    let server = Server::start().await;
    let check = async |more: Value, body: &str, content_type: Option<&str>| {
        let mut config = json!({"url": server.url("/echo"), "method": "POST"});
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        let bench = Bench::new(json!({"name": "x"}));
        let input = r#"{"id":12345678901234567890123,"o":{"z":1.10,"a":2}}"#;
        let call = bench.call(Json::parse_text(input.to_owned()).unwrap());
        let outcome = bench.run_call(&local(), config, &call).await;
        let Outcome::Success { output, .. } = outcome else {
            panic!("{outcome:?}");
        };
        let echo = output.unwrap().value()["body"].clone();
        assert_eq!(echo["body"], body, "{more}");
        let found = echo["headers"].get("content-type").and_then(Value::as_str);
        assert_eq!(found, content_type, "{more}");
    };
    let (json_type, text_type) = (Some("application/json"), Some("text/plain; charset=utf-8"));
    check(json!({}), "", None).await;
    check(
        json!({"body": {"id": "${id}", "t": "${name}!"}}),
        r#"{"id":12345678901234567890123,"t":"x!"}"#,
        json_type,
    )
    .await;
    check(json!({"body": "${o}"}), r#"{"z":1.10,"a":2}"#, json_type).await;
    check(json!({"body": [1, null]}), "[1,null]", json_type).await;
    check(json!({"body": 5}), "5", json_type).await;
    check(json!({"body": null}), "null", json_type).await;
    check(
        json!({"body": "a=${id}"}),
        "a=12345678901234567890123",
        text_type,
    )
    .await;
    check(json!({"body": "${name}"}), "x", text_type).await;
    check(json!({"body": "${gone}"}), "", None).await;
    check(json!({"body": "x", "bodyType": "json"}), "\"x\"", json_type).await;
    check(
        json!({"body": {"a": 1}, "bodyType": "text"}),
        "{\"a\":1}",
        text_type,
    )
    .await;
    check(
        json!({"body": "<a/>", "headers": {"Content-Type": "application/xml"}}),
        "<a/>",
        Some("application/xml"),
    )
    .await;
}

#[tokio::test]
async fn responses_are_json_as_it_came_or_text() {
    let server = Server::start().await;
    let config = json!({"url": server.url("/json")});
    let Outcome::Success {
        output: Some(big), ..
    } = run(&local(), config, json!(null)).await
    else {
        panic!("it failed");
    };
    let body = big.get("body").unwrap();
    assert_eq!(
        body.as_str(),
        r#"{"id": 12345678901234567890123, "pi": 3.10}"#
    );
    let get = async |path: &str| output(json!({"url": server.url(path)}), json!(null)).await;
    assert_eq!(get("/text").await["body"], "{\"a\":1}");
    assert_eq!(get("/problem").await["body"], json!({"a": 1.1}));
    let empty = get("/empty").await;
    assert_eq!(
        (&empty["status"], &empty["body"]),
        (&json!(204), &json!(null))
    );
    for path in ["/broken-json", "/half-json"] {
        let config = json!({"url": server.url(path)});
        check_failure(config, "HTTP_ERROR", Some(false)).await;
    }
}

#[tokio::test]
async fn statuses() {
    let server = Server::start().await;
    let not_found = failure(&local(), json!({"url": server.url("/status/404")})).await;
    assert_eq!(
        (not_found.code.as_str(), not_found.message.as_str()),
        ("HTTP_ERROR", "404 Not Found")
    );
    assert_eq!(
        (not_found.retriable, not_found.retry_after_ms),
        (Some(false), None)
    );
    let details = not_found.details.unwrap().value();
    assert_eq!(
        (&details["status"], &details["body"]),
        (&json!(404), &json!({"why": "because"}))
    );
    assert_eq!(details["headers"]["content-type"], "application/json");
    assert_eq!(details["headers"].get("set-cookie"), None);
    for (status, retriable) in [
        (400, false),
        (401, false),
        (408, true),
        (409, false),
        (425, true),
        (429, true),
        (500, true),
        (501, false),
        (502, true),
        (503, true),
        (504, true),
    ] {
        let config = json!({"url": server.url(&format!("/status/{status}"))});
        check_failure(config, "HTTP_ERROR", Some(retriable)).await;
    }
    let config = json!({"url": server.url("/status/500"), "retriableStatus": [418, "4xx"]});
    check_failure(config, "HTTP_ERROR", Some(false)).await;
    let config = json!({"url": server.url("/status/404"), "retryableStatus": [418, "4xx"]});
    check_failure(config, "HTTP_ERROR", Some(true)).await;
    let config = json!({"url": server.url("/status/404"), "expectStatus": ["2xx", 404]});
    assert_eq!(output(config, json!(null)).await["status"], 404);
    let config = json!({"url": server.url("/status/200"), "expectStatus": [201]});
    check_failure(config, "HTTP_ERROR", Some(false)).await;
}

#[tokio::test]
async fn retry_after() {
    let server = Server::start().await;
    for (status, after, expected) in [
        (503, "7", Some(7000)),
        (
            429,
            "Wed, 29 Oct 2025 16:16:04 GMT",
            Some(1_761_754_564_000 - NOW_MS as u64),
        ),
        (429, "Wed, 29 Oct 2025 16:15:04 GMT", Some(0)),
        (503, "999999999999", Some(24 * 60 * 60 * 1000)),
        (503, "soon", None),
        (404, "7", None),
    ] {
        let after = after.replace(' ', "%20");
        let url = server.url(&format!("/status/{status}?after={after}"));
        let config = json!({ "url": url });
        let failure = failure(&local(), config).await;
        assert_eq!(failure.retry_after_ms, expected, "{status} {after}");
    }
}

#[tokio::test]
async fn time_limits() {
    let server = Server::start().await;
    for path in ["/silent", "/stalled"] {
        let config = json!({"url": server.url(path), "timeoutMs": 100});
        check_failure(config, "TIMEOUT", None).await;
    }
}

#[tokio::test]
async fn size_limits() {
    let server = Server::start().await;
    let config = json!({"url": server.url("/endless"), "maxResponseBytes": 100_000});
    check_failure(config, "RESPONSE_TOO_LARGE", Some(false)).await;
    let exact = json!({"url": server.url("/text"), "maxResponseBytes": 7});
    assert_eq!(output(exact, json!(null)).await["status"], 200);
    let config = json!({"url": server.url("/text"), "maxResponseBytes": 6});
    check_failure(config, "RESPONSE_TOO_LARGE", Some(false)).await;
    // The endless body of a response that is an error anyway is cut.
    let config = json!({"url": server.url("/endless"), "expectStatus": [201]});
    let failure = failure(&local(), config).await;
    assert_eq!(failure.message, "200 OK");
    assert_eq!(
        failure.details.unwrap().value()["body"]
            .as_str()
            .unwrap()
            .len(),
        16 << 10
    );
}

#[tokio::test]
async fn redirects() {
    let server = Server::start().await;
    let config = |status: u16, method: &str| {
        json!({
            "url": server.url(&format!("/to?{status}=/echo")), "method": method, "body": "x",
            "headers": {"authorization": "Bearer ${token}", "x-api-key": "k"},
        })
    };
    for (status, method, then, body) in [
        (301, "POST", "GET", ""),
        (302, "POST", "GET", ""),
        (303, "POST", "GET", ""),
        (303, "PUT", "GET", ""),
        (301, "PUT", "PUT", "x"),
        (307, "POST", "POST", "x"),
        (308, "POST", "POST", "x"),
    ] {
        let echo = output(config(status, method), json!(null)).await["body"].clone();
        assert_eq!(
            (&echo["method"], &echo["body"]),
            (&json!(then), &json!(body)),
            "{status}"
        );
        assert_eq!(echo["headers"]["authorization"], "Bearer s3cret");
        assert_eq!(echo["headers"]["x-api-key"], "k");
        assert_eq!(
            echo["headers"].get("content-type").is_some(),
            !body.is_empty()
        );
    }
    let config = json!({"url": server.url("/to?302=/echo"), "followRedirects": false});
    check_failure(config, "HTTP_ERROR", Some(false)).await;
    let config = json!({"url": server.url("/to?302=/echo"), "followRedirects": false, "expectStatus": ["3xx"]});
    assert_eq!(
        output(config, json!(null)).await["headers"]["location"],
        "/echo"
    );
    let config = json!({"url": server.url("/loop")});
    check_failure(config, "HTTP_ERROR", Some(false)).await;
}

#[tokio::test]
async fn secrets_do_not_follow_to_another_origin() {
    let (server, other) = (Server::start().await, Server::start().await);
    let config = json!({
        "url": server.url(&format!("/to?307={}", other.url("/echo"))), "method": "POST",
        "body": {"a": 1},
        "headers": {"authorization": "Bearer x", "cookie": "c", "x-api-key": "k", "accept": "text/x"},
    });
    let echo = output(config, json!(null)).await["body"].clone();
    for name in ["authorization", "cookie", "x-api-key"] {
        assert_eq!(echo["headers"].get(name), None, "{name}");
    }
    assert_eq!(echo["headers"]["accept"], "text/x");
    assert_eq!(echo["headers"]["content-type"], "application/json");
    assert_eq!(echo["headers"]["idempotency-key"], "run-1__step#1");
    assert_eq!(echo["body"], "{\"a\":1}");
}

#[tokio::test]
async fn one_idempotency_key_per_visit() {
    let server = Server::start().await;
    let bench = Bench::new(json!({}));
    for (attempt, visit, given, expected) in [
        (1, 1, None, "run-1__step#1"),
        (2, 1, None, "run-1__step#1"),
        (1, 2, None, "run-1__step#2"),
        (1, 1, Some("mine"), "mine"),
    ] {
        let mut config = json!({"url": server.url("/echo")});
        if let Some(given) = given {
            config["headers"] = json!({"Idempotency-Key": given});
        }
        let mut call = bench.call(json!(null));
        (call.attempt, call.visit) = (attempt, visit);
        let Outcome::Success { output, .. } = bench.run_call(&local(), config, &call).await else {
            panic!("it failed");
        };
        let echo = output.unwrap().value()["body"].clone();
        assert_eq!(echo["headers"]["idempotency-key"], expected);
    }
}

#[tokio::test]
async fn nothing_but_public_addresses() {
    let server = Server::start().await;
    let port = server.address.port();
    let refused = http(&[]);
    let urls = [
        server.url("/echo"),
        server.named("/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/echo"),
        format!("http://0x7f.1:{port}/echo"),
        format!("http://2130706433:{port}/echo"),
        format!("http://0.0.0.0:{port}/echo"),
        format!("http://[::1]:{port}/echo"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ];
    for url in urls {
        let bench = Bench::new(json!({}));
        for config in [json!({"url": url}), json!({"url": "${input}"})] {
            let outcome = bench.run(&refused, config, json!(url)).await;
            let Outcome::Failure(failure) = outcome else {
                panic!("{url}: {outcome:?}");
            };
            assert_eq!(
                (failure.code.as_str(), failure.retriable),
                ("HTTP_FORBIDDEN", Some(false)),
                "{url}: {failure:?}"
            );
        }
    }
}

#[tokio::test]
async fn redirects_are_judged_too() {
    let (server, other) = (Server::start().await, Server::start().await);
    // Only the first server is allowed, by its port.
    let handler = http(&[&server.address.to_string()]);
    let own = json!({"url": server.url("/to?302=/echo")});
    assert!(matches!(
        run(&handler, own, json!(null)).await,
        Outcome::Success { .. }
    ));
    for target in [
        other.url("/echo"),
        other.named("/echo"),
        server.named("/echo"),
        "http://169.254.169.254/".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("http://user:pass@{}/echo", server.address),
    ] {
        let config = json!({"url": server.url(&format!("/to?302={target}"))});
        let failure = failure(&handler, config).await;
        assert_eq!(
            (failure.code.as_str(), failure.retriable),
            ("HTTP_FORBIDDEN", Some(false)),
            "{target}: {failure:?}"
        );
    }
}

#[tokio::test]
async fn names_can_be_allowed() {
    let server = Server::start().await;
    let port = server.address.port();
    let named = json!({"url": server.named("/echo")});
    for (rules, allowed) in [
        (vec!["localhost".to_owned()], true),
        (vec![format!("localhost:{port}")], true),
        (vec!["127.0.0.0/8".to_owned(), "::1".to_owned()], true),
        (vec![format!("localhost:{}", port ^ 1)], false),
        (vec![format!("127.0.0.1:{port}")], false),
        (vec!["otherhost".to_owned()], false),
    ] {
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let outcome = run(&http(&rules), named.clone(), json!(null)).await;
        match outcome {
            Outcome::Success { .. } => assert!(allowed, "{rules:?}"),
            Outcome::Failure(failure) => {
                assert!(!allowed, "{rules:?}: {failure:?}");
                assert_eq!(failure.code, "HTTP_FORBIDDEN");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_cannot_be_reached_may_be_tried_again() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url = format!("http://{gone}/?key=s3cret");
    let failure = failure(&local(), json!({"url": url})).await;
    assert_eq!(
        (failure.code.as_str(), failure.retriable),
        ("HTTP_ERROR", Some(true))
    );
    assert!(
        failure.message.contains(&gone.to_string()),
        "{}",
        failure.message
    );
    assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
}

#[tokio::test]
async fn what_a_value_breaks_is_an_input_error() {
    let server = Server::start().await;
    let check = async |config: Value, input: Value| {
        let Outcome::Failure(failure) = run(&local(), config.clone(), input).await else {
            panic!("{config}");
        };
        assert_eq!(
            (failure.code.as_str(), failure.retriable),
            ("INPUT_ERROR", Some(false))
        );
    };
    check(json!({"url": server.url("/echo/${gone}")}), json!({})).await;
    check(json!({"url": server.url("/echo/${v}")}), json!({"v": ".."})).await;
    check(json!({"url": "${v}"}), json!({"v": "no url"})).await;
    let header = json!({"url": server.url("/echo"), "headers": {"x": "${v}"}});
    check(header, json!({"v": "a\r\nb: c"})).await;
}

#[test]
fn every_issue_at_once() {
    let handler = local();
    check_issues(
        &handler,
        json!({
            "url": "ftp://x.example/", "headers": {"a b": "x", "Host": "x", "ok": "${"},
            "query": {"q": ["${a..b}"]}, "body": {"x": "${"},
        }),
        &[
            ("url", "url"),
            ("headers.a b", "header"),
            ("headers.Host", "header"),
            ("headers.ok", "template"),
            ("query.q.0", "template"),
            ("body.x", "template"),
        ],
    );
    for url in ["no url", "/relative", "http://u:p@x.example/", "http://"] {
        check_issues(&handler, json!({"url": url}), &[("url", "url")]);
    }
    check_issues(
        &handler,
        json!({"url": "http://x.example/${"}),
        &[("url", "template")],
    );
    check_issues(
        &handler,
        json!({"url": "http://x.example", "method": "get", "timeoutMs": 0, "retries": 1}),
        &[
            ("", "additionalProperties"),
            ("method", "enum"),
            ("timeoutMs", "minimum"),
        ],
    );
    assert_eq!(handler.effects(), Effects::Some);
}
