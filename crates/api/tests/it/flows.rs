use axum::http::header;
use serde_json::{Value, json};

use crate::harness::{Server, order, text};

#[tokio::test]
async fn a_flow_is_registered_once_and_for_ever() {
    let server = Server::new().await;
    let first = server.post("/api/flows", order()).await.expect(201);
    assert_eq!(
        first,
        json!({"id": "order", "version": "1.0.0", "created": true, "issues": []})
    );
    let again = server.post("/api/flows", order()).await.expect(200);
    assert_eq!(again["created"], false);
    let mut changed = order();
    changed["name"] = json!("Another");
    server
        .post("/api/flows", changed)
        .await
        .refused(409, "FLOW_EXISTS");
}

#[tokio::test]
async fn the_registry_s_stream_tells_what_was_registered() {
    let server = Server::new().await;
    server.order().await;
    let again = server.post("/api/flows", order()).await;
    again.expect(200);
    let events = server.get("/api/events/nq:registry").await.expect(200);
    let events = events["items"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{events:#?}");
    assert_eq!(events[0]["type"], "flow.registered");
    assert_eq!(
        events[0]["data"],
        json!({"id": "order", "version": "1.0.0"})
    );
}

#[tokio::test]
async fn a_run_is_read_and_cancelled_below_its_flow() {
    let server = Server::new().await;
    let other = server.ended_run().await;
    let run = server.waiting_run().await;
    for path in [
        format!("/api/flows/sleeper/runs/{run}"),
        "/api/_flow/sleeper@1.0.0/runs/latest".to_owned(),
    ] {
        let shown = server.get(&path).await.expect(200);
        assert_eq!(shown["runId"], run, "{path}");
    }
    for path in [
        format!("/api/flows/sleeper/runs/{other}"),
        format!("/api/flows/sleeper@2.0.0/runs/{run}"),
        "/api/flows/absent/runs/latest".to_owned(),
    ] {
        server.get(&path).await.refused(404, "RUN_NOT_FOUND");
    }
    let cancel = format!("/api/_flow/order/runs/{run}/cancel");
    server
        .post(&cancel, json!({}))
        .await
        .refused(404, "RUN_NOT_FOUND");
    let cancel = format!("/api/_flow/sleeper/runs/{run}/cancel");
    let cancelled = server.post(&cancel, json!({"reason": "over"})).await;
    assert_eq!(cancelled.expect(200)["status"], "cancelled");
}

#[tokio::test]
async fn yaml_says_the_same() {
    let server = Server::new().await;
    let yaml = "id: written-in-yaml\nversion: 1.0.0\ninitialStepId: a\nsteps:\n  a: {type: note, config: {value: 1}}\n";
    for content_type in [
        "application/yaml",
        "application/x-yaml; charset=utf-8",
        "text/yaml",
    ] {
        let answer = server.post_text("/api/flows", content_type, yaml).await;
        assert!(answer.status.is_success(), "{}", answer.text());
    }
    let refused = server.post_text("/api/flows", "text/yaml", "a: [").await;
    refused.refused(422, "BAD_DEFINITION");
}

#[tokio::test]
async fn every_issue_is_reported_and_nothing_registered() {
    let server = Server::new().await;
    let bad = json!({"id": "bad", "version": "1.0.0", "initialStepId": "gone", "steps": {
        "a": {"type": "nope"},
        "b": {"type": "note", "transitions": {"onSuccess": "gone"}},
    }});
    let refused = server
        .post("/api/flows", bad.clone())
        .await
        .refused(422, "FLOW_INVALID");
    let issues = refused["error"]["details"]["issues"]
        .as_array()
        .unwrap()
        .clone();
    let errors = issues.iter().filter(|issue| issue["severity"] == "error");
    assert!(errors.count() >= 4, "{issues:#?}");
    for issue in &issues {
        assert!(issue["path"].is_string() && issue["rule"].is_string());
    }
    let said = server.post("/api/flows/validate", bad).await.expect(200);
    assert_eq!(
        (said["valid"].clone(), said["issues"].clone()),
        (json!(false), json!(issues))
    );
    server
        .get("/api/flows/bad")
        .await
        .refused(404, "FLOW_NOT_FOUND");
    let good = server
        .post("/api/flows/validate", order())
        .await
        .expect(200);
    assert_eq!(good, json!({"valid": true, "issues": []}));
}

#[tokio::test]
async fn a_retry_policy_leaves_in_one_form() {
    let server = Server::new().await;
    let mut flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "note", "config": {"value": 1}}}});
    flow["steps"]["a"]["retryPolicy"] =
        json!({"attempts": 2, "backoff": {"type": "fixed", "delayMs": 7}});
    server.post("/api/flows", flow.clone()).await.expect(201);
    let read = server.get("/api/flows/f").await.expect(200);
    let shown = read.to_string();
    assert!(!shown.contains("retryPolicy"), "{shown}");
    let retry =
        json!({"maxAttempts": 2, "backoffMs": 7, "backoffMultiplier": 1, "maxBackoffMs": 7});
    assert!(shown.contains(&retry.to_string()), "{shown}");
    // Both forms are the same definition.
    server.post("/api/flows", flow.clone()).await.expect(200);
    let step = flow["steps"]["a"].as_object_mut().unwrap();
    step.shift_remove("retryPolicy");
    step.insert("retry".to_owned(), retry);
    server.post("/api/flows", flow).await.expect(200);
}

