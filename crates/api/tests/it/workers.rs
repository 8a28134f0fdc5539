//! Remote workers over real sockets.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_api::ApiOptions;
use riverrun_protocol::{Limits, Reply, WorkError};
use riverrun_providers::remote::{Workers, WorkersOptions};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    harness::{Server, text, until},
    socket::{Socket, within},
};

const PATH: &str = "/api/workers/ws";

/// Connects, says who it is, and is let in.
async fn worker(address: &str, name: &str, processes: Value) -> Socket {
    welcomed(address, name, processes).await.0
}

/// The same, with what the server says of it.
async fn welcomed(address: &str, name: &str, processes: Value) -> (Socket, Value) {
    let mut worker = introduced(address, name, processes).await;
    let welcome = worker.receives("welcome").await;
    (worker, welcome["params"].clone())
}

/// Connects and says who it is.
async fn introduced(address: &str, name: &str, processes: Value) -> Socket {
    let mut worker = Socket::connect(address, PATH).await;
    let hello = worker.receives("initialise").await;
    assert_eq!(hello["params"]["protocol"], 1);
    let said = json!({
        "protocol": 1, "sdk": {"name": "fake", "version": "1", "language": "fake"},
        "worker": {"name": name, "tags": ["gpu"]}, "processes": processes, "credits": 2,
    });
    worker.say(json!({"id": hello["id"], "result": said})).await;
    worker
}

fn train() -> Value {
    json!([{"id": "ml/train", "config": {"retryPolicy": {"attempts": 2}}}])
}

async fn known(server: &Server, name: &str) -> Value {
    until(async || {
        let workers = server.get("/api/workers").await.expect(200);
        let items = workers["items"].as_array().unwrap().clone();
        items.into_iter().find(|worker| worker["name"] == name)
    })
    .await
}

async fn add(server: &Server) -> String {
    let added = server
        .post("/api/queue/train/jobs", json!({"data": {"n": 1}}))
        .await;
    text(&added.expect(201)["jobs"][0]["jobId"])
}

async fn job_is(server: &Server, job: &str, state: &str) -> Value {
    until(async || {
        let job = server.get(&format!("/api/jobs/{job}")).await.expect(200);
        (job["state"] == state).then_some(job)
    })
    .await
}

async fn answer(worker: &mut Socket, invoke: &Value, value: Value) {
    worker
        .say(json!({"id": invoke["id"], "result": {"value": value}}))
        .await;
}

