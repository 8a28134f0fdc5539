//! Triggers over HTTP: made, changed, fired; and the requests that fire them.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::harness::{Answer, Server, text};

fn hook(more: Value) -> Value {
    let mut trigger = json!({
        "id": "orders", "type": "http", "flow": "order",
        "config": {"path": "/orders/:id", "contextKey": "order"},
    });
    for (key, value) in more.as_object().unwrap() {
        trigger[key] = value.clone();
    }
    trigger
}

async fn patch(server: &Server, path: &str, body: Value) -> Answer {
    let request = Request::patch(path).header("content-type", "application/json");
    server
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

/// What changes from run to run is replaced, so that the rest can be compared.
fn steady(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let changes = key.ends_with("At") || key.ends_with("Id") || key == "upcoming";
                    match changes && !value.is_null() && key != "requestId" {
                        true => *value = json!("…"),
                        false => walk(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

#[tokio::test]
async fn a_trigger_lives_from_its_making_to_its_end() {
    let server = Server::new().await;
    server.order().await;
    let made = server
        .post("/api/triggers", hook(json!({"tags": ["web"]})))
        .await
        .expect(201);
    insta::assert_json_snapshot!("made", steady(made));
    server
        .post("/api/triggers", hook(json!({})))
        .await
        .refused(409, "TRIGGER_EXISTS");
    let changed = patch(
        &server,
        "/api/triggers/orders",
        json!({"description": "x", "version": 1}),
    )
    .await
    .expect(200);
    assert_eq!(
        (&changed["version"], &changed["description"]),
        (&json!(2), &json!("x"))
    );
    patch(
        &server,
        "/api/triggers/orders",
        json!({"description": "y", "version": 1}),
    )
    .await
    .refused(409, "TRIGGER_MOVED");
    let fired = server
        .post(
            "/api/triggers/orders/fire",
            json!({"input": {"n": 1}, "source": "me"}),
        )
        .await;
    let run = text(&fired.expect(201)["runId"]);
    let run = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(run["metadata"]["trigger"]["source"], "me");
    assert!(run["metadata"]["trigger"]["requestId"].is_string());
    let waited = "/api/triggers/orders/fire?wait=20000";
    let waited = server.post(waited, json!({"input": {"n": 1}})).await;
    assert!(waited.expect(200)["status"].is_string());
    server
        .post("/api/triggers/orders/disable", json!({}))
        .await
        .expect(200);
    server
        .post("/api/triggers/orders/fire", json!({}))
        .await
        .refused(409, "TRIGGER_DISABLED");
    server
        .post("/hooks/orders/1", json!({}))
        .await
        .refused(409, "TRIGGER_DISABLED");
    let enabled = server
        .post("/api/triggers/orders/enable", json!({}))
        .await
        .expect(200);
    assert_eq!(enabled["enabled"], true);
    let stats = server.get("/api/triggers/orders/stats").await.expect(200);
    assert_eq!((&stats["fired"], &stats["failed"]), (&json!(2), &json!(0)));
    let removed = server.delete("/api/triggers/orders").await.expect(200);
    assert_eq!(removed, json!({"id": "orders", "removed": true}));
    server
        .get("/api/triggers/orders")
        .await
        .refused(404, "TRIGGER_NOT_FOUND");
    server
        .delete("/api/triggers/orders")
        .await
        .refused(404, "TRIGGER_NOT_FOUND");
    let history = server.get("/api/triggers/orders/history").await.expect(200);
    let kinds: Vec<&str> = history["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "trigger.cancelled",
            "trigger.registered",
            "trigger.registered",
            "trigger.fired",
            "trigger.fired",
            "trigger.registered",
            "trigger.registered",
        ]
    );
    // It is a stream like any other.
    let stream = server
        .get("/api/events/nq:trigger:orders")
        .await
        .expect(200);
    assert!(stream.to_string().contains("trigger.fired"));
}

#[tokio::test]
async fn a_request_starts_a_run() {
    let server = Server::new().await;
    server.order().await;
    server
        .post("/api/triggers", hook(json!({})))
        .await
        .expect(201);
    let started = server
        .post("/hooks/orders/7?x=1", json!({"n": 1}))
        .await
        .expect(201);
    assert_eq!(started["created"], true);
    let run = text(&started["runId"]);
    let run = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(run["input"], json!({"order": {"n": 1}}));
    let origin = &run["metadata"]["trigger"];
    assert_eq!(origin["source"], "POST /hooks/orders/:id");
    // The id of the request is the one that it is answered with.
    let given = Request::post("/hooks/orders/7").header("x-request-id", "mine");
    let answer = server.send(given.body(Body::from("{}")).unwrap()).await;
    let run = text(&answer.expect(201)["runId"]);
    let run = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(run["metadata"]["trigger"]["requestId"], "mine");
}

#[tokio::test]
async fn a_request_may_wait_for_the_result() {
    let server = Server::new().await;
    server.order().await;
    for (flow, config) in [
        ("boom", json!({"type": "fail"})),
        (
            "sleeper",
            json!({"type": "wait", "config": {"ms": 3_600_000}}),
        ),
    ] {
        let flow =
            json!({"id": flow, "version": "1.0.0", "initialStepId": "a", "steps": {"a": config}});
        server.post("/api/flows", flow).await.expect(201);
    }
    for (id, timeout) in [("order", 20_000), ("boom", 20_000), ("sleeper", 50)] {
        let trigger = json!({"id": id, "type": "http", "flow": id, "inputMap": "({})", "config": {
            "path": format!("/{id}"), "method": "PUT", "respond": "result", "timeoutMs": timeout}});
        server.post("/api/triggers", trigger).await.expect(201);
    }
    let put = async |path: &str| {
        server
            .send(Request::put(path).body(Body::empty()).unwrap())
            .await
    };
    let run = put("/hooks/order").await.expect(200);
    assert_eq!(
        (&run["status"], &run["state"]["done"]),
        (&json!("completed"), &json!(true))
    );
    let failed = put("/hooks/boom").await.refused(500, "TRIGGER_RUN_FAILED");
    assert_eq!(failed["error"]["details"]["error"]["code"], "CARD_DECLINED");
    let waiting = put("/hooks/sleeper").await.expect(202);
    assert_eq!(
        (&waiting["status"], &waiting["created"]),
        (&json!("waiting"), &json!(true))
    );
}

#[tokio::test]
async fn what_is_refused_says_why() {
    let server = Server::new().await;
    server.order().await;
    let schema = json!({"type": "object", "required": ["n"]});
    let config = json!({"path": "/orders", "bodySchema": schema, "maxBodyBytes": 64,
        "signature": {"header": "x-sign", "secret": "a-long-secret", "prefix": "v1="}});
    let signed = hook(json!({"id": "signed", "config": config}));
    server.post("/api/triggers", signed).await.expect(201);
    let plain = json!({"path": "/plain", "bodySchema": schema, "maxBodyBytes": 64});
    server
        .post(
            "/api/triggers",
            hook(json!({"id": "plain", "config": plain})),
        )
        .await
        .expect(201);
    let mut shown = String::new();
    let mut tell = |what: &str, answer: Answer| {
        let status = answer.status.as_u16();
        let error = answer.json()["error"].clone();
        shown += &format!("{what}: {status} {} {}\n", error["code"], error["message"]);
        if let Some(details) = error.get("details") {
            shown += &format!("    {details}\n");
        }
    };
    let make = async |trigger: Value| server.post("/api/triggers", trigger).await;
    let schedule =
        |config: Value| json!({"id": "s", "type": "schedule", "flow": "order", "config": config});
    tell("no flow", make(hook(json!({"flow": "absent"}))).await);
    tell("unknown field", make(hook(json!({"colour": 1}))).await);
    tell("no type", make(json!({"id": "x", "flow": "order"})).await);
    tell(
        "bad cron",
        make(schedule(json!({"cron": "61 * * * *"}))).await,
    );
    tell(
        "bad day",
        make(schedule(json!({"cron": "0 0 3 * 1-13 *"}))).await,
    );
    tell(
        "over",
        make(schedule(
            json!({"every": "1h", "endAt": "2020-01-31T12:00:00Z"}),
        ))
        .await,
    );
    tell(
        "bad zone",
        make(schedule(json!({"cron": "* * * * *", "timezone": "Mars"}))).await,
    );
    tell(
        "bad path",
        make(hook(json!({"config": {"path": "/hooks/x"}}))).await,
    );
    tell(
        "route taken",
        make(hook(json!({"config": {"path": "/plain"}}))).await,
    );
    tell(
        "bad expression",
        make(hook(json!({"inputMap": "1 +"}))).await,
    );
    tell(
        "not JSON",
        server
            .post_text("/api/triggers", "application/json", "{")
            .await,
    );
    tell("bad list", server.get("/api/triggers?type=cron").await);
    tell(
        "unknown route",
        server.post("/hooks/nowhere", json!({})).await,
    );
    tell("wrong method", server.get("/hooks/plain").await);
    tell("unsigned", server.post("/hooks/orders", json!({})).await);
    tell(
        "bad body",
        server
            .post_text("/hooks/plain", "application/json", "{")
            .await,
    );
    tell(
        "bad schema",
        server.post("/hooks/plain", json!({"m": 1})).await,
    );
    tell(
        "too large",
        server
            .post("/hooks/plain", json!({"n": "x".repeat(100)}))
            .await,
    );
    tell(
        "media type",
        server.post_text("/hooks/plain", "image/png", "x").await,
    );
    tell(
        "no schedule",
        server
            .post("/api/schedules/plain/backfill", json!({"from": 0, "to": 1}))
            .await,
    );
    tell(
        "no range",
        server
            .post("/api/schedules/plain/backfill", json!({"from": "soon"}))
            .await,
    );
    insta::assert_snapshot!("refusals", shown);
    let shown = server.get("/api/triggers/signed").await;
    assert!(!shown.text().contains("a-long-secret"));
}

#[tokio::test]
async fn schedules_are_listed_and_made_up_for() {
    let server = Server::new().await;
    server.order().await;
    server
        .post("/api/triggers", hook(json!({})))
        .await
        .expect(201);
    let yaml = "id: daily\ntype: schedule\nflow: order\nconfig: {cron: '0 3 * * *', timezone: Europe/Berlin}\n";
    server
        .post_text("/api/triggers", "application/yaml", yaml)
        .await
        .expect(201);
    let listed = server.get("/api/schedules").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["upcoming"].as_array().unwrap().len(), 5);
    let page = server.get("/api/triggers?limit=1").await.expect(200);
    assert_eq!(
        (&page["items"][0]["id"], &page["nextCursor"]),
        (&json!("daily"), &json!("daily"))
    );
    let page = server
        .get("/api/triggers?limit=1&cursor=daily")
        .await
        .expect(200);
    assert_eq!(
        (&page["items"][0]["id"], page.get("nextCursor")),
        (&json!("orders"), None)
    );
    let mut range = json!({"from": "2024-03-30T00:00:00Z", "to": "2024-04-02T00:00:00Z"});
    let refused = server.post("/api/schedules/daily/backfill", range.clone());
    let refused = refused.await.expect(409);
    assert_eq!(refused["error"]["code"], "DUE_TIME_FORGOTTEN");
    range["forgotten"] = json!(true);
    let done = server
        .post("/api/schedules/daily/backfill", range.clone())
        .await
        .expect(200);
    let due: Vec<&str> = done["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["dueAt"].as_str().unwrap())
        .collect();
    assert_eq!(
        due,
        [
            "2024-03-30T02:00:00.000Z",
            "2024-03-31T01:00:00.000Z",
            "2024-04-01T01:00:00.000Z"
        ]
    );
    assert_eq!(done["created"], 3);
    let again = server
        .post("/api/schedules/daily/backfill", range)
        .await
        .expect(200);
    assert_eq!(again["created"], 0);
}