#[tokio::test]
async fn versions_are_read_newest_first() {
    let server = Server::new().await;
    for version in ["1.2.0", "1.10.0", "1.9.0"] {
        let mut flow = order();
        flow["version"] = json!(version);
        server.post("/api/flows", flow).await.expect(201);
    }
    let versions = server.get("/api/flows/order/versions").await.expect(200);
    let versions: Vec<&Value> = versions["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| &flow["version"])
        .collect();
    assert_eq!(versions, ["1.10.0", "1.9.0", "1.2.0"]);
    let newest = server.get("/api/flows/order").await.expect(200);
    assert_eq!(newest["version"], "1.10.0");
    assert_eq!(newest["definition"]["name"], "An order");
    for path in [
        "/api/flows/order@1.2.0",
        "/api/flow/order?version=1.2.0",
        "/api/_flow/order%401.2.0",
    ] {
        assert_eq!(
            server.get(path).await.expect(200)["version"],
            "1.2.0",
            "{path}"
        );
    }
    server
        .get("/api/flows/order@9.9.9")
        .await
        .refused(404, "FLOW_NOT_FOUND");
    server
        .get("/api/flows/gone/versions")
        .await
        .refused(404, "FLOW_NOT_FOUND");
    let listed = server.get("/api/flows").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["steps"], 3);
}

#[tokio::test]
async fn a_flow_is_drawn() {
    let server = Server::new().await;
    server.order().await;
    let diagram = server.get("/api/flows/order/diagram").await.expect(200);
    assert_eq!(
        diagram["edges"][0],
        json!({"from": "price", "to": "pay", "label": "then", "type": "then"})
    );
    let mermaid = server.get("/api/flows/order/diagram?format=mermaid").await;
    assert!(
        mermaid.text().starts_with("flowchart TD\n"),
        "{}",
        mermaid.text()
    );
    let drawing = server.get("/api/flows/order/diagram?format=text").await;
    assert!(
        drawing.text().contains("\n▶ price  note\n"),
        "{}",
        drawing.text()
    );
    let refused = server.get("/api/flows/order/diagram?format=svg").await;
    refused.refused(400, "BAD_QUERY");
}

