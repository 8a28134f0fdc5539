//! Callbacks over HTTP: resumed once, signed, late, unknown, by a person.

use std::sync::Arc;

use async_trait::async_trait;
use axum::{body::Body, http::Request};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Json, RunId};
use serde_json::{Value, json};

use crate::harness::{Answer, Server, text};

/// Creates the callback that its input describes, and waits for it.
struct Asks;

#[async_trait]
impl Provider for Asks {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let answered = call.invoke.job.journal.iter().find(|e| e.op == "await");
        if let Some(entry) = answered {
            let value = json!({"value": entry.value, "error": entry.error});
            return Ok(Reply {
                value: Some(Json::of(&value)),
                ..Reply::default()
            });
        }
        let callback = call.invoke.job.input.clone().unwrap_or_default();
        let callback = call.host.ask("await.trigger", callback).await?.value();
        let wait = json!({"type": "trigger", "triggerId": callback["id"]});
        Ok(Reply {
            suspended: serde_json::from_value(wait).ok(),
            ..Reply::default()
        })
    }
}

async fn server() -> Server {
    asking(Server::new().await).await
}

/// One whose flow `ask` waits for the callback that its input describes.
async fn asking(server: Server) -> Server {
    server.runtime.queues().put_process(Process {
        id: "ask".into(),
        config: ProcessConfig::read(&Json::null(), "ask").ok().unwrap(),
        provider: Arc::new(Asks),
        source: Source::default(),
    });
    let flow = json!({"id": "ask", "version": "1.0.0", "initialStepId": "ask", "steps": {
        "ask": {"type": "process", "config": {"process": "ask"}},
    }});
    server.post("/api/flows", flow).await.expect(201);
    server
}

