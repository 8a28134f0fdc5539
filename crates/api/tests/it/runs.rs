use serde_json::{Value, json};

use crate::harness::{Server, text};

#[tokio::test]
async fn a_run_is_read_in_every_way() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let run = server.get(&format!("/api/runs/{id}")).await.expect(200);
    assert_eq!(run["status"], "completed");
    let latest = server.get("/api/runs/latest").await.expect(200);
    assert_eq!(latest, run);
    assert_eq!(
        server.get(&format!("/api/_runs/{id}")).await.expect(200),
        run
    );

    let history = server
        .get(&format!("/api/runs/{id}/history"))
        .await
        .expect(200);
    let steps: Vec<(&Value, &Value)> = history["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["stepId"], &entry["handlerType"]))
        .collect();
    let expected = [("price", "note"), ("pay", "echo"), ("done", "note")];
    assert_eq!(
        steps,
        expected
            .map(|(step, kind)| (json!(step), json!(kind)))
            .iter()
            .map(|(a, b)| (a, b))
            .collect::<Vec<_>>()
    );
    assert_eq!(history["items"][0]["outcome"], "success");

    let jobs = server
        .get(&format!("/api/runs/{id}/jobs"))
        .await
        .expect(200);
    assert_eq!(jobs["items"][0]["status"], "completed");
    let children = server
        .get(&format!("/api/runs/{id}/children"))
        .await
        .expect(200);
    assert_eq!(children, json!({"items": []}));
    server
        .get("/api/runs/gone")
        .await
        .refused(404, "RUN_NOT_FOUND");
    server.get("/api/runs/a%20b").await.refused(400, "BAD_ID");
}

#[tokio::test]
async fn a_run_says_why_it_waits() {
    let server = Server::new().await;
    let step = json!({"type": "process", "config": {"process": "absent"}});
    let flow = json!({"id": "w", "version": "1.0.0", "initialStepId": "do", "steps": {"do": step}});
    server.post("/api/flows", flow).await.expect(201);
    let started = server.post("/api/flows/w/start", json!({})).await;
    let id = text(&started.expect(201)["runId"]).to_owned();
    let why = server.get(&format!("/api/runs/{id}/why")).await.expect(200);
    let since = why["reasons"][0]["since"].clone();
    assert!(text(&since).ends_with('Z'), "{why}");
    let shown = serde_json::to_string_pretty(&why).unwrap();
    let shown = shown
        .replace(&id, "<run>")
        .replace(&text(&since), "<since>");
    insta::assert_snapshot!(shown);
    let latest = server.get("/api/runs/latest/why").await.expect(200);
    assert_eq!(latest["runId"], id.as_str());
    let job = server.get(&format!("/api/runs/{id}__do/why")).await;
    assert_eq!(job.expect(200)["kind"], "job");

    let ended = server.ended_run().await;
    let why = server.get(&format!("/api/runs/{ended}/why")).await;
    assert_eq!(why.expect(200)["reasons"][0]["kind"], "ended");
    server
        .get("/api/runs/gone/why")
        .await
        .refused(404, "RUN_NOT_FOUND");
}

#[tokio::test]
async fn a_long_history_is_read_in_pages() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let path = format!("/api/runs/{id}/history");
    let whole = server.get(&path).await.expect(200);
    assert_eq!(whole["items"].as_array().unwrap().len(), 3);
    assert!(whole.get("nextCursor").is_none(), "{whole}");
    let mut read = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = server.get(&format!("{path}{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap().clone();
        assert!(items.len() <= 2);
        read.extend(items);
        match page.get("nextCursor") {
            Some(cursor) => query = format!("?limit=2&cursor={}", text(cursor)),
            None => break,
        }
    }
    assert_eq!(json!(read), whole["items"]);
    for (query, code) in [
        ("limit=0", "BAD_QUERY"),
        ("limit=1001", "BAD_QUERY"),
        ("cursor=zzz", "BAD_CURSOR"),
        ("cursor=5.1.0", "BAD_CURSOR"),
    ] {
        let answer = server.get(&format!("{path}?{query}")).await;
        answer.refused(400, code);
    }
    let beyond = format!("{path}?cursor=900.900.5");
    let beyond = server.get(&beyond).await.expect(200);
    assert_eq!(beyond, json!({"items": []}));
}