#[tokio::test]
async fn a_flow_of_events_is_drawn_and_warned_of() {
    let server = Server::new().await;
    let step = |process: &str| json!({"type": "process", "config": {"process": process}});
    let with = |mut step: Value, more: Value| {
        let more = more.as_object().unwrap().clone();
        step.as_object_mut().unwrap().extend(more);
        step
    };
    let shop = json!({"id": "shop", "version": "1.0.0", "initialStepId": "create-order", "steps": {
        "create-order": with(step("create"), json!({"emits": ["order.created"]})),
        "wait-for-payment": with(step("wait"), json!({
            "subscriptions": [{"eventKind": "order.created"}, {"eventKind": "order.reopened"}],
            "await": {"type": "event", "eventKind": "payment.confirmed", "timeout": "24h", "onTimeout": "cancel-order"},
            "emits": ["order.paid"]})),
        "fulfill-order": with(step("fulfill"), json!({"subscriptions": [{"eventKind": "order.paid"}], "emits": ["order.fulfilled"]})),
        "cancel-order": step("cancel"),
    }});
    let registered = server.post("/api/flows", shop).await.expect(201);
    // No process of this server is known: each step has a warning of its own.
    let issues: Vec<(&str, &str, &str)> = registered["issues"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|issue| issue["rule"] != "process-unknown")
        .map(|issue| {
            let text = |key: &str| issue[key].as_str().unwrap();
            (text("path"), text("rule"), text("severity"))
        })
        .collect();
    assert_eq!(
        issues,
        [
            (
                "steps.wait-for-payment.subscriptions.1",
                "subscription-unemitted",
                "warning"
            ),
            ("steps.fulfill-order.emits.0", "emit-unheard", "warning"),
        ]
    );
    let diagram = server.get("/api/flows/shop/diagram").await.expect(200);
    assert_eq!(
        diagram["nodes"][1]["await"],
        json!({"type": "event", "eventKind": "payment.confirmed", "timeout": 86_400_000})
    );
    assert_eq!(
        diagram["edges"][0],
        json!({"from": "create-order", "to": "wait-for-payment", "label": "order.created", "type": "emit"})
    );
    let drawing = server.get("/api/flows/shop/diagram?format=text").await;
    assert!(
        drawing
            .text()
            .contains("wait-for-payment  process ⏱ event payment.confirmed, timeout 24h"),
        "{}",
        drawing.text()
    );
}

#[tokio::test]
async fn handlers_and_schemas_are_shown() {
    let server = Server::new().await;
    let handlers = server.get("/api/handlers").await.expect(200);
    assert_eq!(handlers["items"].as_array().unwrap().len(), 7);
    let note = server.get("/api/handlers/note").await.expect(200);
    assert_eq!(
        (&note["type"], &note["effects"]),
        (&json!("note"), &json!("none"))
    );
    assert_eq!(note["schema"]["required"], json!(["value"]));
    server
        .get("/api/handlers/gone")
        .await
        .refused(404, "HANDLER_NOT_FOUND");
    let schema = server.get("/api/schemas/flow").await.expect(200);
    assert!(schema["properties"]["steps"].is_object());
}

#[tokio::test]
async fn a_run_is_started_in_every_way() {
    let server = Server::new().await;
    server.order().await;
    let path = "/api/flows/order/start";
    let started = server
        .post_text(path, "application/json", "")
        .await
        .expect(201);
    assert_eq!(started["created"], true);
    let answer = server
        .send(
            axum::http::Request::post(path)
                .body(axum::body::Body::empty())
                .unwrap(),
        )
        .await;
    assert_eq!(answer.status, 201);
    assert!(answer.headers.contains_key("x-request-id"));
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json");

    let body = json!({
        "input": {"n": 7, "big": 1}, "tags": ["a", "b"], "metadata": {"who": "me"}, "tenantId": "t1",
        "version": "1.0.0", "runId": "my-run", "idempotencyKey": "k1", "delayMs": 0,
    });
    let run = server
        .post(&format!("{path}?wait=10000"), body.clone())
        .await
        .expect(200);
    assert_eq!(run["status"], "completed", "{run:#}");
    assert_eq!(
        (&run["runId"], &run["tenantId"]),
        (&json!("my-run"), &json!("t1"))
    );
    assert_eq!(run["tags"], json!(["a", "b"]));
    assert_eq!(run["state"]["price"], 12);
    assert_eq!(run["state"]["paid"]["n"], 7);

    let again = server
        .post(path, json!({"idempotencyKey": "k1", "tenantId": "t1"}))
        .await
        .expect(200);
    assert_eq!(
        again,
        json!({"runId": "my-run", "status": "completed", "created": false})
    );
    server
        .post(path, json!({"runId": "my-run"}))
        .await
        .refused(409, "RUN_EXISTS");
}

