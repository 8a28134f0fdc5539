//! Events of a kind, of whatever stream, over HTTP.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{
    harness::{Server, text, until},
    sse::Reader,
};

async fn emit(server: &Server, stream: &str, kind: &str, data: Value) {
    let event = json!({"type": kind, "stream": stream, "data": data});
    server.post("/api/events", event).await.expect(201);
}

#[tokio::test]
async fn events_of_a_kind_are_read_page_by_page() {
    let server = Server::new().await;
    let run = server.ended_run().await;
    for n in 0..5 {
        emit(&server, &format!("nq:webhook:w{n}"), "order.paid", json!(n)).await;
        emit(&server, "nq:global", "order.sent", json!(n)).await;
    }
    let mut found = Vec::new();
    let mut path = "/api/_events?kind=order.paid&limit=2".to_owned();
    let end = loop {
        let page = server.get(&path).await.expect(200);
        found.extend(page["items"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(next) => path = format!("/api/events?kind=order.paid&limit=2&cursor={next}"),
            None => break page["cursor"].as_str().unwrap().to_owned(),
        }
    };
    let data: Vec<&Value> = found.iter().map(|event| &event["data"]).collect();
    assert_eq!(data, [0, 1, 2, 3, 4]);
    assert_eq!(found[3]["stream"], "nq:webhook:w3");
    emit(&server, "nq:global", "order.paid", json!("later")).await;
    let path = format!("/api/events?kind=order.paid&from={end}");
    let page = server.get(&path).await.expect(200);
    assert_eq!(page["items"][0]["data"], "later");
    let all = server
        .get("/api/events?kind=order,flow.completed")
        .await
        .expect(200);
    let all = all["items"].as_array().unwrap();
    assert_eq!(all.len(), 12);
    assert_eq!(all[0]["stream"], format!("nq:flow:{run}"));
    for (query, code) in [
        ("kind=", "BAD_KIND"),
        ("kind=a%20b", "BAD_KIND"),
        ("kind=job", "BAD_KIND"),
        ("kind=n&from=5-1", "BAD_CURSOR"),
        ("kind=n&from=%2B5", "BAD_CURSOR"),
        ("from=5", "BAD_QUERY"),
    ] {
        let answer = server.get(&format!("/api/events?{query}")).await;
        answer.refused(400, code);
    }
}

async fn follow(server: &Server, query: &str, last: Option<&str>) -> Reader {
    let mut request = Request::get(format!("/api/events?{query}"));
    request = request.header("accept", "text/event-stream");
    request = request.header("host", crate::harness::HOST);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let request = request.body(Body::empty()).unwrap();
    Reader::of(server.router.clone().oneshot(request).await.unwrap())
}

#[tokio::test]
async fn events_of_a_kind_are_followed_and_gone_on_with() {
    let server = Server::new().await;
    emit(&server, "nq:global", "n", json!("before")).await;
    let mut reader = follow(&server, "kind=n", None).await;
    assert!(reader.opening().await.contains("\nid: 1\n"));
    for n in 0..3 {
        emit(&server, "nq:webhook:w", "n", json!(n)).await;
        emit(&server, "nq:webhook:w", "other", json!(n)).await;
    }
    let first = reader.next().await.unwrap();
    assert_eq!(
        (first.event.as_str(), &first.json()["data"]),
        ("n", &json!(0))
    );
    assert_eq!(first.json()["stream"], "nq:webhook:w");
    drop(reader);
    let mut reader = follow(&server, "kind=n", Some(&first.id)).await;
    for n in 1..3 {
        assert_eq!(reader.next().await.unwrap().json()["data"], n);
    }
    emit(&server, "nq:global", "n", json!("live")).await;
    assert_eq!(reader.next().await.unwrap().json()["data"], "live");
    let mut all = follow(&server, "kind=n&from=start", None).await;
    assert_eq!(all.next().await.unwrap().json()["data"], "before");
}

/// Starts a flow that ships what is paid, and waits until it waits for the money.
async fn paying_run(server: &Server) -> String {
    let flow = json!({"id": "pay", "version": "1.0.0", "initialStepId": "wait", "steps": {
        "wait": {"type": "note", "config": {"value": "paid"}, "outputKey": "waited",
            "await": {"type": "event", "eventKind": "order.paid", "match": {"data.id": "input.id"}}},
        "ship": {"type": "echo", "outputKey": "shipped", "subscriptions": [{"eventKind": "order.paid"}]},
    }});
    server.post("/api/flows", flow).await.expect(201);
    let started = server
        .post("/api/flows/pay/start", json!({"input": {"id": 7}}))
        .await
        .expect(201);
    let run = text(&started["runId"]);
    until(async || {
        let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
        (shown["status"] == "waiting").then_some(())
    })
    .await;
    run
}

#[tokio::test]
async fn an_emit_is_of_the_kind_of_its_topic() {
    let server = Server::new().await;
    server.order().await;
    let run = paying_run(&server).await;
    let trigger =
        json!({"id": "paid", "type": "event", "flow": "order", "config": {"kind": "order.paid"}});
    server.post("/api/triggers", trigger).await.expect(201);
    // An emit without a topic has no type and triggers nothing.
    let events = format!("/api/events/flow/{run}");
    let said = json!({"type": "emit", "data": {"payload": {"id": 7}}});
    server.post(&events, said).await.expect(201);
    let said =
        json!({"type": "emit", "data": {"topic": "order.paid", "payload": {"id": 7, "n": 1}}});
    server.post(&events, said).await.expect(201);
    // The await has its event, and the subscribed step was entered with the payload.
    let ended = until(async || {
        let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
        (shown["status"] == "completed").then_some(shown)
    })
    .await;
    assert_eq!(ended["state"]["waited"], "paid", "{ended}");
    assert_eq!(ended["state"]["shipped"], json!({"id": 7, "n": 1}));
    // The trigger has started its flow with it, once.
    let started = until(async || {
        let runs = server.get("/api/flows/order/runs").await.expect(200);
        runs["items"].get(0).cloned()
    })
    .await;
    assert_eq!(started["metadata"]["trigger"]["id"], "paid", "{started}");
    // And who reads the kind is given it, as it was said.
    let kind = server.get("/api/events?kind=order.paid").await.expect(200);
    let kind = kind["items"].as_array().unwrap();
    assert_eq!(kind.len(), 1, "{kind:?}");
    assert_eq!(
        (&kind[0]["type"], &kind[0]["stream"]),
        (&json!("emit"), &json!(format!("nq:flow:{run}")))
    );
}
