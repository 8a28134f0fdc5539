use std::sync::Arc;

use async_trait::async_trait;
use axum::{body::Body, http::Request};
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::Json;
use serde_json::{Value, json};

use crate::harness::{Server, text};

/// Gives back what it gets; fails, hangs or talks when its input says so.
struct Echo;

#[async_trait]
impl Provider for Echo {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.clone().unwrap_or_default();
        match input.as_text().as_ref() {
            "config" => {
                let value = invocation.invoke.config.clone();
                return Ok(Reply {
                    value,
                    ..Reply::default()
                });
            }
            "busy" => return Err(WorkError::new("BUSY", "try again later")),
            "fail" => return Err(WorkError::new("CARD_DECLINED", "no money").permanent()),
            "hang" => {
                invocation.cancel.cancelled().await;
                return Err(WorkError::new("CANCELLED", "stopped"));
            }
            "talk" => invocation.host.frame(Frame::Log {
                level: LogLevel::Info,
                message: "hello".to_owned(),
                meta: None,
            }),
            _ => {}
        }
        Ok(Reply {
            value: Some(input),
            ..Reply::default()
        })
    }
}

pub(crate) async fn server(config: Value) -> Server {
    let server = Server::new().await;
    let config = ProcessConfig::read(&Json::of(&config), "mail");
    server.runtime.queues().put_process(Process {
        id: "mail".into(),
        config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
        provider: Arc::new(Echo),
        source: Source::default(),
    });
    server
}

pub(crate) async fn add(server: &Server, body: Value) -> String {
    let added = server.post("/api/queue/mail/jobs", body).await.expect(201);
    text(&added["jobs"][0]["jobId"])
}