#[tokio::test]
async fn a_worker_connects_is_listed_and_runs_jobs_and_calls() {
    let server = Server::new().await;
    let address = server.listen().await;
    let (mut worker, welcome) = welcomed(&address, "gpu-3", train()).await;
    assert_eq!(welcome, json!({"workerId": 1}));
    let shown = known(&server, "gpu-3").await;
    assert_eq!(shown["tags"], json!(["gpu"]));
    assert_eq!(shown["sdk"], "fake 1");
    assert_eq!(shown["processes"], json!(["ml/train"]));
    assert_eq!(
        (&shown["window"], &shown["running"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(shown["state"], "connected");
    assert!(text(&shown["since"]).ends_with('Z'), "{shown}");

    let job = add(&server).await;
    let invoke = worker.receives("invoke").await;
    let params = &invoke["params"];
    assert_eq!(
        (&params["process"], &params["kind"]),
        (&json!("ml/train"), &json!("job"))
    );
    assert_eq!(params["input"], json!({"n": 1}));
    let id = invoke["id"].clone();
    let said = json!({"invocation": id, "level": "info", "message": "hot"});
    worker.say(json!({"method": "log", "params": said})).await;
    let set = json!({"invocation": id, "key": "loss", "value": 0.1});
    worker
        .say(json!({"id": 1, "method": "state.set", "params": set}))
        .await;
    // After that it was added, began, and said something.
    assert_eq!(worker.next().await["result"]["version"], 4);
    answer(&mut worker, &invoke, json!({"done": true})).await;
    let done = job_is(&server, &job, "completed").await;
    assert_eq!(
        (&done["result"], &done["attempt"]),
        (&json!({"done": true}), &json!(1))
    );
    let events = server.get(&format!("/api/events/job/{job}")).await.text();
    assert!(
        events.contains("hot") && events.contains("loss"),
        "{events}"
    );

    let call = json!({"process": "ml/train", "input": 5});
    let called = server.post("/api/runner/execute", call);
    let (called, ()) = tokio::join!(called, async {
        let invoke = worker.receives("invoke").await;
        assert_eq!(invoke["params"]["kind"], "call");
        answer(&mut worker, &invoke, json!(6)).await;
    });
    assert_eq!(called.expect(200)["value"], 6);
}

#[tokio::test]
async fn without_a_worker_jobs_wait_and_calls_are_refused() {
    let server = Server::new().await;
    let address = server.listen().await;
    let first = worker(&address, "one", train()).await;
    known(&server, "one").await;
    drop(first);
    until(async || {
        let workers = server.get("/api/workers").await.expect(200);
        (workers["items"] == json!([])).then_some(())
    })
    .await;
    let job = add(&server).await;
    let call = json!({"process": "ml/train", "input": 5});
    let refused = server.post("/api/runner/execute", call).await;
    refused.refused(503, "NO_WORKER");
    let waiting = server.get(&format!("/api/jobs/{job}")).await.expect(200);
    assert_eq!(
        (&waiting["state"], &waiting["attempt"]),
        (&json!("waiting"), &json!(0))
    );

    let mut second = worker(&address, "two", train()).await;
    let invoke = second.receives("invoke").await;
    assert_eq!(invoke["params"]["attempt"], 1);
    answer(&mut second, &invoke, json!(1)).await;
    job_is(&server, &job, "completed").await;
}

#[tokio::test]
async fn a_connection_that_breaks_and_comes_back_goes_on() {
    let server = Server::new().await;
    let address = server.listen().await;
    let mut first = worker(&address, "one", train()).await;
    let called = server.post(
        "/api/runner/execute",
        json!({"process": "ml/train", "input": 5}),
    );
    known(&server, "one").await;
    let job = add(&server).await;
    let (called, ()) = tokio::join!(called, async {
        let invokes = [
            first.receives("invoke").await,
            first.receives("invoke").await,
        ];
        drop(first);
        until(async || {
            let shown = known(&server, "one").await;
            (shown["state"] == "away").then_some(())
        })
        .await;
        let why = server
            .get(&format!("/api/runs/{job}/why"))
            .await
            .expect(200);
        let reason = &why["reasons"][0];
        assert_eq!(
            (&reason["kind"], &reason["job"]["worker"]["name"]),
            (&json!("worker-away"), &json!("one")),
            "{why:#}"
        );
        assert!(
            reason["since"].as_str() < reason["until"].as_str(),
            "{why:#}"
        );
        assert_eq!(why["moving"], false);
        let running = invokes.each_ref().map(|invoke| {
            let params = &invoke["params"];
            // A call has no job and no lease: its run stands for them.
            let id = params.get("jobId").unwrap_or(&params["runId"]);
            let lease = params["lease"].as_str().unwrap_or_default();
            json!({"invocation": invoke["id"], "jobId": id, "lease": lease})
        });
        let mut again = Socket::connect(&address, PATH).await;
        let hello = again.receives("initialise").await;
        let said = json!({
            "protocol": 1, "sdk": {"name": "fake", "version": "1", "language": "fake"},
            "worker": {"name": "one"}, "processes": train(), "credits": 2, "running": running,
        });
        again.say(json!({"id": hello["id"], "result": said})).await;
        again.receives("welcome").await;
        for invoke in &invokes {
            answer(&mut again, invoke, json!(7)).await;
        }
        let done = job_is(&server, &job, "completed").await;
        assert_eq!((&done["result"], &done["attempt"]), (&json!(7), &json!(1)));
    });
    assert_eq!(called.expect(200)["value"], 7);
}

#[tokio::test]
async fn what_is_no_message_ends_one_connection_and_harms_nobody() {
    let limits = Limits {
        message_bytes: 10_000,
        ..Limits::default()
    };
    let options = ApiOptions {
        workers: Workers::new(WorkersOptions {
            limits,
            ..WorkersOptions::default()
        }),
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    let address = server.listen().await;
    let mut good = worker(&address, "good", train()).await;
    let nothing = json!([]);
    for (message, code) in [
        (Message::binary([1, 2, 3].as_slice()), 1003),
        (Message::text("nonsense"), 1002),
        (Message::text("{}"), 1002),
        (Message::text("x".repeat(20_000)), 1009),
    ] {
        let mut bad = worker(&address, "bad", nothing.clone()).await;
        bad.send(message).await;
        let (closed, reason) = bad.closed().await;
        assert_eq!(closed, code, "{reason}");
        assert!(!reason.is_empty());
    }
    // One that never says who it is fares no better.
    let mut early = Socket::connect(&address, PATH).await;
    early.receives("initialise").await;
    early.send(Message::text("[1]")).await;
    let refused = early.receives("refused").await;
    assert_eq!(refused["params"]["code"], "PROTOCOL_ERROR");
    assert_eq!(early.closed().await.0, 1002);

    let mut invalid = introduced(
        &address,
        "invalid",
        json!([{"id": "a", "config": {"concurrency": 0}}]),
    )
    .await;
    let refused = invalid.receives("refused").await;
    assert_eq!(
        refused["params"]["details"]["issues"][0]["path"],
        "concurrency"
    );
    let (code, reason) = invalid.closed().await;
    assert_eq!(code, 1008);
    assert!(reason.starts_with("PROCESS_INVALID: "), "{reason}");

    let job = add(&server).await;
    let invoke = good.receives("invoke").await;
    answer(&mut good, &invoke, json!(1)).await;
    job_is(&server, &job, "completed").await;
    let workers = server.get("/api/workers").await.expect(200);
    assert_eq!(workers["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn only_a_websocket_of_no_other_page_may_connect() {
    let server = Server::new().await;
    let address = server.listen().await;
    for path in [PATH, "/api/runner/ws", "/api/_runner/ws"] {
        assert_eq!(
            Socket::refused(&address, path, "https://evil.example").await,
            403
        );
        server.get(path).await.refused(426, "UPGRADE_REQUIRED");
    }
}

struct Local;

#[async_trait]
impl Provider for Local {
    async fn invoke(&self, _: Invocation) -> Result<Reply, WorkError> {
        Ok(Reply {
            value: Some(Json::from("local")),
            ..Reply::default()
        })
    }
}

#[tokio::test]
async fn a_process_of_the_server_wins_over_a_workers() {
    let server = Server::new().await;
    let address = server.listen().await;
    let put = || {
        server.runtime.queues().put_process(Process {
            id: "ml/train".into(),
            config: ProcessConfig::read(&Json::null(), "train").unwrap_or_else(|_| panic!()),
            provider: Arc::new(Local),
            source: Source::default(),
        });
    };
    put();
    let mut worker = worker(&address, "gpu-3", train()).await;
    let shown = known(&server, "gpu-3").await;
    assert_eq!(shown["shadowed"], json!(["ml/train"]));
    let job = add(&server).await;
    let done = job_is(&server, &job, "completed").await;
    assert_eq!(done["result"], "local");
    // Without it the worker's stands in, until there is one again.
    server.runtime.queues().remove_process("ml/train");
    let job = add(&server).await;
    let invoke = worker.receives("invoke").await;
    answer(&mut worker, &invoke, json!("far")).await;
    assert_eq!(job_is(&server, &job, "completed").await["result"], "far");
    put();
    let job = add(&server).await;
    assert_eq!(job_is(&server, &job, "completed").await["result"], "local");
}

#[tokio::test]
async fn a_worker_is_drained() {
    let server = Server::new().await;
    let address = server.listen().await;
    let mut first = worker(&address, "one", train()).await;
    let shown = known(&server, "one").await;
    let job = add(&server).await;
    let invoke = first.receives("invoke").await;
    let path = format!("/api/workers/{}/drain", shown["id"]);
    let drained = server
        .post(&path, json!({"graceMs": 5_000}))
        .await
        .expect(202);
    assert_eq!(
        (&drained["state"], &drained["running"]),
        (&json!("draining"), &json!(1))
    );
    let drain = first.receives("drain").await;
    assert_eq!(drain["params"]["graceMs"], 5_000);
    answer(&mut first, &invoke, json!(1)).await;
    first
        .say(json!({"id": drain["id"], "result": {"unfinished": 0}}))
        .await;
    assert_eq!(first.closed().await.0, 1000);
    job_is(&server, &job, "completed").await;
    server
        .post(&path, json!({}))
        .await
        .refused(404, "WORKER_NOT_FOUND");
    let unknown = server.post("/api/workers/absent/drain", json!({})).await;
    unknown.refused(404, "WORKER_NOT_FOUND");
    let bad = server.post(&path, json!({"grace": 1})).await;
    bad.refused(400, "BAD_REQUEST");
}

#[tokio::test]
async fn a_stop_tells_workers_to_come_back() {
    let server = Server::new().await;
    let address = server.listen().await;
    let mut worker = worker(&address, "one", train()).await;
    known(&server, "one").await;
    server.options.closing.cancel();
    server.runtime.shutdown().await.unwrap();
    server.options.workers.close();
    let (code, reason) = worker.closed().await;
    assert_eq!((code, reason.as_str()), (1012, "the server stops"));
    server.options.sockets.close();
    let all = tokio::time::timeout(Duration::from_secs(5), server.options.sockets.wait());
    all.await.expect("a socket is still open");
}

/// The server pings a silent worker; one that never answers counts as away.
#[tokio::test]
async fn a_client_that_never_answers_a_ping_is_gone() {
    let server = Server::with(ApiOptions {
        heartbeat: Duration::from_millis(300),
        ..ApiOptions::default()
    })
    .await;
    let address = server.listen().await;
    let mut alive = worker(&address, "alive", train()).await;
    known(&server, "alive").await;
    let job = add(&server).await;
    let living = tokio::spawn(async move {
        let invoke = alive.receives("invoke").await;
        answer(&mut alive, &invoke, json!(1)).await;
        let last = alive.receives("invoke").await;
        answer(&mut alive, &last, json!(2)).await;
        alive
    });
    for path in [PATH, "/api/runner/ws"] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        within(stream.read_to_end(&mut received)).await.unwrap();
        let text = String::from_utf8_lossy(&received);
        assert!(text.starts_with("HTTP/1.1 101"), "{text}");
        assert!(text.contains("nothing came for 900 ms"), "{text}");
    }
    job_is(&server, &job, "completed").await;
    // One that reads, and so answers, is there still.
    let last = add(&server).await;
    assert_eq!(job_is(&server, &last, "completed").await["result"], 2);
    within(living).await.unwrap();
}

/// The steps of a shop, in which goods are shipped on an event.
fn shop(shipped_on: &str) -> Value {
    let order = json!({"id": "shop", "role": "entry", "step": "order", "emits": ["ordered"]});
    let ship = json!({"id": "shop", "step": "ship", "subscriptions": [{"eventKind": shipped_on}]});
    json!([
        {"id": "shop/order", "config": {"flow": order}},
        {"id": "shop/ship", "config": {"flow": ship}},
    ])
}

fn codes(welcome: &Value) -> Vec<&str> {
    let faults = welcome["faults"].as_array().into_iter().flatten();
    faults.filter_map(|fault| fault["code"].as_str()).collect()
}

#[tokio::test]
async fn the_processes_of_a_worker_make_flows() {
    let server = Server::new().await;
    let address = server.listen().await;
    let (mut worker, welcome) = welcomed(&address, "one", shop("ordered")).await;
    let made = json!([{"id": "shop", "version": "1.0.0"}]);
    assert_eq!(welcome, json!({"workerId": 1, "flows": made}));
    // More often than it has places at once: each is given back.
    for asked in 1..=3 {
        let started = server.post("/api/flows/shop/start", json!({"input": {"n": 5}}));
        let run = text(&started.await.expect(201)["runId"]);
        let order = worker.receives("invoke").await;
        assert_eq!(order["params"]["process"], "shop/order");
        let emit = json!({"invocation": order["id"], "type": "ordered", "data": {"n": 6}});
        worker
            .say(json!({"id": asked, "method": "emit", "params": emit}))
            .await;
        assert_eq!(worker.next().await["id"], asked);
        answer(&mut worker, &order, json!("ordered")).await;
        let ship = worker.receives("invoke").await;
        assert_eq!(
            (&ship["params"]["process"], &ship["params"]["input"]),
            (&json!("shop/ship"), &json!({"n": 6}))
        );
        answer(&mut worker, &ship, json!("shipped")).await;
        until(async || {
            let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
            (shown["status"] == "completed").then_some(())
        })
        .await;
    }
    // Another of the same kind brings nothing new.
    let (_same, welcome) = welcomed(&address, "two", shop("ordered")).await;
    assert_eq!(welcome, json!({"workerId": 2, "flows": made}));
}

#[tokio::test]
async fn workers_that_define_different_flows_of_one_name_are_reported() {
    let server = Server::new().await;
    let address = server.listen().await;
    let _first = worker(&address, "one", shop("ordered")).await;
    let (_second, welcome) = welcomed(&address, "two", shop("paid")).await;
    assert_eq!(codes(&welcome), ["FLOW_CONFLICT"], "{welcome}");
    let message = text(&welcome["faults"][0]["message"]);
    for part in ["worker one", "shop@1.0.0)", "shop@1.0.0+dev.1"] {
        assert!(message.contains(part), "{message}");
    }
    // Everybody can see it, and new runs are of the last.
    let shown = known(&server, "two").await;
    assert_eq!(shown["flows"], json!(["shop@1.0.0+dev.1"]));
    assert_eq!(shown["faults"], welcome["faults"]);
    let flow = server.get("/api/flows/shop").await.expect(200);
    assert_eq!(flow["version"], "1.0.0+dev.1");
    // A step alone is none, and a flow of the server stays what it is.
    let alone = json!([{"id": "lone", "config": {"flow": {"id": "far", "step": "lone", "subscriptions": [{"eventKind": "x"}]}}}]);
    let (_alone, welcome) = welcomed(&address, "three", alone).await;
    assert_eq!(codes(&welcome), ["FLOW_INCOMPLETE"], "{welcome}");
    assert_eq!(welcome["faults"][0]["flow"], "far");
    server
        .get("/api/flows/far")
        .await
        .refused(404, "FLOW_NOT_FOUND");
    let config = json!({"flow": {"id": "home", "role": "entry", "step": "begin"}});
    server.runtime.queues().put_process(Process {
        id: "begin".into(),
        config: ProcessConfig::read(&Json::of(&config), "begin").unwrap_or_else(|_| panic!()),
        provider: Arc::new(Local),
        source: Source::default(),
    });
    let ours = json!([{"id": "other", "config": {"flow": {"id": "home", "role": "entry", "step": "other"}}}]);
    let (_ours, welcome) = welcomed(&address, "four", ours).await;
    assert_eq!(codes(&welcome), ["FLOW_CONFLICT"], "{welcome}");
    assert_eq!(welcome.get("flows"), None);
}

/// One side of a shop whose steps are in two workers.
fn side(step: &str, more: Value) -> Value {
    let mut flow = json!({"id": "both", "step": step});
    let more = more.as_object().unwrap().clone();
    flow.as_object_mut().unwrap().extend(more);
    json!([{"id": format!("both/{step}"), "config": {"flow": flow}}])
}

fn entry() -> Value {
    side("order", json!({"role": "entry", "emits": ["ordered"]}))
}

fn shipping() -> Value {
    side("ship", json!({"subscriptions": [{"eventKind": "ordered"}]}))
}

async fn steps_of(server: &Server) -> (String, Vec<String>) {
    let flow = server.get("/api/flows/both").await.expect(200);
    let steps = flow["definition"]["steps"]
        .as_object()
        .unwrap_or_else(|| panic!("{flow}"));
    let mut steps: Vec<String> = steps.keys().cloned().collect();
    steps.sort();
    (text(&flow["version"]), steps)
}

#[tokio::test]
async fn workers_make_a_flow_together() {
    let server = Server::new().await;
    let address = server.listen().await;
    // The step waits for the worker that has the flow's entry.
    let (ships, welcome) = welcomed(&address, "ships", shipping()).await;
    assert_eq!(codes(&welcome), ["FLOW_INCOMPLETE"], "{welcome}");
    let (mut orders, welcome) = welcomed(&address, "orders", entry()).await;
    assert_eq!(codes(&welcome), [""; 0], "{welcome}");
    let both = (
        "1.0.0".to_owned(),
        vec!["order".to_owned(), "ship".to_owned()],
    );
    assert_eq!(steps_of(&server).await, both);
    let shown = known(&server, "ships").await;
    assert_eq!(shown["flows"], json!(["both@1.0.0"]));
    assert!(codes(&shown).is_empty(), "{shown}");
    // One that leaves takes nothing away, and a run waits for it.
    drop(ships);
    until(async || {
        let workers = server.get("/api/workers").await.expect(200);
        let count = workers["items"].as_array().map(Vec::len);
        (count == Some(1)).then_some(())
    })
    .await;
    let started = server.post("/api/flows/both/start", json!({"input": {}}));
    let run = text(&started.await.expect(201)["runId"]);
    let order = orders.receives("invoke").await;
    let emit = json!({"invocation": order["id"], "type": "ordered", "data": {"n": 6}});
    orders
        .say(json!({"id": 1, "method": "emit", "params": emit}))
        .await;
    assert_eq!(orders.next().await["id"], 1);
    answer(&mut orders, &order, json!("ordered")).await;
    // Workers that reconnect make the same version in any order.
    let (_again, _) = welcomed(&address, "orders-2", entry()).await;
    assert_eq!(steps_of(&server).await, both);
    let (mut ships, welcome) = welcomed(&address, "ships", shipping()).await;
    assert_eq!(codes(&welcome), [""; 0], "{welcome}");
    assert_eq!(steps_of(&server).await, both);
    let ship = ships.receives("invoke").await;
    assert_eq!(ship["params"]["process"], "both/ship");
    answer(&mut ships, &ship, json!("shipped")).await;
    until(async || {
        let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
        (shown["status"] == "completed").then_some(())
    })
    .await;
    // One more step is one more version, and runs keep theirs.
    let bills = side("bill", json!({"subscriptions": [{"eventKind": "ordered"}]}));
    let (_bills, welcome) = welcomed(&address, "bills", bills).await;
    assert_eq!(
        welcome["flows"],
        json!([{"id": "both", "version": "1.0.0+dev.1"}])
    );
    let (version, steps) = steps_of(&server).await;
    assert_eq!((&*version, steps.len()), ("1.0.0+dev.1", 3));
    let shown = server.get(&format!("/api/runs/{run}")).await.expect(200);
    assert_eq!(shown["version"], "1.0.0");
    // A worker that contradicts gets an error, and the flow stays as it was.
    let mut other = shipping();
    other[0]["id"] = json!("elsewhere/ship");
    let (_other, welcome) = welcomed(&address, "others", other).await;
    assert_eq!(codes(&welcome), ["FLOW_CONFLICT"], "{welcome}");
    let message = text(&welcome["faults"][0]["message"]);
    assert!(message.contains("both/ship"), "{message}");
    let mut other = entry();
    other[0]["id"] = json!("elsewhere/order");
    let (_other, welcome) = welcomed(&address, "others-2", other).await;
    assert_eq!(codes(&welcome), ["FLOW_CONFLICT"], "{welcome}");
    assert_eq!(steps_of(&server).await.0, "1.0.0+dev.1");
}
