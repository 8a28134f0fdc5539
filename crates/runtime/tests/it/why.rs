//! Why runs do not move, on a real embedded store.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{CancelReason, Reply, WorkError};
use riverrun_runtime::{
    BrokenProcess, CallRequest, Cancellation, Handler, Invocation, JobRequest, Options, Places,
    Process, ProcessConfig, Provider, ReservedPlaces, Runtime, Source, StartRequest, Tailed,
    function,
};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, RunId, StreamName};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const LONG: Duration = Duration::from_secs(20);
const HOUR_MS: u64 = 3_600_000;

/// What a process does.
#[derive(Clone, Copy)]
enum Does {
    Answers,
    Fails,
    /// Says that it has begun, and never ends.
    Hangs,
}

struct Scripted {
    does: Does,
    begun: Arc<Semaphore>,
}

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        self.begun.add_permits(1);
        match self.does {
            Does::Answers => Ok(Reply::default()),
            Does::Fails => Err(WorkError::new("CARD", "declined")),
            Does::Hangs => {
                invocation.cancel.cancelled().await;
                Err(WorkError::new("CANCELLED", "stopped"))
            }
        }
    }
}

struct World {
    runtime: Runtime,
    /// One permit for everything that has begun.
    begun: Arc<Semaphore>,
}

impl World {
    async fn new() -> Self {
        let begun = Arc::new(Semaphore::new(0));
        let mut handlers: Vec<Arc<dyn Handler>> = riverrun_handlers::all(Default::default());
        let begin_permits = begun.clone();
        handlers.push(function("stuck", move |_: Value| {
            begin_permits.add_permits(1);
            std::future::pending::<Result<Value, riverrun_engine::Failure>>()
        }));
        let options = Options {
            grace: Duration::from_millis(50),
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let store = SqliteStore::memory().unwrap();
        let runtime = Runtime::open(store, sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        Self { runtime, begun }
    }

    fn put(&self, id: &str, config: Value, does: Does) {
        let config = ProcessConfig::read(&Json::of(&config), id);
        self.runtime.queues().put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Arc::new(Scripted {
                does,
                begun: self.begun.clone(),
            }),
            source: Source::default(),
        });
    }

    async fn register(&self, id: &str, steps: Value) {
        let first = steps.as_object().unwrap().keys().next().unwrap().clone();
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
        if let Err(error) = self.runtime.flows().register(&flow).await {
            panic!("{error:?}");
        }
    }

    async fn start(&self, flow: &str) -> RunId {
        let request = StartRequest::new(flow, Json::of(&json!({})));
        self.runtime.runs().start(request).await.unwrap().run
    }

    /// Waits until something has begun.
    async fn begins(&self) {
        let begun = tokio::time::timeout(LONG, self.begun.acquire());
        begun.await.unwrap().unwrap().forget();
    }

    async fn why(&self, run: &RunId) -> Value {
        let why = self.runtime.reasons().why(run).await.unwrap();
        serde_json::to_value(why).unwrap()
    }

    /// The reasons once the first is of a kind; a run says so after each of its events.
    async fn reason(&self, run: &RunId, kind: &str) -> Value {
        let stream = riverrun_types::StreamName::flow(run);
        let mut news = self.runtime.base().hub().subscribe(&stream);
        let found = async {
            loop {
                let why = self.why(run).await;
                if why["reasons"][0]["kind"] == kind {
                    return why;
                }
                news.next().await;
            }
        };
        match tokio::time::timeout(LONG, found).await {
            Ok(why) => why,
            Err(_) => panic!("no {kind}: {:#}", self.why(run).await),
        }
    }
}

fn step(process: &str) -> Value {
    json!({"type": "process", "config": {"process": process}})
}

fn with(mut step: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    step.as_object_mut().unwrap().extend(more);
    step
}

