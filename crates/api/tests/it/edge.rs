//! Requests that are ambiguous, encoded, or made by a page of another site: rejected on every
//! route alike.

use axum::{
    body::Body,
    http::{Request, Version},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::{Server, order};

/// A server with a flow that a GET hook starts.
async fn hooked() -> Server {
    let server = Server::new().await;
    server.order().await;
    for (id, method) in [("by-get", "GET"), ("by-post", "POST")] {
        let trigger = json!({
            "id": id, "type": "http", "flow": "order",
            "config": {"path": format!("/{id}"), "method": method},
        });
        server.post("/api/triggers", trigger).await.expect(201);
    }
    server
}

fn from_site(request: axum::http::request::Builder, headers: &[(&str, &str)]) -> Request<Body> {
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    request.body(Body::empty()).unwrap()
}

/// An image, a link or a script of another page makes a browser send a GET without an Origin.
#[tokio::test]
async fn a_page_of_another_site_starts_nothing_by_a_hook_whatever_its_method() {
    let server = hooked().await;
    let image = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "no-cors"),
    ];
    let link = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
    ];
    let neighbour = [("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")];
    let unknown = [("sec-fetch-site", "elsewhere"), ("sec-fetch-mode", "cors")];
    for headers in [image, link, neighbour, unknown] {
        for request in [
            Request::get("/hooks/by-get"),
            Request::post("/hooks/by-post"),
        ] {
            let answer = server.send(from_site(request, &headers)).await;
            answer.refused(403, "FORBIDDEN_ORIGIN");
        }
        let start = Request::post("/api/flows/order/start");
        let answer = server.send(from_site(start, &headers)).await;
        answer.refused(403, "FORBIDDEN_ORIGIN");
    }
    let old_browser = [("origin", "https://evil.example")];
    let answer = server
        .send(from_site(Request::get("/hooks/by-get"), &old_browser))
        .await;
    answer.refused(403, "FORBIDDEN_ORIGIN");
    let runs = server.get("/api/runs").await.expect(200);
    assert_eq!(runs["items"], json!([]));

    let own = [
        vec![("sec-fetch-site", "same-origin")],
        // Typed into the address bar.
        vec![("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
        // No browser at all.
        vec![],
    ];
    for headers in own {
        let answer = server
            .send(from_site(Request::get("/hooks/by-get"), &headers))
            .await;
        answer.expect(201);
    }
}

#[tokio::test]
async fn pages_are_opened_from_everywhere_and_sockets_are_not() {
    let server = hooked().await;
    let link = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
    ];
    for page in ["/", "/api/docs", "/api/runs"] {
        let answer = server.send(from_site(Request::get(page), &link)).await;
        assert_eq!(answer.status, 200, "{page}");
    }
    let approval = server
        .send(from_site(Request::get("/approve/absent"), &link))
        .await;
    assert_eq!(approval.status, 404);
    let socket = Request::get("/api/events/ws").header("upgrade", "websocket");
    let answer = server.send(from_site(socket, &link)).await;
    answer.refused(403, "FORBIDDEN_ORIGIN");
}

#[tokio::test]
async fn headers_that_decide_are_there_once() {
    let server = Server::new().await;
    for name in [
        "host",
        "origin",
        "sec-fetch-site",
        "content-type",
        "idempotency-key",
    ] {
        let request = Request::get("/api/runs").header("host", "a");
        let request = request.header(name, "a").header(name, "a");
        let answer = server
            .send_as_is(request.body(Body::empty()).unwrap())
            .await;
        let body = answer.refused(400, "BAD_HEADER");
        assert_eq!(body["error"]["details"]["header"], name);
    }
    let without = |version| {
        Request::get("/api/runs")
            .version(version)
            .body(Body::empty())
    };
    let answer = server.send_as_is(without(Version::HTTP_11).unwrap()).await;
    answer.refused(400, "BAD_HEADER");
    let answer = server.send_as_is(without(Version::HTTP_10).unwrap()).await;
    answer.expect(200);
}