#[tokio::test]
async fn the_header_is_an_idempotency_key_too() {
    let server = Server::new().await;
    server.order().await;
    let start = |body: &'static str| {
        let request = axum::http::Request::post("/api/flows/order/start")
            .header("idempotency-key", "abc")
            .header("content-type", "application/json");
        server.send(request.body(axum::body::Body::from(body)).unwrap())
    };
    let first = start("{}").await.expect(201);
    let second = start("").await.expect(200);
    assert_eq!(first["runId"], second["runId"]);
    start(r#"{"idempotencyKey":"other"}"#)
        .await
        .refused(422, "UNPROCESSABLE");
}

#[tokio::test]
async fn large_numbers_pass_unrounded() {
    let server = Server::new().await;
    server.order().await;
    let body =
        r#"{"input": {"id": 123456789012345678901234567890, "pi": 3.14159265358979323846264338}}"#;
    let answer = server
        .post_text(
            "/api/flows/order/start?wait=10000",
            "application/json",
            body,
        )
        .await;
    let text = answer.text();
    assert!(text.contains("123456789012345678901234567890"), "{text}");
    assert!(text.contains("3.14159265358979323846264338"), "{text}");
}

#[tokio::test]
async fn a_wait_that_is_over_answers_with_the_run_as_it_is() {
    let server = Server::new().await;
    let run = server.waiting_run().await;
    let answer = server
        .post("/api/flows/sleeper/start?wait=50", json!({}))
        .await
        .expect(202);
    assert_ne!(text(&answer["runId"]), run);
    assert_eq!(answer["status"], "waiting");
}

#[tokio::test]
async fn an_event_that_a_trigger_takes_is_not_counted_as_unheard() {
    let server = Server::new().await;
    server.order().await;
    let flow = json!({"id": "shop", "version": "1.0.0", "initialStepId": "a.b", "steps": {
        "a.b": {"type": "wait", "config": {"ms": 1}, "emits": ["lost", "order.paid"]},
    }});
    let unheard = async || {
        let checked = server.post("/api/flows/validate", flow.clone()).await;
        let checked = checked.expect(200);
        let issues = checked["issues"].as_array().unwrap().iter();
        issues.map(|it| text(&it["path"])).collect::<Vec<_>>()
    };
    let all = ["steps.a.b.emits.0", "steps.a.b.emits.1"];
    assert_eq!(unheard().await, all);
    let trigger =
        json!({"id": "paid", "type": "event", "flow": "order", "config": {"kind": "order.paid"}});
    server.post("/api/triggers", trigger).await.expect(201);
    assert_eq!(unheard().await, all[..1]);
    let registered = server.post("/api/flows", flow.clone()).await.expect(201);
    assert_eq!(registered["issues"].as_array().unwrap().len(), 1);
    server
        .post("/api/triggers/paid/disable", json!({}))
        .await
        .expect(200);
    assert_eq!(unheard().await, all);
}

/// A megabyte that would take the server a while: it is refused at the limit of steps.
#[tokio::test]
async fn a_definition_with_too_many_steps_is_not_read_to_its_end() {
    let server = Server::new().await;
    let steps: serde_json::Map<String, Value> = (0..20_000)
        .map(|n| {
            (
                format!("s{n}"),
                json!({"type": "set", "config": {"value": n}}),
            )
        })
        .collect();
    let flow = json!({"id": "long", "version": "1", "initialStepId": "s0", "steps": steps});
    let answer = server.post("/api/flows/validate", flow.clone()).await;
    let answer = answer.expect(200);
    assert_eq!(answer["valid"], false);
    assert_eq!(answer["issues"].as_array().unwrap().len(), 1);
    assert_eq!(answer["issues"][0]["rule"], "maxProperties");
    let refused = server.post("/api/flows", flow).await;
    let refused = refused.refused(422, "FLOW_INVALID");
    let message = text(&refused["error"]["details"]["issues"][0]["message"]);
    assert!(message.contains("limits.flow_steps"), "{message}");
}