/// Starts a run, and waits until it waits: its id and that of its callback.
async fn ask(server: &Server, callback: Value) -> (String, String) {
    let started = server
        .post("/api/flows/ask/start", json!({ "input": callback }))
        .await
        .expect(201);
    let run = text(&started["runId"]);
    for _ in 0..2_000 {
        let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
        if shown["status"] == "waiting" {
            let awaits = server
                .runtime
                .base()
                .store()
                .awaits_of(&RunId::new(&run))
                .await;
            return (run, awaits.unwrap()[0].id.to_string());
        }
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    panic!("run {run} does not wait");
}

async fn result(server: &Server, run: &str) -> Value {
    ended(server, run).await["result"]["value"].clone()
}

async fn ended(server: &Server, run: &str) -> Value {
    let wait = std::time::Duration::from_secs(20);
    let ended = server.runtime.runs().wait(&RunId::new(run), wait).await;
    assert!(ended.unwrap().loaded.state.status.is_ended());
    server.get(&format!("/api/runs/{run}")).await.expect(200)
}

#[tokio::test]
async fn a_callback_is_resumed_once_and_its_body_is_payload_alone() {
    let server = server().await;
    let (run, id) = ask(&server, json!({"type": "webhook"})).await;
    let body = json!({"runId": "other", "triggerId": "x", "ok": true});
    let path = format!("/api/triggers/{id}");
    let opened = server.post(&path, body.clone()).await.expect(200);
    assert_eq!(
        opened,
        json!({"success": true, "triggerId": id, "runId": run})
    );
    assert_eq!(result(&server, &run).await, body);
    server
        .post(&path, json!(1))
        .await
        .refused(409, "AWAIT_USED");
    server
        .post("/api/_flows/triggers/0123", json!(1))
        .await
        .refused(404, "AWAIT_NOT_FOUND");
}

#[tokio::test]
async fn a_callback_is_recorded_with_its_url_and_who_resumed_it() {
    let server = asking(Server::at("https://flows.example").await).await;
    for (kind, page, source) in [
        ("webhook", "api/triggers", "webhook"),
        ("api", "api/triggers", "api"),
        ("user", "approve", "api"),
    ] {
        let (_, id) = ask(&server, json!({ "type": kind })).await;
        let path = format!("/api/triggers/{id}");
        server.post(&path, json!(1)).await.expect(200);
        let events = events_of(&server, &id).await;
        let url = format!("https://flows.example/{page}/{id}");
        assert_eq!(events[0]["data"]["url"], json!(url));
        assert_eq!(events[1]["data"]["source"], source, "{kind}");
    }
}

#[tokio::test]
async fn the_address_of_a_trigger_fires_it() {
    let server = server().await;
    let manual = json!({"id": "by-hand", "type": "manual", "flow": "ask"});
    server.post("/api/triggers", manual).await.expect(201);
    let path = "/api/triggers/by-hand";
    let body = json!({"input": {"type": "user"}, "idempotencyKey": "k"});
    let started = server.post(path, body.clone()).await.expect(201);
    let run = text(&started["runId"]);
    let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(shown["metadata"]["trigger"]["id"], "by-hand");
    let again = server.post(path, body).await.expect(200);
    assert_eq!(again["created"], false);
    server
        .post_text(path, "application/json", "")
        .await
        .expect(201);
    let unknown = server.post(path, json!({"colour": "red"})).await;
    unknown.refused(422, "UNPROCESSABLE");
    server
        .post("/api/triggers/absent", json!({}))
        .await
        .refused(404, "AWAIT_NOT_FOUND");
}

#[tokio::test]
async fn what_is_no_json_is_text_unless_it_says_so() {
    let server = server().await;
    let (run, id) = ask(&server, json!({"type": "webhook"})).await;
    let path = format!("/api/triggers/{id}");
    server
        .post_text(&path, "application/json", "{broken")
        .await
        .refused(400, "BAD_JSON");
    server
        .post_text(&path, "text/plain", "a=b")
        .await
        .expect(200);
    assert_eq!(result(&server, &run).await, json!("a=b"));
    // A form is an object, as a trigger of the type http has it; what only claims to be one is not.
    for (body, given) in [
        ("a=1&b=x%20y", json!({"a": "1", "b": "x y"})),
        ("{\"yes\":\"a=b\"}", json!({"yes": "a=b"})),
        ("word", json!("word")),
    ] {
        let (run, id) = ask(&server, json!({"type": "webhook"})).await;
        let path = format!("/api/triggers/{id}");
        let form = "application/x-www-form-urlencoded";
        server.post_text(&path, form, body).await.expect(200);
        assert_eq!(result(&server, &run).await, given);
    }
}

#[tokio::test]
async fn a_signed_callback_accepts_only_signed_requests() {
    let server = server().await;
    let (run, id) = ask(
        &server,
        json!({"type": "webhook", "secret": "s3cret-s3cret"}),
    )
    .await;
    let path = format!("/api/triggers/{id}");
    server
        .post(&path, json!({}))
        .await
        .refused(401, "SIGNATURE_INVALID");
    let send = async |signature: &str| {
        let request = Request::post(&path)
            .header("content-type", "application/json")
            .header("x-riverrun-signature", signature);
        server
            .send(request.body(Body::from(r#"{"n":1}"#)).unwrap())
            .await
    };
    send("00ff").await.refused(401, "SIGNATURE_INVALID");
    // printf '{"n":1}' | openssl dgst -sha256 -hmac s3cret-s3cret
    send("sha256=8c6a0e42575cf2aaa7a8cec519af6e8afaa19171731eb65e881a6da207d468c3")
        .await
        .expect(200);
    assert_eq!(result(&server, &run).await, json!({"n": 1}));
}

#[tokio::test]
async fn a_callback_closes_when_its_time_is_over_or_its_run_is_cancelled() {
    let server = server().await;
    let (run, id) = ask(&server, json!({"type": "api", "timeoutMs": 30})).await;
    let shown = ended(&server, &run).await;
    assert_eq!(shown["result"]["error"]["code"], "AWAIT_TIMEOUT");
    server
        .post(&format!("/api/triggers/{id}"), json!({}))
        .await
        .refused(410, "AWAIT_EXPIRED");
    let events = self::events_of(&server, &id).await;
    assert_eq!(events[1]["type"], "trigger.timeout");
    assert!(
        events[1]["data"]["duration"].as_u64().is_some(),
        "{events:?}"
    );
    let (run, id) = ask(&server, json!({"type": "api"})).await;
    server
        .post(
            &format!("/api/runs/{run}/cancel"),
            json!({"reason": "no longer wanted"}),
        )
        .await
        .expect(200);
    server
        .post(&format!("/api/triggers/{id}"), json!({}))
        .await
        .refused(410, "AWAIT_CLOSED");
    let events = self::events_of(&server, &id).await;
    let kinds: Vec<_> = events.iter().map(|e| text(&e["type"])).collect();
    assert_eq!(kinds, ["trigger.registered", "trigger.cancelled"]);
    assert_eq!(events[1]["data"], json!({"reason": "no longer wanted"}));
}

/// The stream of a callback.
async fn events_of(server: &Server, id: &str) -> Vec<Value> {
    let stream = server.get(&format!("/api/events/nq:trigger:{id}")).await;
    stream.expect(200)["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_person_answers_on_a_page() {
    let server = server().await;
    let asked = json!({"type": "user", "payload": {"what": "<b>refund</b>"}});
    let (run, id) = ask(&server, asked).await;
    let path = format!("/approve/{id}");
    let page = server.get(&path).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("&lt;b&gt;refund&lt;/b&gt;") && page.text().contains("Approve"));
    assert!(
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("default-src 'none'")
    );
    // No other site gets the id, and the browser says to this one where an answer comes from.
    assert_eq!(page.headers["referrer-policy"], "same-origin");
    let form = "answer=approve&comment=fine";
    let answered = server
        .post_text(&path, "application/x-www-form-urlencoded", form)
        .await;
    assert!(
        answered.text().contains("has been approved"),
        "{}",
        answered.text()
    );
    assert_eq!(
        result(&server, &run).await,
        json!({"approved": true, "comment": "fine"})
    );
    let again = answer(&server, &id, "reject").await;
    assert_eq!(again.status, 409);
    assert!(again.text().contains("answered before"), "{}", again.text());
    let seen = server.get(&path).await;
    assert_eq!(seen.status, 200);
    assert!(seen.text().contains("has been approved"), "{}", seen.text());
    let (_, id) = ask(&server, json!({"type": "user"})).await;
    let rejected = answer(&server, &id, "reject").await.text();
    assert!(rejected.contains("has been rejected"), "{rejected}");
    let seen = server.get(&format!("/approve/{id}")).await.text();
    assert!(seen.contains("has been rejected"), "{seen}");
    // A callback for programs shows no buttons.
    let (_, id) = ask(&server, json!({"type": "webhook"})).await;
    assert_eq!(server.get(&format!("/approve/{id}")).await.status, 403);
    assert_eq!(server.get("/approve/nowhere").await.status, 404);
}

#[tokio::test]
async fn a_large_body_resumes_no_callback() {
    let server = server().await;
    let (run, id) = ask(
        &server,
        json!({"type": "webhook", "secret": "s3cret-s3cret"}),
    )
    .await;
    let path = format!("/api/triggers/{id}");
    let large = json!({"data": "x".repeat(10 << 20)});
    // Before anybody computes its signature.
    server.post(&path, large).await.refused(413, "TOO_LARGE");
    let (_, callback) = ask(&server, json!({"type": "api"})).await;
    let path = format!("/api/flows/triggers/{callback}");
    let most = (1 << 20) - 2;
    let over = json!("x".repeat(most + 1));
    server.post(&path, over).await.refused(413, "TOO_LARGE");
    // Text that is no JSON is kept as JSON, in which it is longer.
    let quotes = "\"".repeat(600 << 10);
    let text = server.post_text(&path, "text/plain", quotes).await;
    text.refused(413, "TOO_LARGE");
    server
        .post(&path, json!("x".repeat(most)))
        .await
        .expect(200);
    let (_, id) = ask(&server, json!({"type": "user"})).await;
    let answered = answer(
        &server,
        &id,
        &format!("approve&comment={}", "x".repeat(2 << 20)),
    )
    .await;
    assert_eq!(answered.status, 413);
    let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(shown["status"], "waiting");
}

async fn answer(server: &Server, id: &str, answer: &str) -> Answer {
    let form = format!("answer={answer}");
    let path = format!("/approve/{id}");
    server
        .post_text(&path, "application/x-www-form-urlencoded", form)
        .await
}

#[tokio::test]
async fn an_answer_is_approve_or_reject() {
    let server = server().await;
    let (run, id) = ask(&server, json!({"type": "user"})).await;
    for nonsense in ["perhaps", "", "Approve", "approve&answer=reject"] {
        let refused = answer(&server, &id, nonsense).await;
        assert_eq!(refused.status, 400, "{nonsense}");
        assert!(refused.text().contains("approve or reject"));
    }
    let path = format!("/approve/{id}");
    let none = server.post_text(&path, "text/plain", "yes").await;
    assert_eq!(none.status, 400);
    // Nothing was decided by that.
    assert_eq!(answer(&server, &id, "reject").await.status, 200);
    let decided = json!({"approved": false, "comment": ""});
    assert_eq!(result(&server, &run).await, decided);
}

#[tokio::test]
async fn a_person_whose_answer_is_refused_is_shown_a_page() {
    let server = server().await;
    let (_, id) = ask(&server, json!({"type": "user"})).await;
    let request = Request::post(format!("/approve/{id}"))
        .header("host", "localhost:4600")
        .header("origin", "https://evil.example");
    let refused = server
        .send(request.body(Body::from("answer=approve")).unwrap())
        .await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.headers["content-type"], "text/html; charset=utf-8");
    assert!(refused.text().contains("may not answer"));
    // Nothing was decided by that.
    assert_eq!(answer(&server, &id, "reject").await.status, 200);
}

#[tokio::test]
async fn a_late_visitor_of_the_page_sees_the_reason() {
    let server = server().await;
    let check = async |id: &str, status: u16, says: &str| {
        let shown = server.get(&format!("/approve/{id}")).await;
        let answered = answer(&server, id, "approve").await;
        for page in [shown, answered] {
            assert_eq!(page.status, status, "{}", page.text());
            assert!(page.text().contains(says), "{}", page.text());
        }
    };
    let (run, id) = ask(&server, json!({"type": "user", "timeoutMs": 30})).await;
    ended(&server, &run).await;
    check(&id, 410, "The time for this is over").await;
    let (run, id) = ask(&server, json!({"type": "user"})).await;
    let cancel = format!("/api/runs/{run}/cancel");
    server.post(&cancel, json!({})).await.expect(200);
    check(&id, 410, "not asked any more").await;
    check("nowhere", 404, "nothing to decide").await;
}
