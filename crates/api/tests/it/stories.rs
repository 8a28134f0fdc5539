//! Stories over HTTP: one correlation id, many streams.

use serde_json::{Value, json};

use crate::{harness::Server, harness::text, queues};

fn shown(page: &Value) -> Vec<String> {
    let show = |event: &Value| format!("{} {}", text(&event["stream"]), text(&event["type"]));
    page["items"].as_array().unwrap().iter().map(show).collect()
}

/// An event starts a run by a trigger; a job that belongs to the same story is added, and somebody
/// emits an event for it.
#[tokio::test]
async fn a_correlation_id_reads_one_story() {
    let server = queues::server(Value::Null).await;
    server.order().await;
    let trigger =
        json!({"id": "paid", "type": "event", "flow": "order", "config": {"kind": "order.paid"}});
    server.post("/api/triggers", trigger).await.expect(201);
    let event = json!({"type": "order.paid", "correlationId": "order-42", "causationId": "card-7", "data": {"n": 1}});
    server.post("/api/events", event).await.expect(201);
    let run = crate::harness::until(async || {
        let runs = server.get("/api/runs?status=completed").await.expect(200);
        runs["items"].get(0).cloned()
    })
    .await;
    assert_eq!(run["correlationId"], "order-42");
    let job = json!({"data": "quiet", "options": {"correlationId": "order-42"}});
    let job = queues::add(&server, job).await;
    queues::ended(&server, &job).await;
    let story = server
        .get("/api/_stories/order-42?limit=100")
        .await
        .expect(200);
    let all = shown(&story);
    let run = format!("nq:flow:{}", text(&run["runId"]));
    let job = format!("nq:job:{job}");
    // The run may have begun in the same millisecond; nothing has come earlier.
    let paid = all.iter().position(|line| line == "nq:global order.paid");
    let paid = &story["items"][paid.unwrap()];
    assert_eq!(paid["ts"], story["items"][0]["ts"]);
    assert_eq!(paid["causationId"], "card-7");
    for expected in [
        "nq:trigger:paid trigger.fired".to_owned(),
        format!("{run} flow.started"),
        format!("{run} flow.completed"),
        format!("{job} job.added"),
        format!("{job} job.completed"),
    ] {
        assert!(all.contains(&expected), "{expected} in {all:#?}");
    }
    let times: Vec<String> = story["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| text(&event["ts"]))
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    // Page by page.
    let mut paged = Vec::new();
    let mut path = "/api/stories/order-42?limit=2".to_owned();
    loop {
        let page = server.get(&path).await.expect(200);
        paged.extend(shown(&page));
        match page["nextCursor"].as_str() {
            Some(next) => path = format!("/api/stories/order-42?limit=2&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
    // A run and a job are stories of their own.
    let own = server
        .get(&format!(
            "/api/stories/{}",
            run.trim_start_matches("nq:flow:")
        ))
        .await;
    assert!(
        shown(&own.expect(200))
            .iter()
            .any(|line| line.ends_with("trigger.fired"))
    );
    server
        .get("/api/stories/absent")
        .await
        .refused(404, "STORY_NOT_FOUND");
    server
        .get("/api/stories/a%0Ab")
        .await
        .refused(400, "BAD_ID");
    server
        .get("/api/stories/order-42?cursor=x")
        .await
        .refused(400, "BAD_CURSOR");
}

#[tokio::test]
async fn a_run_is_started_as_part_of_a_story() {
    let server = Server::new().await;
    server.order().await;
    let body = json!({"input": {"n": 1}, "correlationId": "s", "causationId": "because"});
    server
        .post("/api/flows/order/start?wait=10000", body)
        .await
        .expect(200);
    let story = server.get("/api/stories/s").await.expect(200);
    let first = &story["items"][0];
    assert_eq!(
        (&first["correlationId"], &first["causationId"]),
        (&json!("s"), &json!("because"))
    );
    assert!(shown(&story).last().unwrap().ends_with("flow.completed"));
    let bad = json!({"correlationId": "a\nb"});
    server
        .post("/api/flows/order/start", bad)
        .await
        .refused(400, "BAD_REQUEST");
}

#[tokio::test]
async fn a_trigger_is_reduced_from_its_stream() {
    let server = Server::new().await;
    server.order().await;
    let trigger = json!({"id": "t", "type": "manual", "flow": "order"});
    server.post("/api/triggers", trigger).await.expect(201);
    let state = async || {
        let stream = server.get("/api/_events/trigger/t").await.expect(200);
        stream["state"].clone()
    };
    let registered = state().await;
    assert_eq!(
        (&registered["status"], &registered["type"]),
        (&json!("registered"), &json!("manual"))
    );
    let fired = server
        .post("/api/triggers/t/fire", json!({"input": {"n": 1}}))
        .await;
    let run = text(&fired.json()["runId"]);
    let after = state().await;
    assert_eq!(
        (&after["status"], &after["fired"]),
        (&json!("fired"), &json!(1))
    );
    assert_eq!(
        (&after["runId"], &after["correlationId"]),
        (&json!(run), &json!(run))
    );
    server.delete("/api/triggers/t").await;
    assert_eq!(state().await["status"], "cancelled");
}

#[tokio::test]
async fn events_that_nobody_takes_are_kept_and_counted() {
    let server = Server::new().await;
    server.order().await;
    let trigger = json!({"id": "t", "type": "event", "flow": "order", "config": {"kind": "taken"}});
    server.post("/api/triggers", trigger).await.expect(201);
    for kind in ["unheard.a", "taken", "unheard.b", "unheard.a"] {
        server
            .post("/api/events", json!({"type": kind, "data": {"n": 1}}))
            .await
            .expect(201);
    }
    let counted = server.get("/api/events/unheard").await.expect(200);
    assert_eq!(counted["total"], 3);
    let mut kinds: Vec<String> = counted["types"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| format!("{} {}", text(&kind["type"]), kind["count"]))
        .collect();
    kinds.sort();
    assert_eq!(kinds, ["unheard.a 2", "unheard.b 1"]);
    let kept = server.get("/api/events?kind=unheard").await.expect(200);
    assert_eq!(kept["items"].as_array().unwrap().len(), 3);
}