/// Whether a reason has these members.
#[track_caller]
fn has(reason: &Value, expected: Value) {
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&reason[key], value, "{key} of {reason:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_pauses_and_ends_are_shown() {
    let world = World::new().await;
    world
        .register(
            "rest",
            json!({"nap": {"type": "delay", "config": {"ms": HOUR_MS}}}),
        )
        .await;
    let mut request = StartRequest::new("rest", Json::of(&json!({})));
    request.delay_ms = Some(HOUR_MS);
    let late = world.runtime.runs().start(request).await.unwrap().run;
    let why = world.why(&late).await;
    has(
        &why,
        json!({"kind": "flow", "flow": "rest", "moving": false}),
    );
    assert_eq!(why["reasons"].as_array().unwrap().len(), 1, "{why:#}");
    has(&why["reasons"][0], json!({"kind": "not-before"}));
    assert!(why["reasons"][0]["until"].is_string());

    let run = world.start("rest").await;
    let why = world.reason(&run, "await-time").await;
    has(&why, json!({"status": "waiting", "moving": false}));
    has(
        &why["reasons"][0],
        json!({"step": "nap", "visit": 1, "status": "waiting"}),
    );
    assert!(why["reasons"][0]["until"].is_string(), "{why:#}");

    let reason = Some("inventory".to_owned());
    world.runtime.runs().pause(&run, reason).await.unwrap();
    let why = world.why(&run).await;
    has(
        &why["reasons"][0],
        json!({"kind": "paused", "reason": "inventory"}),
    );
    assert!(why["reasons"][0]["since"].is_string(), "{why:#}");
    has(&why["reasons"][1], json!({"kind": "await-time"}));

    world.runtime.runs().cancel(&run, None).await.unwrap();
    let why = world.why(&run).await;
    has(&why, json!({"status": "cancelled", "moving": false}));
    has(&why["reasons"][0], json!({"kind": "ended"}));

    let missing = world.runtime.reasons().why(&RunId::new("nobody")).await;
    assert!(matches!(
        missing,
        Err(riverrun_runtime::Error::Store(
            riverrun_store::Error::RunNotFound(_)
        ))
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn awaited_events_and_callbacks_are_shown() {
    let world = World::new().await;
    world.put("work", Value::Null, Does::Answers);
    world
        .register(
            "event",
            json!({"wait": with(step("work"), json!({"await": {
                "type": "event", "eventKind": "paid", "match": {"data.id": {"value": 7}}, "timeout": "24h",
            }}))}),
        )
        .await;
    world
        .register(
            "callback",
            json!({"ask": with(step("work"), json!({"await": {"type": "trigger", "triggerType": "user"}}))}),
        )
        .await;
    let run = world.start("event").await;
    let why = world.reason(&run, "await-event").await;
    has(
        &why["reasons"][0],
        json!({"step": "wait", "eventKind": "paid", "condition": {"match": {"data.id": 7}}}),
    );
    for member in ["awaitId", "since", "until"] {
        assert!(why["reasons"][0][member].is_string(), "{member}: {why:#}");
    }
    let run = world.start("callback").await;
    let why = world.reason(&run, "await-trigger").await;
    let reason = &why["reasons"][0];
    let id = reason["awaitId"].as_str().unwrap();
    has(
        reason,
        json!({"triggerType": "user", "url": format!("/approve/{id}"), "until": null}),
    );
    let said = reason["summary"].as_str().unwrap();
    let expected = format!("waits for somebody's answer at /approve/{id}, since");
    assert!(said.contains(&expected), "{said}");
    world.runtime.awaits().callback(id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backoff_of_a_failed_attempt_is_shown() {
    let world = World::new().await;
    let backoff = json!({"type": "fixed", "delayMs": HOUR_MS});
    let config = json!({"retryPolicy": {"attempts": 3, "backoff": backoff}});
    world.put("work", config, Does::Fails);
    world.register("f", json!({"pay": step("work")})).await;
    let run = world.start("f").await;
    let why = world.reason(&run, "backoff").await;
    let reason = &why["reasons"][0];
    has(
        reason,
        json!({"step": "pay", "attempt": 1, "status": "retrying"}),
    );
    has(
        &reason["error"],
        json!({"code": "CARD", "message": "declined"}),
    );
    has(
        &reason["job"],
        json!({"id": format!("{run}__pay"), "queue": "work", "state": "delayed"}),
    );
    assert!(reason["until"].is_string(), "{why:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reason_why_a_job_waits_in_its_queue_is_shown() {
    let world = World::new().await;
    for name in ["absent", "held", "full", "rated"] {
        world.register(name, json!({"do": step(name)})).await;
    }
    let run = world.start("absent").await;
    let why = world.reason(&run, "no-worker").await;
    has(
        &why["reasons"][0],
        json!({"process": "absent", "step": "do"}),
    );
    has(
        &why["reasons"][0]["job"],
        json!({"queue": "absent", "state": "waiting", "ahead": 0}),
    );

    world.put("held", Value::Null, Does::Answers);
    world.runtime.queues().pause("held", true).await.unwrap();
    let run = world.start("held").await;
    world.reason(&run, "queue-paused").await;
    world.runtime.queues().pause("held", false).await.unwrap();
    world.reason(&run, "ended").await;
    world.begins().await;

    world.put("full", json!({"concurrency": 1}), Does::Hangs);
    let first = world.start("full").await;
    world.begins().await;
    let why = world.reason(&first, "running").await;
    has(&why, json!({"moving": true}));
    let job = &why["reasons"][0]["job"];
    has(job, json!({"state": "active", "queue": "full"}));
    for member in ["owner", "leaseUntil"] {
        assert!(job[member].is_string(), "{member}: {why:#}");
    }
    assert!(why["reasons"][0]["since"].is_string(), "{why:#}");
    world.start("full").await;
    let third = world.start("full").await;
    let why = world.reason(&third, "concurrency").await;
    has(&why["reasons"][0], json!({"limit": 1, "active": 1}));
    has(&why["reasons"][0]["job"], json!({"ahead": 1}));

    world.put(
        "keyed",
        json!({"keyConcurrency": 1, "concurrency": 4}),
        Does::Hangs,
    );
    let add = async |key: &str| {
        let mut request = JobRequest::new(Json::of(&json!({})));
        request.options.key = Some(key.to_owned());
        let added = world
            .runtime
            .queues()
            .enqueue("keyed", vec![request], true)
            .await;
        added.unwrap()[0].id.clone()
    };
    add("ada").await;
    world.begins().await;
    let why = world.why(&add("ada").await).await;
    has(
        &why["reasons"][0],
        json!({"kind": "concurrency", "key": "ada", "limit": 1, "active": 1}),
    );

    let rate = json!({"rateLimit": {"max": 1, "durationMs": HOUR_MS}});
    world.put("rated", rate, Does::Answers);
    let first = world.start("rated").await;
    world.reason(&first, "ended").await;
    let second = world.start("rated").await;
    let why = world.reason(&second, "rate-limit").await;
    has(
        &why["reasons"][0],
        json!({"max": 1, "windowMs": HOUR_MS, "step": "do"}),
    );
    assert!(why["reasons"][0]["until"].is_string(), "{why:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_branches_and_running_steps_are_shown() {
    let world = World::new().await;
    let nap = json!({"type": "delay", "config": {"ms": HOUR_MS}});
    world.register("leaf", json!({"nap": nap})).await;
    world
        .register(
            "middle",
            json!({"sub": {"type": "sub-flow", "config": {"flowId": "leaf"}}}),
        )
        .await;
    world
        .register(
            "top",
            json!({"sub": {"type": "sub-flow", "config": {"flowId": "middle"}}}),
        )
        .await;
    let run = world.start("top").await;
    let why = world.reason(&run, "child").await;
    let child = &why["reasons"][0]["child"];
    let child_id = RunId::new(child["runId"].as_str().unwrap());
    world.reason(&child_id, "child").await;
    let leaf = world.why(&child_id).await["reasons"][0]["childId"].clone();
    let leaf = RunId::new(leaf.as_str().unwrap());
    world.reason(&leaf, "await-time").await;
    let why = world.why(&run).await;
    let below = &why["reasons"][0]["child"]["reasons"][0]["child"];
    has(below, json!({"runId": leaf.as_str(), "flow": "leaf"}));
    has(
        &below["reasons"][0],
        json!({"kind": "await-time", "step": "nap"}),
    );

    world
        .register(
            "fork",
            json!({
                "both": {"type": "parallel", "config": {"branches": ["one", "two"]}},
                "one": nap, "two": {"type": "set", "config": {"value": 1}},
            }),
        )
        .await;
    let run = world.start("fork").await;
    let why = world.reason(&run, "await-time").await;
    has(&why["reasons"][0], json!({"step": "one"}));
    has(
        &why["reasons"][1],
        json!({"kind": "branches", "step": "both", "total": 2, "ended": 1,
               "active": [{"index": 0, "step": "one", "visit": 1, "status": "waiting"}]}),
    );

    world
        .register("hang", json!({"stuck": {"type": "stuck"}}))
        .await;
    let run = world.start("hang").await;
    world.begins().await;
    let why = world.reason(&run, "running").await;
    has(&why, json!({"moving": true}));
    has(
        &why["reasons"][0],
        json!({"step": "stuck", "attempt": 1, "job": null}),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_a_queue_says_why_too() {
    let world = World::new().await;
    let jobs = vec![JobRequest::new(Json::of(&json!(1))); 2];
    let added = world
        .runtime
        .queues()
        .enqueue("mail", jobs, true)
        .await
        .unwrap();
    let why = world.why(&added[1].id).await;
    has(
        &why,
        json!({"kind": "job", "status": "waiting", "moving": false}),
    );
    has(&why["reasons"][0], json!({"kind": "no-worker"}));
    has(&why["reasons"][0]["job"], json!({"ahead": 1}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_does_not_load_is_shown_with_its_error() {
    let world = World::new().await;
    world.register("torn", json!({"do": step("torn")})).await;
    world.runtime.processes().put_broken(BrokenProcess {
        id: "torn".into(),
        queue: "torn".into(),
        file: None,
        language: None,
        mentions: Vec::new(),
        error: WorkError::new("MODULE_ERROR", "it does not parse"),
    });
    let run = world.start("torn").await;
    let why = world.reason(&run, "process-broken").await;
    let reason = &why["reasons"][0];
    has(reason, json!({"process": "torn", "step": "do"}));
    has(
        &reason["error"],
        json!({"code": "MODULE_ERROR", "message": "it does not parse"}),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_runs_or_has_ended() {
    let world = World::new().await;
    world.put("slow", Value::Null, Does::Hangs);
    let (id, cancel) = (RunId::new("c1"), Cancellation::default());
    let request = CallRequest {
        process: "slow".to_owned(),
        call_id: Some(id.clone()),
        cancel: cancel.clone(),
        ..CallRequest::default()
    };
    let runtime = world.runtime.clone();
    let called = tokio::spawn(async move { runtime.queues().call(request).await });
    world.begins().await;
    let why = world.why(&id).await;
    has(
        &why,
        json!({"kind": "call", "status": "running", "moving": true}),
    );
    has(&why["reasons"][0], json!({"kind": "running"}));
    assert!(why["reasons"][0]["since"].is_string(), "{why:#}");
    cancel.cancel(CancelReason::User);
    called.await.unwrap().unwrap_err();
    // The caller has its answer before the end is stored, and perhaps before anything is.
    let mut stream = world
        .runtime
        .streams()
        .tail(StreamName::new("call", "c1"), 0);
    let is_end = |event: &Event| event.kind.as_str() == "call.cancelled";
    loop {
        let is_over = match stream.next().await.unwrap() {
            Tailed::Read(events) => events.iter().any(is_end),
            Tailed::Live(batch) => batch.events.iter().any(is_end),
            Tailed::Missed(_) | Tailed::Gone => panic!("the stream is gone"),
        };
        if is_over {
            break;
        }
    }
    let why = world.why(&id).await;
    has(
        &why,
        json!({"kind": "call", "status": "cancelled", "moving": false}),
    );
    has(&why["reasons"][0], json!({"kind": "ended"}));
}

/// Workers elsewhere, of which none has room; or there is none.
struct Elsewhere(bool);

#[async_trait]
impl Provider for Elsewhere {
    async fn invoke(&self, _: Invocation) -> Result<Reply, WorkError> {
        Err(WorkError::new("NO_WORKER", "nobody is there"))
    }

    fn places(&self) -> Option<&dyn Places> {
        Some(self)
    }
}

impl Places for Elsewhere {
    fn take(&self, _: usize) -> ReservedPlaces {
        ReservedPlaces {
            count: 0,
            more: Box::pin(std::future::pending()),
        }
    }

    fn give_back(&self, _: usize) {}

    fn is_staffed(&self) -> bool {
        self.0
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_without_room_are_distinguished_from_workers_that_have_gone() {
    let world = World::new().await;
    for (name, is_staffed, expected) in [("busy", true, "no-room"), ("gone", false, "no-worker")] {
        world.runtime.queues().put_process(Process {
            id: name.into(),
            config: ProcessConfig::read(&Json::null(), name).ok().unwrap(),
            provider: Arc::new(Elsewhere(is_staffed)),
            source: Source::default(),
        });
        world.register(name, json!({"do": step(name)})).await;
        let run = world.start(name).await;
        let why = world.why(&run).await;
        has(&why["reasons"][0], json!({ "kind": expected }));
    }
}