#[tokio::test]
async fn bodies_that_are_encoded_are_refused_on_every_route() {
    let server = hooked().await;
    for path in [
        "/api/flows",
        "/api/events",
        "/api/queue/q/jobs",
        "/hooks/by-post",
    ] {
        for (encoding, status) in [("gzip", 415), ("br, gzip", 415), ("x", 415)] {
            let request = Request::post(path).header("content-encoding", encoding);
            let answer = server.send(request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(answer.status, status, "{path} {encoding}");
            answer.refused(status, "UNSUPPORTED_ENCODING");
        }
    }
    let request = Request::post("/api/flows").header("content-encoding", "identity");
    let body = Body::from(order().to_string());
    server.send(request.body(body).unwrap()).await.expect(200);
}

/// Parsers disagree about which of two members counts, so a check by one program says nothing of
/// what another one does.
#[tokio::test]
async fn a_member_that_stands_there_twice_is_refused_wherever_the_server_reads_it() {
    let server = hooked().await;
    server
        .post("/api/flows/order/start", json!({}))
        .await
        .expect(201);
    for (path, kind, body) in [
        (
            "/api/flows/order/start",
            "json",
            r#"{"runId":"a","runId":"b"}"#,
        ),
        ("/api/queue/q/jobs", "json", r#"{"data":1,"data":2}"#),
        (
            "/api/queue/q/jobs",
            "json",
            r#"{"data":1,"options":{"jobId":"a","jobId":"b"}}"#,
        ),
        (
            "/api/flows",
            "json",
            r#"{"id":"a","id":"b","version":"1.0.0"}"#,
        ),
        (
            "/api/flows",
            "json",
            r#"{"id":"a","steps":{"s":{"type":"note","type":"fail"}}}"#,
        ),
        (
            "/api/flows/validate",
            "json",
            r#"{"steps":{"s":{},"s":{}}}"#,
        ),
        ("/api/flows", "yaml", "id: a\nid: b\n"),
        (
            "/api/triggers",
            "json",
            r#"{"id":"t","flow":"a","flow":"b"}"#,
        ),
        (
            "/api/triggers",
            "yaml",
            "id: t\nconfig:\n  path: /a\n  path: /b\n",
        ),
        ("/api/events", "json", r#"{"type":"a","type":"b"}"#),
        (
            "/api/events",
            "json",
            r#"{"type":"a","runId":"r","runId":"s"}"#,
        ),
        (
            "/api/events/orders/7",
            "json",
            r#"[{"type":"a"},{"type":"a","type":"b"}]"#,
        ),
        (
            "/api/queue/q/jobs?create=true",
            "json",
            r#"{"options":{"backoff":{"delayMs":1,"delayMs":2}}}"#,
        ),
        (
            "/api/queue/q/jobs?create=true",
            "json",
            r#"{"jobs":[{"options":{"dedupe":{"key":"a","key":"b"}}}]}"#,
        ),
        (
            "/api/queue/q/dlq/redrive",
            "json",
            r#"{"filter":{"code":"A","code":"B"}}"#,
        ),
        (
            "/api/triggers/by-get/fire",
            "json",
            r#"{"input":1,"input":2}"#,
        ),
        ("/api/triggers/by-get", "json", r#"{"input":1,"input":2}"#),
        (
            "/api/schedules/by-get/backfill",
            "json",
            r#"{"from":1,"from":2,"to":3}"#,
        ),
        (
            "/api/runs/latest/cancel",
            "json",
            r#"{"reason":"a","reason":"b"}"#,
        ),
        (
            "/api/events",
            "json",
            r#"{"type":"a","stepName":"s","meta":{"attempt":1,"attempt":2}}"#,
        ),
        (
            "/api/events/flow/latest",
            "json",
            r#"{"type":"state.set","data":{"key":"a","key":"b","value":1}}"#,
        ),
        (
            "/api/runs/import",
            "json",
            r#"{"run":{"runId":"a","runId":"b"},"events":[]}"#,
        ),
        ("/api/runs/import", "json", r#"{"events":[],"events":[]}"#),
        (
            "/api/runner/execute",
            "json",
            r#"{"process":"a","process":"b"}"#,
        ),
    ] {
        let kind = format!("application/{kind}");
        let answer = server.post_text(path, &kind, body).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text());
        answer.refused(400, "DUPLICATE_MEMBER");
    }
    // A payload is passed through as it is.
    let started = server
        .post_text(
            "/api/queue/q/jobs?create=true",
            "application/json",
            r#"{"data":{"a":1,"a":2}}"#,
        )
        .await;
    assert!(started.status.is_success(), "{}", started.text());
}

/// Derived deserializers accept a list for the fields of a struct in their order, and read the
/// name of a variant from `{"name": null}`.
#[tokio::test]
async fn a_list_is_no_object_wherever_the_server_reads_one() {
    let server = hooked().await;
    server
        .post("/api/queue/q/jobs?create=true", json!({}))
        .await
        .expect(201);
    server
        .post("/api/flows/order/start", json!({}))
        .await
        .expect(201);
    for (path, body) in [
        ("/api/flows/order/start", json!([])),
        ("/api/flows/order/start", json!([{"n": 1}, "key"])),
        ("/api/runs/latest/cancel", json!(["reason"])),
        ("/api/queue/q/jobs", json!([])),
        ("/api/queue/q/jobs", json!({"options": ["id", 1]})),
        ("/api/queue/q/jobs", json!({"jobs": [["name", 1]]})),
        ("/api/queue/q/jobs", json!({"jobs": [{"options": []}]})),
        ("/api/queue/q/jobs", json!({"options": {"dedupe": ["key"]}})),
        (
            "/api/queue/q/jobs",
            json!({"options": {"throttle": [null, 5]}}),
        ),
        (
            "/api/queue/q/jobs",
            json!({"options": {"backoff": ["fixed", 5]}}),
        ),
        (
            "/api/queue/q/jobs",
            json!({"options": {"onFail": {"drop": null}}}),
        ),
        ("/api/queue/q/dlq/redrive", json!({"filter": [null, null]})),
        ("/api/queue/q/dlq/purge", json!({"filter": []})),
        ("/api/queue/q/clean", json!({"filter": ["CODE"]})),
        ("/api/queue/q/clean", json!({"state": {"failed": null}})),
        ("/api/triggers/by-post/fire", json!([1])),
        ("/api/runner/execute", json!(["process"])),
        ("/api/events", json!(["a"])),
        ("/api/runs/import", json!([[], []])),
        ("/api/runs/import", json!({"run": [], "events": []})),
    ] {
        let answer = server.post(path, body.clone()).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text());
    }
    for (config, field) in [
        (
            json!({"path": "/x", "signature": ["s"]}),
            "config.signature",
        ),
        (json!([]), "config"),
    ] {
        let trigger = json!({"id": "x", "type": "http", "flow": "order", "config": config});
        let answer = server.post("/api/triggers", trigger).await;
        let body = answer.refused(422, "TRIGGER_INVALID");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains(field), "{message}");
    }
    let message = server
        .post("/api/queue/q/clean", json!({"filter": ["CODE"]}))
        .await
        .refused(400, "BAD_REQUEST");
    assert_eq!(message["error"]["details"]["field"], "filter");
}

#[tokio::test]
async fn blanks_are_a_body_and_no_json() {
    let server = hooked().await;
    let start = "/api/flows/order/start";
    server
        .post_text(start, "application/json", "")
        .await
        .expect(201);
    for blank in [" ", "\n\t\r\n"] {
        let answer = server.post_text(start, "application/json", blank).await;
        answer.refused(400, "BAD_JSON");
    }
}

#[tokio::test]
async fn a_whole_number_may_have_a_point() {
    let server = hooked().await;
    for (path, body, status) in [
        ("/api/flows/order/start", r#"{"delayMs": 60000.0}"#, 201),
        ("/api/flows/order/start", r#"{"delayMs": 6e4}"#, 201),
        ("/api/flows/order/start", r#"{"delayMs": 0.5}"#, 400),
        ("/api/flows/order/start", r#"{"delayMs": 1e300}"#, 400),
        (
            "/api/queue/q/jobs?create=true",
            r#"{"options": {"priority": -1.0, "attempts": 2.0, "runAt": 1e3}}"#,
            201,
        ),
        ("/api/events", r#"{"type": "a", "attempt": 1.0}"#, 201),
        ("/api/events", r#"{"type": "a", "attempt": "1"}"#, 400),
        ("/api/events", r#"{"type": "a", "attempt": 1.5}"#, 400),
    ] {
        let answer = server.post_text(path, "application/json", body).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_value_beyond_its_limit_is_refused_and_not_cut() {
    let server = hooked().await;
    let schedule =
        json!({"id": "s", "type": "schedule", "flow": "order", "config": {"cron": "0 3 * * *"}});
    server.post("/api/triggers", schedule).await.expect(201);
    let backfill = "/api/schedules/s/backfill";
    for limit in [0, 1_001] {
        let body = json!({"from": 0, "to": 1, "limit": limit, "forgotten": true});
        server
            .post(backfill, body)
            .await
            .refused(400, "BAD_REQUEST");
    }
    let backwards = json!({"from": 1, "to": 0});
    server
        .post(backfill, backwards)
        .await
        .refused(422, "UNPROCESSABLE");
    for ms in [0, 400_000_000_000_u64] {
        let body = json!({"process": "p", "timeoutMs": ms});
        server
            .post("/api/runner/execute", body)
            .await
            .refused(400, "BAD_REQUEST");
    }
    // In characters, as a schema counts them.
    for (length, status) in [(256, 201), (257, 400)] {
        let body = json!({"tenantId": "\u{1f600}".repeat(length)});
        let answer = server.post("/api/flows/order/start", body).await;
        assert_eq!(answer.status, status, "{length}");
    }
    for cursor in ["+1", "01", "0", "-1", "1.0"] {
        let path = format!("/api/runs?cursor={}", cursor.replace('+', "%2B"));
        server.get(&path).await.refused(400, "BAD_CURSOR");
    }
    let both = json!({"options": {"delayMs": 1, "runAt": 5}});
    server
        .post("/api/queue/q/jobs?create=true", both)
        .await
        .refused(422, "UNPROCESSABLE");
}

#[tokio::test]
async fn no_answer_lets_a_browser_guess_its_type() {
    let server = hooked().await;
    for path in [
        "/",
        "/api/runs",
        "/nowhere",
        "/healthz",
        "/approve/x",
        "/api/docs",
    ] {
        let answer = server.get(path).await;
        assert_eq!(
            answer.headers["x-content-type-options"], "nosniff",
            "{path}"
        );
    }
    // Nor one that the HTTP library gives before the request reached a route.
    let address = server.listen().await;
    for bad in [
        "GET / HTTP/9.9\r\nhost: x\r\n\r\n".to_owned(),
        "GET /\u{1} HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        format!(
            "GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
            "x".repeat(1 << 20)
        ),
        "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGARBAGE\r\n\r\n".to_owned(),
    ] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        // The server may close before it has read everything.
        let _ = stream.write_all(bad.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        let heads = answer.matches("HTTP/1.").count();
        let stated = answer
            .matches("x-content-type-options: nosniff\r\n")
            .count();
        assert!(heads >= 1, "{answer}");
        assert_eq!(heads, stated, "{answer}");
    }
}