#[tokio::test]
async fn the_state_is_read_at_any_moment() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let events = server
        .get(&format!("/api/runs/{id}/events"))
        .await
        .expect(200);
    let events = events["items"].as_array().unwrap().clone();
    let mut sizes = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let path = format!("/api/runs/{id}/state?at={}", text(&event["id"]));
        let state = server.get(&path).await.expect(200);
        assert_eq!(state["events"], at + 1, "{state}");
        sizes.push(state["state"].as_object().unwrap().len());
    }
    assert!(sizes.is_sorted(), "{sizes:?}");
    assert_eq!(sizes.first(), Some(&1));
    let now = server
        .get(&format!("/api/runs/{id}/state"))
        .await
        .expect(200);
    assert_eq!(
        now["state"].as_object().unwrap().len(),
        *sizes.last().unwrap()
    );
    let before = server
        .get(&format!("/api/runs/{id}/state?at=1"))
        .await
        .expect(200);
    assert_eq!(
        (&before["events"], &before["state"]),
        (&json!(0), &json!({}))
    );
    let after = server
        .get(&format!("/api/runs/{id}/state?at=2100-01-01T00:00:00Z"))
        .await
        .expect(200);
    assert_eq!(after, now);
    server
        .get(&format!("/api/runs/{id}/state?at=noon"))
        .await
        .refused(400, "BAD_QUERY");
}

#[tokio::test]
async fn runs_are_listed_page_by_page_and_filtered() {
    let server = Server::new().await;
    server.order().await;
    let mut started = Vec::new();
    for n in 0..7 {
        let body = json!({"input": {"n": n}, "tags": [format!("even-{}", n % 2 == 0)], "runId": format!("run-{n}")});
        let answer = server
            .post("/api/flows/order/start?wait=10000", body)
            .await
            .expect(200);
        started.push(text(&answer["runId"]));
    }
    let sleeper = server.waiting_run().await;
    let list = async |query: &str| {
        let page = server.get(&format!("/api/runs?{query}")).await.expect(200);
        let ids = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| text(&run["runId"]));
        (
            ids.collect::<Vec<_>>(),
            page["nextCursor"].as_str().map(str::to_owned),
        )
    };
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let (ids, next) = list(&format!("flow=order&limit=3{cursor}")).await;
        seen.extend(ids);
        let Some(next) = next else { break };
        cursor = format!("&cursor={next}");
    }
    seen.reverse();
    assert_eq!(seen, started);
    assert_eq!(
        list("status=waiting").await.0,
        std::slice::from_ref(&sleeper)
    );
    assert_eq!(list("status=waiting,completed&limit=100").await.0.len(), 8);
    assert_eq!(list("tag=even-true").await.0.len(), 4);
    assert_eq!(list("prefix=run-3").await.0, ["run-3"]);
    assert_eq!(list("flow=order&order=asc&limit=1").await.0, ["run-0"]);
    assert_eq!(list("since=2100-01-01T00:00:00Z").await.0.len(), 0);
    assert_eq!(list("until=1000").await.0.len(), 0);
    let of_flow = server
        .get("/api/flows/order/runs?limit=2")
        .await
        .expect(200);
    assert_eq!(of_flow["items"].as_array().unwrap().len(), 2);
    for of_runs in ["status=waiting", "stalled=false"] {
        let jobs = server.get(&format!("/api/jobs?{of_runs}")).await;
        let jobs = jobs.expect(200);
        assert_eq!(jobs["items"].as_array().unwrap().len(), 1, "{of_runs}");
        assert_eq!(jobs["items"][0]["id"], sleeper);
    }
    assert_eq!(
        server.get("/api/jobs?stalled=true").await.expect(200),
        json!({"items": []})
    );
    assert_eq!(
        server
            .get(&format!("/api/jobs/{sleeper}"))
            .await
            .expect(200)["status"],
        "waiting"
    );
    let listed = server
        .get("/api/_events/flow/list?name=order&limit=2")
        .await
        .expect(200);
    assert_eq!(listed["items"][0]["id"], "run-6");
    assert!(listed["nextCursor"].is_string());
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let act = async |action: &str, body: Value| {
        server.post(&format!("/api/runs/{id}/{action}"), body).await
    };
    act("resume", json!({}))
        .await
        .refused(409, "RUN_NOT_PAUSED");
    assert_eq!(
        act("pause", json!({"reason": "lunch"})).await.expect(200)["status"],
        "paused"
    );
    assert_eq!(
        act("resume", json!({})).await.expect(200)["status"],
        "waiting"
    );
    server
        .delete(&format!("/api/runs/{id}"))
        .await
        .refused(409, "RUN_NOT_ENDED");
    let cancelled = act("cancel", json!({"reason": "no more"}))
        .await
        .expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["cancellation"]["reason"], "no more");
    act("cancel", json!({})).await.refused(409, "RUN_ENDED");
    let deleted = server.delete(&format!("/api/runs/{id}")).await;
    assert_eq!((deleted.status.as_u16(), deleted.body.len()), (204, 0));
    server
        .get(&format!("/api/runs/{id}"))
        .await
        .refused(404, "RUN_NOT_FOUND");
}

