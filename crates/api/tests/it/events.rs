use axum::{body::Body, http::Request};
use riverrun_api::ApiOptions;
use riverrun_types::Namespace;
use serde_json::{Value, json};

use crate::harness::{Server, text};

fn ids(page: &Value) -> Vec<String> {
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| text(&event["id"]))
        .collect()
}

#[tokio::test]
async fn events_are_paged_both_ways_and_filtered() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let read = async |query: &str| {
        server
            .get(&format!("/api/runs/{id}/events?{query}"))
            .await
            .expect(200)
    };
    let all = ids(&read("limit=1000").await);
    assert!(all.len() > 6, "{all:?}");
    for direction in [
        "order=asc",
        "order=desc",
        "direction=forward",
        "direction=backward",
    ] {
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = read(&format!("limit=2&{direction}{cursor}")).await;
            seen.extend(ids(&page));
            let Some(next) = page["nextCursor"].as_str() else {
                break;
            };
            cursor = format!("&cursor={next}");
        }
        if ["order=desc", "direction=backward"].contains(&direction) {
            seen.reverse();
        }
        assert_eq!(seen, all, "{direction}");
    }
    let kinds = |page: &Value| -> Vec<String> {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| text(&event["type"]))
            .collect()
    };
    assert_eq!(
        kinds(&read("type=flow").await),
        ["flow.started", "flow.completed"]
    );
    assert_eq!(
        kinds(&read("type=flow.started,step.completed").await).len(),
        4
    );
    for older in ["types=flow", "kind=flow"] {
        assert_eq!(read(older).await, read("type=flow").await);
    }
    let pay = read("step=pay").await;
    assert!(
        pay["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|event| event["stepName"] == "pay")
    );
    assert_eq!(
        read("since=2100-01-01T00:00:00Z").await,
        json!({"items": []})
    );
    let path = format!("/api/runs/{id}/events?cursor=zzz");
    server.get(&path).await.refused(400, "BAD_CURSOR");
    server
        .get("/api/runs/gone/events")
        .await
        .refused(404, "RUN_NOT_FOUND");
    let same = server
        .get(&format!("/api/_events/nq:flow:{id}?limit=1000"))
        .await
        .expect(200);
    assert_eq!(ids(&same), all);
}

#[tokio::test]
async fn an_event_of_another_tenant_than_its_runs_is_refused() {
    let server = Server::new().await;
    let of_nobody = server.waiting_run().await;
    let start = json!({"tenantId": "t1"});
    let started = server.post("/api/flows/sleeper/start", start).await;
    let of_t1 = started.expect(201)["runId"].clone();
    let emit = async |run: &Value, tenant: &str| {
        let event = json!({"type": "note.made", "runId": run, "tenantId": tenant});
        server.post("/api/events", event).await
    };
    let refused = emit(&of_t1, "t2").await.refused(422, "UNPROCESSABLE");
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("is of the tenant \"t1\""), "{said}");
    let refused = emit(&json!(of_nobody), "t1").await;
    refused.refused(422, "UNPROCESSABLE");
    emit(&of_t1, "t1").await.expect(201);
    let shop = json!({"type": "note.made", "tenantId": "t2"});
    let shop = server.post("/api/events/webhook/shop", shop).await;
    shop.expect(201);
    let stored = server.get("/api/events/nq:webhook:shop").await.expect(200);
    assert_eq!(stored["items"][0]["tenantId"], "t2");
    let unreadable = json!({"type": "note.made", "tenantId": "\n"});
    let refused = server.post("/api/events", unreadable).await;
    refused.refused(400, "BAD_EVENT");
}

#[tokio::test]
async fn events_from_outside_are_appended() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let one = json!({"type": "order.paid", "data": {"n": 1}});
    let answer = server
        .post(&format!("/api/_events/flow/{id}"), one)
        .await
        .expect(201);
    assert_eq!(answer["ids"].as_array().unwrap().len(), 1);
    assert_eq!(answer["stream"], format!("nq:flow:{id}"));
    let list = json!([{"kind": "log", "data": {"level": "warn", "msg": "x"}},
        {"type": "state.set", "data": {"key": "a.b", "value": 5}}]);
    let answer = server
        .post(&format!("/api/events/flow/{id}"), list)
        .await
        .expect(201);
    assert_eq!(answer["ids"].as_array().unwrap().len(), 2);
    let run = server
        .get(&format!("/api/events/flow/{id}"))
        .await
        .expect(200);
    assert_eq!(run["state"]["a"]["b"], 5);

    let append = async |body: Value| server.post(&format!("/api/events/flow/{id}"), body).await;
    append(json!({"type": "flow.completed"}))
        .await
        .refused(403, "RESERVED_TYPE");
    append(json!({"data": 1})).await.refused(400, "BAD_EVENT");
    append(json!([])).await.refused(400, "BAD_EVENT");
    append(json!(5)).await.refused(400, "BAD_EVENT");
    // All or none.
    append(json!([{"type": "fine"}, {"type": "step.started"}]))
        .await
        .refused(403, "RESERVED_TYPE");
    let events = server
        .get(&format!("/api/runs/{id}/events?type=fine"))
        .await
        .expect(200);
    assert_eq!(ids(&events).len(), 0);
    let gone = server
        .post("/api/events/flow/gone", json!({"type": "x"}))
        .await;
    gone.refused(404, "RUN_NOT_FOUND");
}