pub(crate) async fn ended(server: &Server, job: &str) -> Value {
    for _ in 0..2_000 {
        let job = server.get(&format!("/api/jobs/{job}")).await.expect(200);
        let state = text(&job["state"]);
        if ["completed", "failed", "cancelled"].contains(&state.as_str()) {
            return job;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("job {job} does not end");
}

#[tokio::test]
async fn a_job_is_added_run_and_read() {
    let server = server(Value::Null).await;
    let job = add(
        &server,
        json!({"data": {"to": "a"}, "options": {"tags": ["t"]}}),
    )
    .await;
    let shown = ended(&server, &job).await;
    assert_eq!(shown["result"], json!({"to": "a"}));
    assert_eq!(shown["name"], "mail");
    assert_eq!(shown["tags"], json!(["t"]));
    let queue = server.get("/api/_queue/mail").await.expect(200);
    assert_eq!(queue["counts"]["completed"], 1);
    assert_eq!(queue["process"], "mail");
    let queues = server.get("/api/queue").await.expect(200);
    assert_eq!(queues["items"][0]["name"], "mail");
}

#[tokio::test]
async fn many_jobs_are_added_at_once_or_none() {
    let server = server(json!({"inputSchema": {"type": "number"}})).await;
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    let jobs: Vec<Value> = (0..30).map(|n| json!({"data": n})).collect();
    let added = server
        .post("/api/queue/mail/jobs", json!({ "jobs": jobs }))
        .await;
    assert_eq!(added.expect(201)["jobs"].as_array().unwrap().len(), 30);
    let bad = json!({"jobs": [{"data": 1}, {"data": "x"}]});
    let refused = server.post("/api/queue/mail/jobs", bad).await;
    let refused = refused.refused(422, "INPUT_INVALID");
    assert_eq!(refused["error"]["details"]["job"], 1);
    let first = server
        .get("/api/queue/mail/jobs?state=waiting&limit=20")
        .await
        .expect(200);
    let cursor = text(&first["nextCursor"]);
    let rest = format!("/api/queue/mail/jobs?state=waiting&limit=20&cursor={cursor}");
    let rest = server.get(&rest).await.expect(200);
    assert_eq!(rest["items"].as_array().unwrap().len(), 10);
    let drained = server
        .post("/api/queue/mail/drain", json!({}))
        .await
        .expect(200);
    assert_eq!(drained["removed"], 30);
}

#[tokio::test]
async fn jobs_are_steered() {
    let server = server(json!({"concurrency": 1, "retryPolicy": {"attempts": 1}})).await;
    let hangs = add(&server, json!({"data": "hang"})).await;
    let later = add(
        &server,
        json!({"data": 1, "options": {"delayMs": 3_600_000}}),
    )
    .await;
    let path = |job: &str, what: &str| format!("/api/jobs/{job}/{what}");
    let change = async |body: &'static str| {
        let request = Request::patch(format!("/api/jobs/{later}"))
            .header("content-type", "application/json")
            .body(Body::from(body))
            .unwrap();
        server.send(request).await
    };
    let changed = change(r#"{"priority":5,"delayMs":60000}"#)
        .await
        .expect(200);
    assert_eq!(
        (&changed["priority"], &changed["state"]),
        (&json!(5), &json!("delayed"))
    );
    change("{}").await.refused(422, "UNPROCESSABLE");
    for bad in [r#"{"delayMs":99999999999999}"#, r#"{"delayMs":-1}"#] {
        change(bad).await.refused(400, "BAD_REQUEST");
    }
    let promoted = server
        .post(&path(&later, "promote"), json!({}))
        .await
        .expect(200);
    assert_eq!(promoted["state"], "waiting");
    let again = server.post(&path(&later, "promote"), json!({})).await;
    again.refused(409, "JOB_STATE");
    server
        .post(&path(&hangs, "cancel"), json!({"reason": "enough"}))
        .await
        .expect(200);
    assert_eq!(ended(&server, &hangs).await["state"], "cancelled");
    assert_eq!(ended(&server, &later).await["state"], "completed");
    let removed = server.delete(&format!("/api/jobs/{later}")).await;
    assert_eq!(removed.status, 204);
    server
        .get(&format!("/api/jobs/{later}"))
        .await
        .refused(404, "JOB_NOT_FOUND");
    server
        .post(&path(&hangs, "retry"), json!({}))
        .await
        .expect(200);
    server.delete(&format!("/api/jobs/{hangs}")).await;
}

#[tokio::test]
async fn dead_letters_are_listed_redriven_and_purged() {
    let server = server(json!({"retryPolicy": {"attempts": 1}})).await;
    for _ in 0..2 {
        let job = add(&server, json!({"data": "fail"})).await;
        assert_eq!(ended(&server, &job).await["error"]["code"], "CARD_DECLINED");
    }
    let dead = server.get("/api/queue/mail/dlq?limit=1").await.expect(200);
    assert_eq!(dead["items"].as_array().unwrap().len(), 1);
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    let redrive = async |body: Value| server.post("/api/queue/mail/dlq/redrive", body).await;
    for (filter, expected) in [
        (json!({"code": "OTHER"}), 0),
        (json!({"before": "2020-01-01T00:00:00Z"}), 0),
        (json!({"after": 32_503_680_000_000_u64}), 0),
        (json!({"tag": "none"}), 0),
    ] {
        let redriven = redrive(json!({"filter": filter})).await.expect(200);
        assert_eq!(redriven, json!({"redriven": expected, "goesOn": false}));
    }
    for bad in [
        json!({"perSecond": 0}),
        json!({"filter": {"before": "noon"}}),
        json!({"filter": {"colour": "red"}}),
    ] {
        redrive(bad).await.refused(400, "BAD_REQUEST");
    }
    let filter = json!({"code": "CARD_DECLINED", "name": "mail"});
    let redriven = redrive(json!({"limit": 1, "filter": filter})).await;
    assert_eq!(redriven.expect(200)["redriven"], 1);
    let other = json!({"filter": {"code": "OTHER"}});
    let purged = server.post("/api/queue/mail/dlq/purge", other).await;
    assert_eq!(purged.expect(200)["removed"], 0);
    let purged = server
        .post(
            "/api/queue/mail/dlq/purge",
            json!({"filter": {"code": "CARD_DECLINED"}}),
        )
        .await
        .expect(200);
    assert_eq!(purged["removed"], 1);
    let clean = server
        .post("/api/queue/mail/clean", json!({"state": "waiting"}))
        .await;
    clean.refused(400, "BAD_REQUEST");
}

#[tokio::test]
async fn unknown_queues_and_bad_bodies_are_refused() {
    let server = server(Value::Null).await;
    for path in [
        "/api/queue/absent",
        "/api/queue/absent/jobs",
        "/api/queue/absent/dlq",
    ] {
        server.get(path).await.refused(404, "QUEUE_NOT_FOUND");
    }
    let job = json!({"data": 1});
    server
        .post("/api/queue/absent/jobs", job.clone())
        .await
        .refused(404, "QUEUE_NOT_FOUND");
    server
        .post("/api/queue/absent/jobs?create=true", job)
        .await
        .expect(201);
    for body in [
        json!({"dat": 1}),
        json!({"options": {"prio": 1}}),
        json!({"options": {"attempts": 0}}),
        json!({"jobs": []}),
        json!({"jobs": [{"options": {"runAt": "tomorrow"}}]}),
    ] {
        server
            .post("/api/queue/mail/jobs", body)
            .await
            .refused(400, "BAD_REQUEST");
    }
    for body in [
        json!({"jobs": [{"data": 1}], "data": 2}),
        json!({"jobs": [{"data": 1}], "options": {"priority": 2}}),
        json!({"options": {"delayMs": 5, "runAt": 5}}),
        json!({"options": {"runAt": "2999-01-01T00:00:00Z"}}),
    ] {
        server
            .post("/api/queue/mail/jobs", body)
            .await
            .refused(422, "UNPROCESSABLE");
    }
    let empty = Request::post("/api/queue/mail/jobs").body(Body::empty());
    let empty = server.send(empty.unwrap()).await;
    empty.refused(400, "BAD_REQUEST");
    server
        .get("/api/queue/mail/jobs?state=sleeping")
        .await
        .refused(400, "BAD_QUERY");
    server
        .get("/api/queue/mail/jobs?cursor=x")
        .await
        .refused(400, "BAD_CURSOR");
}

#[tokio::test]
async fn jobs_are_found_by_tag_name_and_key_in_one_queue_or_all() {
    let server = server(Value::Null).await;
    let pause = server.post("/api/queue/mail/pause", json!({})).await;
    pause.expect(200);
    let job = |id: &str, name: &str, options: Value| {
        let mut options = options;
        options["jobId"] = json!(id);
        json!({"name": name, "data": 1, "options": options})
    };
    let jobs = json!({"jobs": [
        job("a", "x", json!({"tags": ["red", "big"]})),
        job("b", "y", json!({"tags": ["red"], "key": "k"})),
        job("c", "y", json!({"tenantId": "acme"})),
    ]});
    let added = server.post("/api/queue/mail/jobs", jobs).await;
    added.expect(201);
    let more = job("d", "y", json!({"tags": ["red"]}));
    let added = server.post("/api/queue/other/jobs?create=true", more).await;
    added.expect(201);
    let ids = async |path: &str| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = server.get(&format!("{path}{cursor}")).await.expect(200);
            let items = page["items"].as_array().unwrap();
            found.extend(items.iter().map(|job| text(&job["id"])));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        found.sort();
        found.join(",")
    };
    for (path, expected) in [
        ("/api/queue/mail/jobs?tag=red", "a,b"),
        ("/api/queue/mail/jobs?tag=red&name=y", "b"),
        ("/api/queue/mail/jobs?key=acme", "c"),
        ("/api/queues/mail/jobs?tag=red&status=waiting", "a,b"),
        ("/api/jobs?queue=mail&state=waiting&name=y", "b,c"),
        ("/api/jobs?queue=mail&status=waiting&name=y", "b,c"),
        ("/api/jobs?queue=mail&state=completed", ""),
        ("/api/jobs?tag=red&limit=1", "a,b,d"),
        ("/api/jobs?state=waiting&limit=2", "a,b,c,d"),
        ("/api/jobs?queue=*&status=waiting&limit=2", "a,b,c,d"),
        ("/api/jobs?status=delayed", ""),
        // Without a queue, a status that runs have is theirs.
        ("/api/jobs?status=waiting", ""),
        ("/api/jobs?limit=3", "a,b,c,d"),
    ] {
        assert_eq!(ids(path).await, expected, "{path}");
    }
    for mixed in [
        "queue=mail&flow=f",
        "queue=mail&status=running",
        "flow=f&status=delayed",
        "status=running,delayed",
        "state=waiting&status=waiting",
    ] {
        let mixed = server.get(&format!("/api/jobs?{mixed}")).await;
        mixed.refused(422, "UNPROCESSABLE");
    }
    server
        .get("/api/jobs?status=nowhere")
        .await
        .refused(400, "BAD_QUERY");
    let bad = server.get("/api/jobs?state=waiting&cursor=x").await;
    bad.refused(400, "BAD_CURSOR");
}

#[tokio::test]
async fn a_call_answers_with_its_result_or_its_frames() {
    let server = server(json!({"runMode": "call"})).await;
    let call = async |input: &str| {
        let body = json!({"process": "mail", "input": input, "timeoutMs": 100});
        server.post("/api/_runner/execute", body).await
    };
    assert_eq!(call("x").await.expect(200)["value"], "x");
    let failed = call("fail").await.refused(500, "CALL_FAILED");
    assert_eq!(failed["error"]["details"]["error"]["code"], "CARD_DECLINED");
    call("hang").await.refused(504, "CALL_TIMEOUT");
    let unknown = server
        .post("/api/runner/execute", json!({"process": "x"}))
        .await;
    unknown.refused(404, "PROCESS_NOT_FOUND");
    let stream = async |input: &str| {
        let body = format!(r#"{{"process":"mail","input":{input}}}"#);
        let asked = Request::post("/api/runner/execute")
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .body(Body::from(body))
            .unwrap();
        server.send(asked).await.text()
    };
    let streamed = stream(r#""talk""#).await;
    let events: Vec<&str> = streamed
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(events, ["log", "result"], "{streamed}");
    // Numbers keep their text, and breaks between them break no line.
    let streamed = stream("[12345678901234567890123,\n 1.10]").await;
    let exact = "data: {\"value\":[12345678901234567890123,  1.10]}\n";
    assert!(streamed.contains(exact), "{streamed}");
    let processes = server.get("/api/processes").await.expect(200);
    assert_eq!(processes["items"][0]["runMode"], "call");
}

#[tokio::test]
async fn the_metadata_of_a_job_is_as_small_as_that_of_a_run() {
    let server = Server::new().await;
    let job = json!({"options": {"metadata": {"note": "x".repeat(70_000)}}});
    let refused = server.post("/api/queues/q/jobs?create=true", job).await;
    refused.refused(413, "TOO_LARGE");
}