#[tokio::test]
async fn a_run_is_started_again_and_forked() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let again = server
        .post(&format!("/api/runs/{id}/rerun"), json!({}))
        .await
        .expect(201);
    assert_ne!(again["runId"], id);
    let other = json!({"input": {"n": 99}, "latest": true});
    let other = server
        .post(&format!("/api/runs/{id}/rerun"), other)
        .await
        .expect(201);
    let other = server
        .get(&format!("/api/runs/{}", text(&other["runId"])))
        .await
        .expect(200);
    assert_eq!(other["input"]["n"], 99);
    assert_eq!(other["forkedFrom"]["runId"], id);

    let events = server
        .get(&format!("/api/runs/{id}/events?limit=3"))
        .await
        .expect(200);
    let at = &events["items"][1]["id"];
    let forked = server
        .post(&format!("/api/runs/{id}/fork"), json!({"at": at}))
        .await
        .expect(201);
    let forked = server
        .get(&format!("/api/runs/{}", text(&forked["runId"])))
        .await
        .expect(200);
    assert_eq!(&forked["forkedFrom"]["eventId"], at);

    // With `?wait=` the answer comes at the end.
    for (act, body) in [("rerun", json!({})), ("fork", json!({ "at": at }))] {
        let path = format!("/api/runs/{id}/{act}?wait=20000");
        let ended = server.post(&path, body.clone()).await.expect(200);
        assert_eq!(ended["status"], "completed", "{act}: {ended}");
        assert_eq!(ended["forkedFrom"]["runId"], id);
        let path = format!("/api/runs/{id}/{act}?Wait=1");
        server.post(&path, body).await.refused(400, "BAD_QUERY");
    }
    server
        .post(&format!("/api/runs/{id}/fork"), json!({}))
        .await
        .refused(409, "FORK_AT_END");
    server
        .post(&format!("/api/runs/{id}/fork"), json!({"at": "x"}))
        .await
        .refused(400, "BAD_REQUEST");
}

#[tokio::test]
async fn a_handler_of_ones_own_waits() {
    let server = Server::new().await;
    let flow = json!({"id": "nap", "version": "1.0.0", "initialStepId": "nap", "steps": {
        "nap": {"type": "wait", "config": {"ms": 30}},
    }});
    server.post("/api/flows", flow).await.expect(201);
    let run = server
        .post("/api/flows/nap/start?wait=10000", json!({}))
        .await;
    let run = run.expect(200);
    assert_eq!(run["status"], "completed", "{run}");
    let waited = run["durationMs"].as_i64().unwrap();
    assert!(waited >= 30, "{waited}");
    let events = format!("/api/runs/{}/events", text(&run["runId"]));
    let events = server.get(&events).await.expect(200);
    let wait = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["type"] == "step.await.time")
        .unwrap();
    assert_eq!(wait["data"]["reason"], "the bank is closed");
}
