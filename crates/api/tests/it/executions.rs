use serde_json::{Value, json};

use crate::{
    harness::{Server, text, until},
    queues,
};

/// A flow of one step that the process `mail` runs: its type is the process's name.
async fn start_mail(server: &Server, input: &str, query: &str) -> Value {
    let flow = json!({"id": "mail", "version": "1.0.0", "initialStepId": "send", "steps": {
        "send": {"type": "mail", "config": {"template": "welcome"},
            "input": {"type": "static", "value": input},
            "retry": {"maxAttempts": 3, "backoffMs": 600_000, "maxBackoffMs": 600_000}},
    }});
    let registered = server.post("/api/flows", flow).await.expect(201);
    assert_eq!(registered["issues"], json!([]));
    let path = format!("/api/flows/mail/start{query}");
    let status = if query.is_empty() { 201 } else { 200 };
    server.post(&path, json!({})).await.expect(status)
}

#[tokio::test]
async fn a_step_whose_type_is_a_process_is_given_its_config() {
    let server = queues::server(Value::Null).await;
    let run = start_mail(&server, "config", "?wait=5000").await;
    assert_eq!(run["result"], json!({"template": "welcome"}));
    let execution = server.get("/api/executions/latest").await.expect(200);
    assert_eq!(execution.get("history"), None);
    let execution = server.get("/api/executions/latest?history=true").await;
    let history = execution.expect(200)["history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 1);
    assert_eq!(history[0]["stepId"], "send");
    assert_eq!(history[0]["handlerType"], "mail");
    assert_eq!(history[0]["outcome"], "success");
    assert!(history[0]["startedAt"].is_i64() && history[0]["durationMs"].is_i64());
    let jobs = server.get("/api/executions/latest/jobs").await.expect(200);
    assert_eq!(jobs["items"][1]["stepId"], "send");
    assert_eq!(jobs["items"][1]["process"], "mail");
    assert_eq!(jobs["items"][1]["status"], "completed");
}

#[tokio::test]
async fn a_process_step_in_backoff_says_when_it_is_tried_again() {
    let server = queues::server(Value::Null).await;
    let run = text(&start_mail(&server, "busy", "").await["runId"]);
    let path = format!("/api/executions/{run}");
    let (server, path) = (&server, path.as_str());
    let execution = until(|| async move {
        let execution = server.get(path).await.expect(200);
        (execution["status"] == "waiting").then_some(execution)
    })
    .await;
    let (wake_at, since) = (
        execution["wakeAt"].as_i64(),
        execution["createdAt"].as_i64(),
    );
    assert!(wake_at.unwrap() > since.unwrap() + 500_000, "{execution}");
    let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert!(shown["wakeAt"].is_string(), "{shown}");
    let jobs = server.get(&format!("{path}/jobs")).await.expect(200);
    let job = &jobs["items"][1];
    assert_eq!(job["status"], "waiting");
    assert_eq!(job["attempt"], 1);
    assert!(job["dueAt"].is_string(), "{job}");
}

#[tokio::test]
async fn a_run_on_a_process_that_is_not_there_says_so() {
    let server = Server::new().await;
    let flow = json!({"id": "lonely", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "process", "config": {"process": "absent"}},
    }});
    let registered = server.post("/api/flows", flow).await.expect(201);
    assert_eq!(registered["issues"][0]["rule"], "process-unknown");
    assert_eq!(registered["issues"][0]["path"], "steps.a.config.process");
    assert_eq!(registered["issues"][0]["severity"], "warning");
    let run = server.post("/api/flows/lonely/start", json!({})).await;
    let run = text(&run.expect(201)["runId"]);
    let execution = server.get(&format!("/api/executions/{run}")).await;
    let reason = text(&execution.expect(200)["waitReason"]);
    assert!(reason.contains("process absent"), "{reason}");
}

#[tokio::test]
async fn a_run_has_flowmonkeys_shape() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let execution = server
        .get(&format!("/api/executions/{id}"))
        .await
        .expect(200);
    assert_eq!(execution["id"], id);
    assert_eq!(execution["flowId"], "sleeper");
    assert_eq!(execution["flowVersion"], "1.0.0");
    assert_eq!(execution["currentStepId"], "sleep");
    assert_eq!(execution["status"], "waiting");
    assert_eq!(execution["waitReason"], "the bank is closed");
    assert!(execution["wakeAt"].as_i64().unwrap() > execution["createdAt"].as_i64().unwrap());
    assert_eq!(execution["context"], json!({}));
    server
        .post(&format!("/api/runs/{id}/cancel"), json!({"reason": "x"}))
        .await
        .expect(200);
    let execution = server
        .get(&format!("/api/executions/{id}"))
        .await
        .expect(200);
    assert_eq!(execution["cancellation"]["source"], "user");
    assert!(execution["cancellation"]["cancelledAt"].is_i64());
    assert!(execution.get("wakeAt").is_none());
}

#[tokio::test]
async fn a_failure_says_where_and_when() {
    let server = Server::new().await;
    let flow = json!({"id": "broken", "version": "1.0.0", "initialStepId": "pay", "steps": {
        "pay": {"type": "fail"}}});
    server.post("/api/flows", flow).await.expect(201);
    let run = server
        .post("/api/flows/broken/start?wait=5000", json!({}))
        .await
        .expect(200);
    assert_eq!(run["status"], "failed");
    let execution = server.get("/api/executions/latest").await.expect(200);
    assert_eq!(execution["error"]["code"], "CARD_DECLINED");
    assert_eq!(execution["error"]["stepId"], "pay");
    assert!(execution["error"]["timestamp"].is_i64());
    let listed = server
        .get("/api/executions?status=failed")
        .await
        .expect(200);
    assert_eq!(listed["items"][0], execution);
    let id = execution["id"].as_str().unwrap();
    let events = server
        .get(&format!("/api/executions/{id}/events"))
        .await
        .expect(200);
    assert_eq!(events["items"][0]["type"], "flow.started");
    let jobs = server
        .get(&format!("/api/executions/{id}/jobs"))
        .await
        .expect(200);
    assert_eq!(jobs["items"][0]["runId"], id);
}
