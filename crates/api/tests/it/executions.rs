use serde_json::json;

use crate::harness::Server;

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