/// The limit of a page is not passed by the event that reaches it (docs/limits.md).
#[tokio::test]
async fn a_page_of_events_is_no_larger_than_its_limit() {
    const LIMIT: usize = 4 << 20;
    let server = Server::new().await;
    for at in 0..9 {
        let event = json!({"type": "large", "data": {"at": at, "text": "x".repeat(900_000)}});
        let path = "/api/events/test/large";
        server.post(path, event).await.expect(201);
    }
    for path in ["/api/events/test:large?", "/api/events?kind=large&"] {
        for direction in ["", "direction=backward&"] {
            let (mut seen, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = server
                    .get(&format!("{path}{direction}{cursor}"))
                    .await
                    .expect(200);
                let items = page["items"].as_array().unwrap();
                let sizes = items.iter().map(|event| event["data"].to_string().len());
                assert!(sizes.sum::<usize>() <= LIMIT, "{path}");
                seen.extend(
                    items
                        .iter()
                        .map(|event| event["data"]["at"].as_i64().unwrap()),
                );
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = format!("cursor={next}"),
                    None => break,
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..9).collect::<Vec<_>>(), "{path}{direction}");
            if path.starts_with("/api/events?") {
                break;
            }
        }
    }
}

#[tokio::test]
async fn events_are_emitted_to_a_run_a_stream_or_all() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let emit = async |body: Value| server.post("/api/events", body).await;
    assert_eq!(
        emit(json!({"type": "a"})).await.expect(201)["stream"],
        "nq:global"
    );
    let to_run = emit(json!({"type": "a", "runId": id})).await.expect(201);
    assert_eq!(to_run["stream"], format!("nq:flow:{id}"));
    let to_stream = emit(json!({"type": "a", "stream": "nq:webhook:github"}))
        .await
        .expect(201);
    assert_eq!(to_stream["stream"], "nq:webhook:github");
    emit(json!({"type": "a", "stream": "nq:webhook:x", "runId": id}))
        .await
        .refused(422, "UNPROCESSABLE");
    emit(json!({"type": "a", "runId": 5}))
        .await
        .refused(400, "BAD_REQUEST");
    emit(json!("a")).await.refused(400, "BAD_EVENT");
    for (misspelt, meant) in [("dta", "data"), ("runid", "runId")] {
        let mut body = json!({"type": "a"});
        body[misspelt] = json!({});
        let refused = emit(body).await.refused(400, "BAD_EVENT");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.ends_with(&format!("did you mean {meant}?")),
            "{message}"
        );
    }

    let global = server.get("/api/events/nq:global").await.expect(200);
    assert_eq!(global["items"][0]["type"], "a");
    let hook = server.get("/api/events/webhook/github").await.expect(200);
    assert_eq!(
        (&hook["events"], &hook["first"]["type"]),
        (&json!(1), &json!("a"))
    );
    server
        .get("/api/events/webhook/gone")
        .await
        .refused(404, "STREAM_NOT_FOUND");
    let hooks = server.get("/api/events/webhook/list").await.expect(200);
    assert_eq!(hooks["items"][0]["stream"], "nq:webhook:github");
}

#[tokio::test]
async fn events_of_the_older_form_go_to_the_run_that_they_name() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let emit = async |body: Value| server.post("/api/events", body).await;
    for place in [
        json!({"subject": id, "flow": id}),
        json!({"subject": id}),
        json!({"flow": id, "runId": id, "stream": format!("nq:flow:{id}")}),
    ] {
        let mut body = place.clone();
        body["kind"] = json!("decl.a");
        body["step"] = json!("s");
        body["meta"] = json!({"attempt": 1});
        let stored = emit(body).await.expect(201);
        assert_eq!(stored["stream"], format!("nq:flow:{id}"), "{place}");
    }
    for place in [
        json!({"subject": "gone", "flow": "gone"}),
        json!({"subject": "gone"}),
    ] {
        let mut body = place;
        body["kind"] = json!("decl.a");
        emit(body).await.refused(404, "RUN_NOT_FOUND");
    }
    let two = json!({"kind": "decl.a", "flow": id, "subject": "other"});
    emit(two).await.refused(422, "UNPROCESSABLE");
    let hooked = json!({"kind": "decl.a", "subject": "t1", "trigger": "t1", "correlationId": id});
    let stored = emit(hooked).await.expect(201);
    assert_eq!(stored["stream"], "nq:trigger:t1");
}

