//! Ids and names that would lead to something else, and streams that only the server writes to.

use axum::{body::Body, http::Request};
use serde_json::json;

use crate::harness::Server;

#[tokio::test]
async fn nothing_is_called_latest_or_like_another_place_in_a_path() {
    let server = Server::new().await;
    server.order().await;
    for id in ["latest", ".", ".."] {
        for (path, body) in [
            ("/api/flows/order/start", json!({ "runId": id })),
            (
                "/api/queue/q/jobs?create=true",
                json!({"data": 1, "options": {"jobId": id}}),
            ),
            ("/api/runner/execute", json!({"process": "p", "callId": id})),
        ] {
            server.post(path, body).await.refused(400, "BAD_ID");
        }
    }
    for dots in [".", "..", "%2e", "%2E%2e"] {
        for path in [
            format!("/api/queue/{dots}/jobs?create=true"),
            format!("/api/queue/a%2F{dots}%2Fb/jobs?create=true"),
            format!("/api/events/{dots}/x"),
            format!("/api/events/orders/{dots}"),
        ] {
            let body = json!({"type": "a", "data": 1});
            let body = match path.contains("queue") {
                true => json!({ "data": 1 }),
                false => body,
            };
            server.post(&path, body).await.refused(400, "BAD_ID");
        }
    }
    let event = json!({"type": "a", "stream": "nq:orders:.."});
    server
        .post("/api/events", event)
        .await
        .refused(400, "BAD_ID");
    let dots = json!({ "correlationId": ".." });
    server
        .post("/api/flows/order/start", dots)
        .await
        .refused(400, "BAD_ID");
    // What an older server stored is still found.
    let answer = server.get("/api/jobs/..").await;
    answer.refused(404, "JOB_NOT_FOUND");
    let answer = server.get("/api/events/orders/..").await;
    answer.refused(404, "STREAM_NOT_FOUND");
}

#[tokio::test]
async fn nobody_writes_into_the_streams_of_the_server() {
    let server = Server::new().await;
    server.order().await;
    let before = server
        .get("/api/events/registry/registry")
        .await
        .expect(200);
    let event = json!({"type": "flow.deployed", "data": {"x": 1}});
    for stream in [
        "registry/registry",
        "registry/other",
        "call/c1",
        "queue/q",
        "worker/w",
        "global/other",
    ] {
        for prefix in ["/api/events", "/api/_events"] {
            let path = format!("{prefix}/{stream}");
            let events = json!([{"type": "order.paid"}]);
            server
                .post(&path, events)
                .await
                .refused(403, "RESERVED_STREAM");
            let request = Request::post(&path).header("idempotency-key", "k");
            let request = request.header("content-type", "application/json");
            let body = Body::from(r#"{"type":"order.paid"}"#);
            let answer = server.send(request.body(body).unwrap()).await;
            answer.refused(403, "RESERVED_STREAM");
        }
        let name = stream.replace('/', ":");
        for name in [name.clone(), format!("nq:{name}")] {
            let event = json!({"type": "order.paid", "stream": name});
            server
                .post("/api/events", event)
                .await
                .refused(403, "RESERVED_STREAM");
        }
    }
    let event_to_registry = json!({"type": "order.paid", "stream": "nq:registry"});
    server
        .post("/api/events", event_to_registry)
        .await
        .refused(403, "RESERVED_STREAM");
    server
        .post("/api/events/registry/registry", event)
        .await
        .refused(403, "RESERVED_TYPE");
    let after = server
        .get("/api/events/registry/registry")
        .await
        .expect(200);
    assert_eq!(before, after);
    for open in ["global/global", "webhook/shop", "orders/7"] {
        let event = json!({ "type": "order.paid" });
        server
            .post(&format!("/api/events/{open}"), event)
            .await
            .expect(201);
    }
}

#[tokio::test]
async fn the_front_page_names_a_flow_and_an_address_that_are_there() {
    let server = Server::new().await;
    let open = async || {
        let request = Request::get("/").header("host", "127.0.0.1:7007");
        server
            .send(request.body(Body::empty()).unwrap())
            .await
            .text()
    };
    let page = open().await;
    assert!(
        page.contains("curl -X POST 127.0.0.1:7007/api/flows "),
        "{page}"
    );
    server.order().await;
    let page = open().await;
    assert!(
        page.contains("127.0.0.1:7007/api/flows/order/start?wait=5000"),
        "{page}"
    );
    assert!(!page.contains("4600") && !page.contains("hello"), "{page}");
}