#[tokio::test]
async fn the_namespace_of_streams_can_be_set() {
    let server = Server::with(ApiOptions {
        namespace: Namespace::checked("shop").unwrap(),
        ..ApiOptions::default()
    })
    .await;
    let run = server.ended_run().await;
    let path = format!("/api/events/shop:flow:{run}");
    let events = server.get(&path).await.expect(200);
    assert_eq!(events["items"][0]["type"], "flow.started");
    let theirs = format!("/api/events/nq:flow:{run}");
    server.get(&theirs).await.refused(400, "BAD_ID");
    let emitted = server.post("/api/events", json!({"type": "ping"})).await;
    assert_eq!(emitted.expect(201)["stream"], "shop:global");
}

#[tokio::test]
async fn an_event_with_an_idempotency_key_is_stored_once() {
    let server = Server::new().await;
    let send = async |path: &str, key: &str, body: Value| {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        let body = Body::from(body.to_string());
        server.send(request.body(body).unwrap()).await
    };
    let paid = json!({"type": "paid", "data": {"n": 1}});
    let first = send("/api/events", "k1", paid.clone()).await.expect(201);
    assert_eq!(send("/api/events", "k1", paid).await.expect(200), first);
    // In the body it is the same key.
    let in_body = json!({"type": "paid", "idempotencyKey": "k1"});
    let again = server.post("/api/events", in_body.clone()).await;
    assert_eq!(again.expect(200), first);
    let differ = send("/api/events", "k2", in_body).await;
    differ.refused(422, "UNPROCESSABLE");
    let stored = server.get("/api/events/nq:global").await.expect(200);
    assert_eq!(ids(&stored), [text(&first["ids"][0])]);
    let list = json!([{"type": "a"}, {"type": "b"}]);
    let path = "/api/events/webhook/github";
    let first = send(path, "k1", list.clone()).await.expect(201);
    assert_eq!(first["ids"].as_array().unwrap().len(), 2);
    assert_eq!(send(path, "k1", list).await.expect(200), first);
}

/// A commit of a million events keeps all others waiting: so many are rejected before they are read.
#[tokio::test]
async fn the_events_and_jobs_of_one_request_are_counted() {
    let server = Server::new().await;
    let events = |count: usize| format!("[{}]", vec![r#"{"type":"a.b"}"#; count].join(","));
    let path = "/api/events/bench/many";
    let refused = server
        .post_text(path, "application/json", events(10_001))
        .await;
    refused.refused(413, "TOO_LARGE");
    let stored = server
        .post_text(path, "application/json", events(10_000))
        .await
        .expect(201);
    assert_eq!(stored["ids"].as_array().unwrap().len(), 10_000);
    let jobs = |count: usize| format!(r#"{{"jobs":[{}]}}"#, vec!["{}"; count].join(","));
    let path = "/api/queues/many/jobs?create=true";
    let refused = server
        .post_text(path, "application/json", jobs(1_000_000))
        .await;
    let refused = refused.refused(413, "TOO_LARGE");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("1000000 jobs"), "{message}");
    let stored = server
        .post_text(path, "application/json", jobs(10_000))
        .await
        .expect(201);
    assert_eq!(stored["jobs"].as_array().unwrap().len(), 10_000);
}

/// An event whose members lie beyond every limit is not parsed.
#[tokio::test]
async fn an_event_of_many_members_is_rejected_by_its_size() {
    let server = Server::new().await;
    let members: Vec<String> = (0..400_000).map(|n| format!(r#""m{n}":1"#)).collect();
    let event = format!("{{{}}}", members.join(","));
    for path in ["/api/events", "/api/events/foo/x"] {
        server
            .post_text(path, "application/json", event.clone())
            .await
            .refused(413, "TOO_LARGE");
    }
}

/// The ids of the answer are those of the stream, also where a time lies before the one before it.
#[tokio::test]
async fn the_ids_of_events_out_of_order_are_answered_as_stored() {
    let server = Server::new().await;
    let event = |ts: &str| format!(r#"{{"type":"a.b","ts":"{ts}"}}"#);
    let [late, early] = ["2026-01-01T00:00:02.000Z", "2026-01-01T00:00:01.000Z"].map(event);
    let stored = server
        .post_text(
            "/api/events/foo/x",
            "application/json",
            format!("[{late},{early}]"),
        )
        .await;
    let stored = stored.expect(201);
    let page = server.get("/api/events/foo/x").await.expect(200);
    let answered: Vec<String> = stored["ids"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(answered, ids(&page));
}
