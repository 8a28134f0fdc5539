//! Queues and calls on a real embedded store: jobs from their add to every kind of end.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Frame, LogLevel, Reply, ReplyItem, WorkError};
use riverrun_runtime::{
    CallRequest, Invocation, JobRequest, Options, Process, ProcessConfig, Provider, Redrive,
    Runtime, Source,
};
use riverrun_store::{
    Change, ClaimJobs, Commit, EventQuery, JobRecord, JobState, Settle, Settled, Steer, Store,
    Wanted,
};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{EventType, Json, RunId, StreamName};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A number that no machine type holds.
const BIG: &str = "12345678901234567890123.4500";

const LONG: Duration = Duration::from_secs(20);

/// Handlers that do what the job's data says.
struct Scripted {
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let answer = run(&invocation).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

async fn run(invocation: &Invocation) -> Result<Reply, WorkError> {
    let Invocation {
        invoke,
        host,
        cancel,
    } = invocation;
    let speaks = |job: &riverrun_protocol::JobInput| {
        let input = job.input.as_ref().map(Json::value);
        input.and_then(|input| input["say"].as_str().map(str::to_owned))
    };
    if invoke.jobs.iter().any(|job| speaks(job).is_some()) {
        let mut results = Vec::new();
        for job in &invoke.jobs {
            let (id, say) = (job.job_id.clone().unwrap(), speaks(job).unwrap());
            results.push(say_of(host, &id, &say, job).await?);
        }
        let none = host.ask("state.getAll", Json::of(&json!({"jobId": "none"})));
        assert_eq!(none.await.unwrap_err().code, "JOB_NOT_FOUND");
        return Ok(Reply {
            results: Some(results),
            ..Reply::default()
        });
    }
    if !invoke.jobs.is_empty() {
        let results = invoke.jobs.iter().map(|job| match &job.input {
            Some(input) if input.as_str() == "13" => ReplyItem {
                error: Some(WorkError::new("UNLUCKY", "thirteen").permanent()),
                ..ReplyItem::default()
            },
            _ => ReplyItem {
                value: Some(Json::of(&invoke.jobs.len())),
                ..ReplyItem::default()
            },
        });
        return Ok(Reply {
            results: Some(results.collect()),
            ..Reply::default()
        });
    }
    let input = invoke.job.input.clone().unwrap_or_default().value();
    let ask = async |method: &str, params: Value| host.ask(method, Json::of(&params)).await;
    match input["do"].as_str().unwrap_or_default() {
        "fail" => Err(WorkError {
            retriable: input["retriable"].as_bool(),
            retry_after_ms: input["retryAfterMs"].as_u64(),
            name: input["name"].as_str().map(Into::into),
            ..WorkError::new(
                input["code"].as_str().unwrap_or("BROKEN"),
                "as it was told to",
            )
        }),
        "fail-once" if invoke.job.attempt == 1 => {
            ask("checkpoint", json!({"data": {"page": 3}})).await?;
            ask("memo", json!({"name": "charge", "value": 42})).await?;
            Err(WorkError::new("ONCE", "the first time"))
        }
        "fail-once" => value(json!({
            "checkpoint": invoke.job.checkpoint, "journal": invoke.job.journal,
        })),
        // As `ctx.run` does it.
        "charge" if invoke.job.journal.is_empty() => {
            ask("checkpoint", json!({"data": {"page": 3}})).await?;
            ask("memo", json!({"name": "charge", "value": 42})).await?;
            Err(WorkError::new("ONCE", "the first time"))
        }
        "charge" => value(json!({
            "checkpoint": invoke.job.checkpoint, "journal": invoke.job.journal,
        })),
        "hang" => {
            let reason = cancel.cancelled().await;
            Err(WorkError::new("CANCELLED", format!("{reason:?}")))
        }
        "late" => {
            cancel.cancelled().await;
            value(json!("what came too late"))
        }
        "chatter" => {
            for n in 0..input["lines"].as_u64().unwrap() {
                host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: format!("line {n}"),
                    meta: None,
                });
            }
            value(json!("said"))
        }
        "slow" => {
            tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().unwrap())).await;
            value(json!("slow"))
        }
        "talk" => {
            host.frame(Frame::Log {
                level: LogLevel::Warn,
                message: "it is hot".to_owned(),
                meta: None,
            });
            host.frame(Frame::Progress {
                pct: Some(50.0),
                detail: None,
            });
            ask("emit", json!({"type": "order.paid", "data": {"n": 1}})).await?;
            value(json!("said"))
        }
        "state" => {
            ask("state.set", json!({"key": "a.b", "value": 1})).await?;
            let batch = json!({"values": {"c": 2, "d": 3}});
            ask("state.setBatch", batch).await?;
            ask("state.delete", json!({"key": "d"})).await?;
            let seen = ask("state.getAll", json!({})).await?.value();
            let version = seen["version"].as_u64().unwrap();
            let old = json!({"key": "c", "value": 9, "ifVersion": version - 1});
            let refused = ask("state.set", old).await.unwrap_err();
            let held = json!({"key": "c", "value": 5, "ifVersion": version});
            ask("state.set", held).await?;
            let broken = ask("state.set", json!({"key": "c", "value": "x"})).await;
            let broken = broken.unwrap_err();
            let c = ask("state.get", json!({"key": "c"})).await?.value();
            let none = ask("state.get", json!({"key": "z"})).await?.value();
            value(json!({
                "state": seen["state"], "refused": refused.code, "broken": broken.code,
                "c": c["value"], "none": none.get("value").is_none(),
            }))
        }
        "big" => {
            let text = format!(r#"{{"key":"n","value":{BIG}}}"#);
            let params = Json::parse_text(text).unwrap();
            host.ask("state.set", params).await?;
            host.frame(Frame::Partial {
                path: None,
                value: Json::parse_text(BIG.to_owned()).unwrap(),
            });
            Ok(reply(
                host.ask("state.get", Json::of(&json!({"key": "n"})))
                    .await?,
            ))
        }
        "meet" => {
            let said = ask("state.set", json!({"key": "at", "value": "the gate"})).await?;
            ask("memo", json!({"name": "look", "value": 7})).await?;
            ask("emit", json!({"type": "guest.came", "data": {"n": 1}})).await?;
            host.frame(Frame::Log {
                level: LogLevel::Info,
                message: "waits".to_owned(),
                meta: None,
            });
            let kept = ask("checkpoint", json!({"data": 1})).await.unwrap_err();
            let own = ask("emit", json!({"type": "call.completed"})).await;
            let called = json!({"process": "work", "input": {"do": "state"}});
            let state = ask("state.getAll", json!({})).await?.value();
            let mut called = ask("call", called).await?.value();
            if input["wait"] == true {
                cancel.cancelled().await;
            }
            value(json!({
                "version": said.value()["version"], "state": state["state"],
                "checkpoint": kept.code, "own": own.unwrap_err().code,
                "lease": ask("lease", json!({})).await?.value()["valid"],
                "called": called["value"]["c"].take(),
            }))
        }
        "enqueue" => {
            let added = json!({"queue": "other", "data": 7, "options": {"priority": 1}});
            Ok(reply(ask("enqueue", added).await?))
        }
        "at-once" => {
            let mut asked = Vec::new();
            for n in 0..10 {
                asked.push(ask("emit", json!({"type": "item", "data": n})));
                asked.push(ask("state.set", json!({"key": "last", "value": n})));
                asked.push(ask("enqueue", json!({"queue": "other", "data": n})));
            }
            asked.push(ask("state.get", json!({"key": "last"})));
            let answers = futures::future::try_join_all(asked).await?;
            value(answers.last().unwrap().value()["value"].clone())
        }
        "enqueue-many" => Ok(reply(ask("enqueue", json!({"jobs": input["jobs"]})).await?)),
        _ => Ok(reply(Json::of(&input))),
    }
}

/// One job of a batch: it says something of its own, fails, and tells the next time what it kept.
async fn say_of(
    host: &Arc<dyn riverrun_runtime::Host>,
    id: &str,
    say: &str,
    job: &riverrun_protocol::JobInput,
) -> Result<ReplyItem, WorkError> {
    if job.attempt > 1 {
        let kept = json!({"checkpoint": job.checkpoint, "journal": job.journal});
        return Ok(ReplyItem {
            value: Some(Json::of(&kept)),
            ..ReplyItem::default()
        });
    }
    let detail = Some(Json::of(&say));
    host.frame_of(
        id,
        Frame::Progress {
            pct: Some(5.0),
            detail,
        },
    );
    for (method, params) in [
        (
            "state.set",
            json!({"jobId": id, "key": "said", "value": say}),
        ),
        ("checkpoint", json!({"jobId": id, "data": say})),
        ("memo", json!({"jobId": id, "name": "said", "value": say})),
    ] {
        host.ask(method, Json::of(&params)).await?;
    }
    Ok(ReplyItem {
        error: Some(WorkError::new("AGAIN", "once more")),
        ..ReplyItem::default()
    })
}

fn reply(value: Json) -> Reply {
    Reply {
        value: Some(value),
        ..Reply::default()
    }
}

fn value(value: Value) -> Result<Reply, WorkError> {
    Ok(reply(Json::of(&value)))
}

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    most: Arc<AtomicUsize>,
}

impl World {
    /// A runtime with the process `work` on the queue `work`.
    async fn new(config: Value) -> Self {
        Self::on(SqliteStore::memory().unwrap(), config).await
    }

    async fn on(store: Arc<dyn Store>, config: Value) -> Self {
        let world = Self::bare(store, Duration::from_millis(600)).await;
        world.put("work", config);
        world
    }

    /// A runtime without a process.
    async fn bare(store: Arc<dyn Store>, lease: Duration) -> Self {
        let options = Options {
            grace: Duration::from_millis(50),
            lease,
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store.clone(), sandbox, [], options)
            .await
            .unwrap();
        Self {
            runtime,
            store,
            most: Arc::default(),
        }
    }

    fn put(&self, id: &str, config: Value) {
        let config = ProcessConfig::read(&Json::of(&config), id);
        self.runtime.put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Arc::new(Scripted {
                running: Arc::default(),
                most: self.most.clone(),
            }),
            source: Source::default(),
        });
    }

    async fn add(&self, request: Value) -> RunId {
        self.add_all(json!([request])).await.remove(0)
    }

    async fn add_all(&self, requests: Value) -> Vec<RunId> {
        self.add_to("work", requests).await
    }

    async fn add_to(&self, queue: &str, requests: Value) -> Vec<RunId> {
        let requests: Vec<JobRequest> = serde_json::from_value(requests).unwrap();
        let added = self.runtime.enqueue(queue, requests, false).await.unwrap();
        added.into_iter().map(|added| added.id).collect()
    }

    /// Waits until the job is in a state.
    async fn until(&self, job: &RunId, states: &[JobState]) -> JobRecord {
        let seen = async {
            loop {
                let record = self.runtime.job(job).await.unwrap();
                if states.contains(&record.state) {
                    return record;
                }
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        tokio::time::timeout(LONG, seen)
            .await
            .expect("the job did not get there")
    }

    async fn end(&self, job: &RunId) -> JobRecord {
        let ends = [JobState::Completed, JobState::Failed, JobState::Cancelled];
        self.until(job, &ends).await
    }

    async fn events(&self, kind: &str, id: &RunId) -> Vec<String> {
        let stream = StreamName::new(kind, id.as_str());
        let query = EventQuery::forward(0, 1_000);
        let events = self.store.events(&stream, &query).await.unwrap();
        events.iter().map(|event| event.kind.to_string()).collect()
    }
}

fn quick(attempts: u32) -> Value {
    json!({"attempts": attempts, "backoff": {"type": "fixed", "delayMs": 5}})
}

fn code(record: &JobRecord) -> String {
    let error = record.error.as_ref().unwrap().value();
    error["code"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_run_and_its_result_kept() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"n": 1}, "name": "first"})).await;
    let record = world.end(&job).await;
    assert_eq!(record.state, JobState::Completed);
    assert_eq!(record.result.unwrap().value(), json!({"n": 1}));
    assert_eq!((record.attempt, record.name.as_deref()), (1, Some("first")));
    let view = world.runtime.queue("work").await.unwrap();
    assert_eq!((view.stats.completed, view.record.completed), (1, 1));
    assert_eq!(view.process.as_deref(), Some("work"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_tried_again_and_then_a_dead_letter() {
    let world = World::new(json!({"retryPolicy": quick(3)})).await;
    let job = world.add(json!({"data": {"do": "fail"}})).await;
    let record = world.end(&job).await;
    assert_eq!((record.state, record.attempt), (JobState::Failed, 3));
    assert_eq!(code(&record), "BROKEN");
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "job.waiting",
            "job.active",
            "job.waiting",
            "job.active",
            "job.failed"
        ]
    );
    // One that says so, or that the policy does not list, is not tried again.
    let job = world
        .add(json!({"data": {"do": "fail", "retriable": false}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 1);
    let job = world
        .add(json!({"data": {"do": "fail"}, "options": {"retriableErrors": ["OTHER"]}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 1);
    let job = world
        .add(json!({"data": {"do": "fail"}, "options": {"attempts": 2}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_attempt_gets_checkpoint_and_journal() {
    let world = World::new(json!({"retryPolicy": quick(2)})).await;
    let job = world.add(json!({"data": {"do": "fail-once"}})).await;
    let record = world.end(&job).await;
    assert_eq!(
        record.result.unwrap().value(),
        json!({"checkpoint": {"page": 3}, "journal": [{"op": "memo", "name": "charge", "value": 42}]})
    );
    assert_eq!(record.error, None, "what went wrong before is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redriven_job_goes_on_and_one_that_ended_well_begins_anew() {
    let world = World::new(json!({"retryPolicy": quick(1)})).await;
    let job = world.add(json!({"data": {"do": "charge"}})).await;
    assert_eq!(world.end(&job).await.state, JobState::Failed);
    let again = async || {
        let steered = world.runtime.steer(&job, Steer::Retry { at_ms: 0 }).await;
        steered.unwrap();
    };
    // Its first attempt once more: what it has done it need not do again.
    again().await;
    let record = world.until(&job, &[JobState::Completed]).await;
    assert_eq!(record.attempt, 1);
    assert_eq!(
        record.result.unwrap().value(),
        json!({"checkpoint": {"page": 3}, "journal": [{"op": "memo", "name": "charge", "value": 42}]})
    );
    // What has ended well is to be done once more, from its beginning.
    again().await;
    world.until(&job, &[JobState::Failed]).await;
    let memos = world.events("job", &job).await;
    let memos = memos.iter().filter(|kind| *kind == "step.memo").count();
    assert_eq!(memos, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_jobs_go_where_the_process_says() {
    let world = World::new(json!({
        "retryPolicy": {"attempts": 1}, "dlq": {"queue": "morgue"},
    }))
    .await;
    let told = json!({"tenantId": "acme", "tags": ["red"]});
    let failing = json!({"data": {"do": "fail"}, "options": told});
    let job = world.add(failing).await;
    world.end(&job).await;
    let filter = riverrun_store::JobFilter {
        queue: "morgue".into(),
        limit: 10,
        ..Default::default()
    };
    let dead = world.runtime.jobs(&filter).await.unwrap().items.remove(0);
    let options = dead.options.unwrap().value();
    assert_eq!(options["metadata"]["deadLetterOf"]["jobId"], json!(job));
    assert_eq!(
        (&options["tenantId"], &options["tags"]),
        (&told["tenantId"], &told["tags"])
    );
    assert_eq!(dead.name.as_deref(), Some("work"));
    world.put(
        "work",
        json!({"retryPolicy": {"attempts": 1, "onFail": "drop"}}),
    );
    let job = world.add(json!({"data": {"do": "fail"}})).await;
    let gone = async {
        while world.runtime.job(&job).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_takes_too_long_is_stopped() {
    let world = World::new(json!({"timeoutMs": 30, "retryPolicy": {"attempts": 1}})).await;
    let job = world.add(json!({"data": {"do": "hang"}})).await;
    let record = world.end(&job).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Failed, "TIMEOUT")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_job_is_cancelled_and_a_waiting_one_too() {
    let world = World::new(json!({"concurrency": 1})).await;
    let runs = world.add(json!({"data": {"do": "hang"}})).await;
    world.until(&runs, &[JobState::Active]).await;
    let waits = world.add(json!({"data": {}})).await;
    let cancel = || Steer::Cancel {
        reason: Some("enough".to_owned()),
    };
    world.runtime.steer(&waits, cancel()).await.unwrap();
    assert_eq!(world.end(&waits).await.state, JobState::Cancelled);
    world.runtime.steer(&runs, cancel()).await.unwrap();
    let record = world.end(&runs).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Cancelled, "CANCELLED")
    );
    assert_eq!(record.error.unwrap().value()["message"], "enough");
}

/// A batch that goes on when it is let.
struct Gated {
    began: Arc<Notify>,
    gate: Arc<Notify>,
}

#[async_trait]
impl Provider for Gated {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        self.began.notify_one();
        tokio::select! {
            () = self.gate.notified() => Ok(reply(Json::of(&"done"))),
            reason = invocation.cancel.cancelled() => {
                Err(WorkError::new("CANCELLED", format!("{reason:?}")))
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_job_of_a_batch_is_cancelled_and_the_others_go_on() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let (began, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let config = json!({"batch": {"size": 2, "waitMs": 10_000}, "retryPolicy": {"attempts": 1}});
    world.runtime.put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Gated {
            began: began.clone(),
            gate: gate.clone(),
        }),
        source: Source::default(),
    });
    let cancel = |reason: &str| Steer::Cancel {
        reason: Some(reason.to_owned()),
    };
    let jobs = world.add_all(json!([{"data": 1}, {"data": 2}])).await;
    tokio::time::timeout(LONG, began.notified()).await.unwrap();
    let steered = world.runtime.steer(&jobs[0], cancel("not this one")).await;
    steered.unwrap();
    gate.notify_one();
    let ends = [world.end(&jobs[0]).await, world.end(&jobs[1]).await];
    let states = ends.each_ref().map(|end| end.state);
    assert_eq!(states, [JobState::Cancelled, JobState::Completed]);
    let error = ends[0].error.as_ref().unwrap().value();
    assert_eq!(
        error,
        json!({"code": "CANCELLED", "message": "not this one"})
    );
    // Once nobody wants any of them, the handler is told.
    let jobs = world.add_all(json!([{"data": 1}, {"data": 2}])).await;
    tokio::time::timeout(LONG, began.notified()).await.unwrap();
    for job in &jobs {
        world.runtime.steer(job, cancel("none")).await.unwrap();
    }
    for job in &jobs {
        assert_eq!(world.end(job).await.state, JobState::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_without_a_key_has_a_lane_of_its_own() {
    let world = World::new(json!({"concurrency": 1})).await;
    world.runtime.pause_queue("work", true).await.unwrap();
    let of = |tenant: &str| json!({"data": {}, "options": {"tenantId": tenant}});
    let jobs = world
        .add_all(json!([of("big"), of("big"), of("big"), of("small")]))
        .await;
    let own = json!({"data": {}, "options": {"tenantId": "big", "key": "own"}});
    let own = world.add(own).await;
    let key = async |job: &RunId| world.runtime.job(job).await.unwrap().key;
    assert_eq!(key(&jobs[0]).await.as_deref(), Some("big"));
    assert_eq!(key(&own).await.as_deref(), Some("own"));
    world.runtime.pause_queue("work", false).await.unwrap();
    let mut ends = Vec::new();
    for job in &jobs {
        ends.push(world.end(job).await.started_ms);
    }
    assert!(ends[3] <= ends[2], "the small tenant waits for the big one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_retriable_by_its_code_or_its_name() {
    let world = World::new(json!({"retryPolicy": {
        "attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}, "retriableErrors": ["TypeError"],
    }}))
    .await;
    for (name, attempts) in [("TypeError", 2), ("RangeError", 1)] {
        let job = world
            .add(json!({"data": {"do": "fail", "name": name}}))
            .await;
        assert_eq!(world.end(&job).await.attempt, attempts, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_worker_died_is_tried_again_or_fails() {
    let store = SqliteStore::memory().unwrap();
    let first = World::on(store.clone(), json!({})).await;
    let again = first.add(json!({"data": {"do": "hang"}})).await;
    let last = first
        .add(json!({"data": {"do": "hang"}, "options": {"attempts": 1}}))
        .await;
    first.until(&again, &[JobState::Active]).await;
    first.until(&last, &[JobState::Active]).await;
    // Another owner takes the store over: what the first one held has run out.
    let second = World::on(store, json!({})).await;
    let record = second.end(&last).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Failed, "JOB_STALLED")
    );
    let record = second.until(&again, &[JobState::Active]).await;
    assert_eq!(record.attempt, 2);
    // What the dead left behind is counted as well.
    let counted = async {
        loop {
            let stats = second.runtime.queue("work").await.unwrap().stats;
            if (stats.failed, stats.retried) == (1, 1) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, counted).await.unwrap();
    // The first one cannot record anything any more; it is told so and gives up.
    second
        .runtime
        .steer(&again, Steer::Cancel { reason: None })
        .await
        .unwrap();
    assert_eq!(second.end(&again).await.state, JobState::Cancelled);
}

/// Asks whether its lease holds when it is let, and once more when it is told to stop.
struct Doubting {
    gate: Arc<Notify>,
    told: tokio::sync::mpsc::UnboundedSender<Value>,
    has_begun: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Provider for Doubting {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        if self.has_begun.swap(true, Ordering::SeqCst) {
            return value(json!("the second one"));
        }
        let ask = async || {
            let asked = invocation.host.ask("lease", Json::of(&json!({}))).await;
            asked.unwrap().value()["valid"].clone()
        };
        for _ in 0..2 {
            self.gate.notified().await;
            self.told.send(ask().await).unwrap();
        }
        let reason = invocation.cancel.cancelled().await;
        self.told.send(json!(format!("{reason:?}"))).unwrap();
        self.told.send(ask().await).unwrap();
        value(json!("the first one"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_lost_a_job_is_told() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let gate = Arc::new(Notify::new());
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    world.runtime.put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::null(), "work").ok().unwrap(),
        provider: Arc::new(Doubting {
            gate: gate.clone(),
            told,
            has_begun: Default::default(),
        }),
        source: Source::default(),
    });
    let job = world.add(json!({})).await;
    let mut heard = async || tokio::time::timeout(LONG, hear.recv()).await.unwrap();
    gate.notify_one();
    assert_eq!(heard().await, Some(json!(true)));
    // It is taken away, and its lease is left.
    world.runtime.pause_queue("work", true).await.unwrap();
    let held = world.store.stalled_jobs(i64::MAX, 1).await.unwrap();
    let taken = Change::Settle(Box::new(Settle {
        lease: held.0[0].job.lease.clone(),
        now_ms: 0,
        if_expired: false,
        outcome: Settled::Released,
    }));
    let taken = world.store.commit([Commit::of(taken)].into()).await;
    assert!(taken.iter().all(Result::is_ok));
    gate.notify_one();
    assert_eq!(heard().await, Some(json!(false)));
    // Somebody takes it up again: here, where the first one still runs.
    world.runtime.pause_queue("work", false).await.unwrap();
    assert_eq!(heard().await, Some(json!("LeaseLost")));
    assert_eq!(heard().await, Some(json!(false)));
    let record = world.end(&job).await;
    assert_eq!(record.result.unwrap().value(), json!("the second one"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_here_has_not_stalled_however_late_its_lease_is_renewed() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    world.put("work", json!({"retryPolicy": {"attempts": 1}}));
    world.runtime.pause_queue("work", true).await.unwrap();
    let job = world.add(json!({"data": {"do": "hang"}})).await;
    world.runtime.pause_queue("work", false).await.unwrap();
    world.until(&job, &[JobState::Active]).await;
    // Of a queue that nobody here knows yet, held by somebody who is gone.
    let requests: Vec<JobRequest> = serde_json::from_value(json!([{"data": {}}])).unwrap();
    let gone = world
        .runtime
        .enqueue("other", requests, true)
        .await
        .unwrap();
    let claim = ClaimJobs {
        queue: "other".into(),
        owner: "gone".into(),
        limit: 1,
        now_ms: 1,
        until_ms: 2,
        limits: Default::default(),
    };
    world.store.claim_jobs(claim).await.unwrap();
    // The machine has slept: by now every lease has run out.
    world.store.reclaim().await.unwrap();
    world.put("other", Value::Null);
    assert_eq!(world.end(&gone[0].id).await.attempt, 2);
    let record = world.runtime.job(&job).await.unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Active, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_job_is_judged_by_its_process_which_may_come_later() {
    let lease = Duration::from_secs(30);
    let store = SqliteStore::memory().unwrap();
    let first = World::bare(store.clone(), lease).await;
    let once = json!({"retryPolicy": {"attempts": 1}, "dlq": {"queue": "dead"}});
    first.put("work", once.clone());
    first.put("other", once.clone());
    let hang = json!([{"data": {"do": "hang"}}]);
    let work = first.add_to("work", hang.clone()).await.remove(0);
    let other = first.add_to("other", hang).await.remove(0);
    first.until(&work, &[JobState::Active]).await;
    first.until(&other, &[JobState::Active]).await;
    // A server starts anew, and its processes are loaded one after the other.
    let second = World::bare(store, lease).await;
    second.put("other", once.clone());
    assert_eq!(second.end(&other).await.state, JobState::Failed);
    let record = second.runtime.job(&work).await.unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Active, 1));
    second.put("work", once);
    let record = second.end(&work).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Failed, "JOB_STALLED")
    );
    let letters = second.runtime.queue("dead").await.unwrap();
    assert_eq!(letters.record.waiting, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_hands_back_what_it_cannot_finish() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap();
    let world = World::on(open(), json!({})).await;
    let hangs = world.add(json!({"data": {"do": "hang"}})).await;
    let ends = world.add(json!({"data": {"do": "slow", "ms": 30}})).await;
    world.until(&hangs, &[JobState::Active]).await;
    world
        .until(&ends, &[JobState::Active, JobState::Completed])
        .await;
    world.runtime.shutdown().await.unwrap();
    drop(world);
    let store = open();
    let record = store.job(&hangs).await.unwrap().unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Waiting, 0));
    let record = store.job(&ends).await.unwrap().unwrap();
    assert_eq!(record.state, JobState::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_run_at_once_than_may() {
    let world = World::new(json!({"concurrency": 3})).await;
    let data = json!({"data": {"do": "slow", "ms": 10}});
    let jobs = world.add_all(json!(vec![data; 20])).await;
    for job in &jobs {
        assert_eq!(world.end(job).await.state, JobState::Completed);
    }
    assert_eq!(world.most.load(Ordering::SeqCst), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_says_is_in_the_jobs_stream() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"do": "talk"}})).await;
    world.end(&job).await;
    // What was said before the event was emitted stands before it.
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "log.warn",
            "job.progress",
            "order.paid",
            "job.completed",
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_has_state_that_its_schema_guards() {
    let world = World::new(json!({
        "state": {"type": "object", "properties": {"c": {"type": "number"}}},
    }))
    .await;
    let job = world.add(json!({"data": {"do": "state"}})).await;
    assert_eq!(
        world.end(&job).await.result.unwrap().value(),
        json!({
            "state": {"a": {"b": 1}, "c": 2}, "refused": "STATE_CONFLICT",
            "broken": "STATE_INVALID", "c": 5, "none": true,
        })
    );
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "state.set",
            "state.batch",
            "state.delete",
            "state.set",
            "job.completed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_number_is_rounded_on_its_way() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"do": "big"}})).await;
    let result = world.end(&job).await.result.unwrap();
    assert!(result.as_str().contains(BIG), "{result:?}");
    let stream = StreamName::new("job", job.as_str());
    let query = EventQuery::forward(0, 10);
    for event in world.store.events(&stream, &query).await.unwrap() {
        if !matches!(event.kind, EventType::JobAdded | EventType::JobActive) {
            let data = event.data.unwrap();
            assert!(data.as_str().contains(BIG), "{data:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_adds_jobs_that_know_where_they_come_from() {
    let world = World::new(Value::Null).await;
    world.put("other", Value::Null);
    let job = world
        .add(json!({"data": {"do": "enqueue"}, "options": {"correlationId": "story-1"}}))
        .await;
    let added = world.end(&job).await.result.unwrap().value();
    let child = RunId::new(added["jobs"][0]["jobId"].as_str().unwrap());
    let child = world.end(&child).await;
    let options = child.options.unwrap().value();
    assert_eq!(options["causationId"], json!(job));
    assert_eq!(options["correlationId"], "story-1");
    assert_eq!(child.priority, 1);
    // A job of which nobody said where it belongs begins a story of its own.
    let first = world.add(json!({"data": {"do": "enqueue"}})).await;
    let added = world.end(&first).await.result.unwrap().value();
    let child = RunId::new(added["jobs"][0]["jobId"].as_str().unwrap());
    let options = world.end(&child).await.options.unwrap().value();
    assert_eq!(options["correlationId"], json!(first));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_asks_at_once_is_taken_in_the_order_in_which_it_was_asked() {
    let world = World::new(Value::Null).await;
    // A queue that no process here takes: the store is asked whether it is there.
    let first = serde_json::from_value(json!([{"data": "first"}])).unwrap();
    let made = world.runtime.enqueue("other", first, true).await;
    assert!(made.is_ok());
    let job = world.add(json!({"data": {"do": "at-once"}})).await;
    let ended = world.end(&job).await;
    assert_eq!(
        ended.result.unwrap().value(),
        9,
        "a read sees what was written before it"
    );
    let stream = StreamName::new("job", job.as_str());
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let own = |event: &riverrun_types::Event| match event.kind.as_str() {
        "item" => Some(("item", event.data.as_ref()?.value())),
        "state.set" => Some(("set", event.data.as_ref()?.value()["value"].clone())),
        _ => None,
    };
    let seen: Vec<_> = events.iter().filter_map(own).collect();
    let expected = (0..10).flat_map(|n| [("item", json!(n)), ("set", json!(n))]);
    assert_eq!(seen, expected.collect::<Vec<_>>());
    let filter = riverrun_store::JobFilter {
        queue: "other".into(),
        states: vec![JobState::Waiting],
        wanted: riverrun_store::Wanted::default(),
        limit: 100,
        cursor: None,
    };
    let waiting = world.runtime.jobs(&filter).await.unwrap().items;
    let data = |job: &JobRecord| job.data.value();
    let mut seen: Vec<Value> = waiting.iter().map(data).collect();
    if seen.last() == Some(&json!("first")) {
        seen.reverse();
    }
    assert_eq!(
        seen,
        json!(["first", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
            .as_array()
            .unwrap()[..]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_adds_jobs_to_several_queues_all_or_none() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    world.put("other", Value::Null);
    let many = |jobs: Value| json!({"data": {"do": "enqueue-many", "jobs": jobs}});
    let job = world
        .add(many(
            json!([{"queue": "work", "data": 7}, {"queue": "other", "name": "sent", "data": 8}]),
        ))
        .await;
    let added = world.end(&job).await.result.unwrap().value();
    let id = |at: usize| RunId::new(added["jobs"][at]["jobId"].as_str().unwrap());
    let (first, second) = (world.end(&id(0)).await, world.end(&id(1)).await);
    assert_eq!((&*first.queue, &*second.queue), ("work", "other"));
    assert_eq!(second.name.as_deref(), Some("sent"));
    for (jobs, expected) in [
        (
            json!([{"queue": "other", "data": 1}, {"queue": "nobody", "data": 2}]),
            "QUEUE_NOT_FOUND",
        ),
        (
            json!([{"queue": "other", "data": 1}, {"data": 2}]),
            "BAD_REQUEST",
        ),
    ] {
        let job = world.add(many(jobs)).await;
        assert_eq!(code(&world.end(&job).await), expected);
    }
    let other = world.runtime.queue("other").await.unwrap().record;
    assert_eq!((other.completed, other.waiting), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_one_invocation_with_a_result_for_each() {
    let world = World::new(json!({
        "batch": {"size": 4, "waitMs": 40}, "retryPolicy": {"attempts": 1},
    }))
    .await;
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 13}, {"data": 3}, {"data": 4}, {"data": 5}]))
        .await;
    let mut ends = Vec::new();
    for job in &jobs {
        ends.push(world.end(job).await);
    }
    let results: Vec<Option<Value>> = ends
        .iter()
        .map(|end| end.result.as_ref().map(Json::value))
        .collect();
    let four = Some(json!(4));
    assert_eq!(
        results,
        [four.clone(), None, four.clone(), four, Some(json!(1))]
    );
    assert_eq!(code(&ends[1]), "UNLUCKY");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_filled_however_few_jobs_may_run_at_once() {
    let world = World::new(json!({"concurrency": 1, "batch": {"size": 3, "waitMs": 10_000}})).await;
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 2}, {"data": 3}]))
        .await;
    for job in &jobs {
        let result = world.end(job).await.result.unwrap();
        assert_eq!(result.value(), json!(3), "jobs in the batch");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_job_of_a_batch_takes_longer_than_it_may() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    let config = json!({"batch": {"size": 2, "waitMs": 10_000}, "retryPolicy": {"attempts": 1}});
    world.runtime.put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Gated {
            began: Arc::default(),
            gate: Arc::default(),
        }),
        source: Source::default(),
    });
    let jobs = world
        .add_all(json!([{"data": 1}, {"data": 2, "options": {"timeoutMs": 20}}]))
        .await;
    for job in &jobs {
        assert_eq!(code(&world.end(job).await), "TIMEOUT");
    }
}

/// Fails, whatever it is given.
struct Failing;

#[async_trait]
impl Provider for Failing {
    async fn invoke(&self, _: Invocation) -> Result<Reply, WorkError> {
        Err(WorkError::new("BROKEN", "as always"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_tried_again_at_once_costs_the_others_of_its_batch_nothing() {
    let world = World::bare(SqliteStore::memory().unwrap(), 10 * LONG).await;
    let config = json!({
        "batch": {"size": 8}, "concurrency": 16,
        "retryPolicy": {"attempts": 5, "backoff": {"type": "fixed", "delayMs": 0}},
    });
    world.runtime.put_process(Process {
        id: "work".into(),
        config: ProcessConfig::read(&Json::of(&config), "work")
            .ok()
            .unwrap(),
        provider: Arc::new(Failing),
        source: Source::default(),
    });
    let jobs = world.add_all(Value::from(vec![json!({}); 64])).await;
    for job in &jobs {
        let record = world.end(job).await;
        assert_eq!((record.state, record.attempt), (JobState::Failed, 5));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_job_of_a_batch_has_a_voice_of_its_own() {
    let world = World::new(json!({
        "batch": {"size": 2, "waitMs": 1_000}, "retryPolicy": quick(2),
    }))
    .await;
    let jobs = world
        .add_all(json!([{"data": {"say": "one"}}, {"data": {"say": "two"}}]))
        .await;
    for (job, say) in jobs.iter().zip(["one", "two"]) {
        let end = world.end(job).await;
        let memo = json!({"op": "memo", "name": "said", "value": say});
        assert_eq!(
            end.result.unwrap().value(),
            json!({"checkpoint": say, "journal": [memo]})
        );
        assert_eq!(
            end.progress.unwrap().value(),
            json!({"pct": 5.0, "detail": say})
        );
        let mut kinds = world.events("job", job).await;
        kinds.sort();
        assert_eq!(
            kinds,
            [
                "job.active",
                "job.active",
                "job.added",
                "job.completed",
                "job.progress",
                "job.waiting",
                "state.set",
                "step.memo"
            ]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_deduplicated_throttled_and_debounced() {
    let world = World::new(json!({"concurrency": 1})).await;
    world.runtime.pause_queue("work", true).await.unwrap();
    let add = async |options: Value, data: i64| {
        world.add(json!({"data": data, "options": options})).await
    };
    let same = async |options: Value| {
        let (first, second) = (add(options.clone(), 1).await, add(options, 2).await);
        first == second
    };
    assert!(same(json!({"jobId": "mine"})).await);
    assert!(same(json!({"idempotencyKey": "k"})).await);
    assert!(same(json!({"dedupe": {"key": "d"}})).await);
    assert!(same(json!({"throttle": {"windowMs": 60_000}})).await);
    assert!(!same(json!({})).await);
    let debounced = json!({"debounce": {"delayMs": 30}});
    let first = add(debounced.clone(), 1).await;
    assert_eq!(first, add(debounced, 2).await);
    world.runtime.pause_queue("work", false).await.unwrap();
    assert_eq!(world.end(&first).await.result.unwrap().value(), json!(2));
    world.put("work", json!({"idempotencyKey": "auto"}));
    assert_eq!(add(json!({}), 5).await, add(json!({}), 5).await);
    world.put(
        "work",
        json!({"idempotencyKey": {"$function": "(input) => 'n' + input % 10"}}),
    );
    assert_eq!(add(json!({}), 16).await, add(json!({}), 26).await);
    assert_ne!(add(json!({}), 16).await, add(json!({}), 17).await);
    // What a job says itself holds instead.
    let own = |key: &str| json!({"dedupe": {"key": key, "windowMs": 60_000}});
    assert_ne!(add(own("a"), 16).await, add(own("b"), 16).await);
    assert_eq!(add(own("a"), 1).await, add(own("a"), 2).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_user_does_not_take_the_place_of_another() {
    let world = World::new(json!({"key": "input.user", "debounce": {"delayMs": 60_000}})).await;
    let add = async |user: &str| world.add(json!({"data": {"user": user}})).await;
    let first = add("a").await;
    assert_ne!(first, add("b").await);
    assert_eq!(first, add("a").await);
    world.put(
        "work",
        json!({"throttle": {"windowMs": 60_000, "key": "input.user"}}),
    );
    let first = add("a").await;
    assert_ne!(first, add("b").await);
    assert_eq!(first, add("a").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_data_is_one_job_and_no_digit_is_lost() {
    let world = World::new(json!({"idempotencyKey": "auto"})).await;
    let add = async |data: &str| {
        let request = JobRequest::new(Json::parse_text(data.to_owned()).unwrap());
        let added = world.runtime.enqueue("work", vec![request], false).await;
        added.unwrap().remove(0).id
    };
    let first = add(r#"{"a": 1, "b": [2]}"#).await;
    assert_eq!(first, add(r#"{"b":[2.0],"a":1}"#).await);
    let big = add("12345678901234567890123").await;
    assert_ne!(big, add("12345678901234567890124").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idempotency_key_may_have_a_window() {
    let world = World::new(Value::Null).await;
    let keyed =
        |ms: u64| json!({"data": 1, "options": {"idempotency": {"key": "k", "windowMs": ms}}});
    let first = world.add(keyed(60_000)).await;
    assert_eq!(first, world.add(keyed(60_000)).await);
    world.put(
        "work",
        json!({"idempotency": {"key": "auto", "windowMs": 1}}),
    );
    let first = world.add(json!({"data": 2})).await;
    let over = async {
        while world.add(json!({"data": 2})).await == first {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, over).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_letters_are_redriven() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    let jobs = world
        .add_all(json!(vec![json!({"data": {"do": "fail"}}); 3]))
        .await;
    for job in &jobs {
        world.end(job).await;
    }
    world.runtime.pause_queue("work", true).await.unwrap();
    let two = Redrive {
        most: Some(2),
        ..Redrive::default()
    };
    let redriven = world.runtime.redrive("work", two).await.unwrap();
    assert_eq!((redriven.redriven, redriven.goes_on), (2, false));
    let view = world.runtime.queue("work").await.unwrap();
    assert_eq!((view.record.waiting, view.record.failed), (2, 1));
    assert_eq!(world.runtime.drain_queue("work", true).await.unwrap(), 2);
    let over = i64::MAX;
    let purged = world
        .runtime
        .purge("work", JobState::Failed, over, None)
        .await;
    assert_eq!(purged.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_letter_that_fails_again_is_redriven_once() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    let jobs = world
        .add_all(json!(vec![json!({"data": {"do": "fail"}}); 700]))
        .await;
    for job in &jobs {
        world.end(job).await;
    }
    let redrive = world.runtime.redrive("work", Redrive::default());
    let redriven = tokio::time::timeout(LONG, redrive).await.unwrap().unwrap();
    assert_eq!(redriven.redriven, 700);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_chooses_dead_letters() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    let letter = |code: &str, name: &str, options: Value| json!({"name": name, "data": {"do": "fail", "code": code}, "options": options});
    let jobs = world
        .add_all(json!([
            letter("A", "one", json!({"tags": ["t", "u"]})),
            letter("B", "one", json!({"key": "k"})),
            letter("B", "two", json!({})),
        ]))
        .await;
    let mut last = 0;
    for job in &jobs {
        last = last.max(world.end(job).await.ended_ms.unwrap());
    }
    world.runtime.pause_queue("work", true).await.unwrap();
    let redrive = async |wanted: Wanted| {
        let redrive = Redrive {
            wanted,
            ..Redrive::default()
        };
        world
            .runtime
            .redrive("work", redrive)
            .await
            .unwrap()
            .redriven
    };
    let some = |text: &str| Some(text.to_owned());
    for (expected, wanted) in [
        (
            0,
            Wanted {
                code: some("C"),
                ..Wanted::default()
            },
        ),
        (
            0,
            Wanted {
                code: some("A"),
                name: some("two"),
                ..Wanted::default()
            },
        ),
        (
            0,
            Wanted {
                after_ms: Some(last + 1),
                ..Wanted::default()
            },
        ),
        (
            0,
            Wanted {
                before_ms: Some(1),
                ..Wanted::default()
            },
        ),
        (
            1,
            Wanted {
                key: some("k"),
                ..Wanted::default()
            },
        ),
        (
            1,
            Wanted {
                tag: some("u"),
                code: some("A"),
                ..Wanted::default()
            },
        ),
    ] {
        assert_eq!(redrive(wanted.clone()).await, expected, "{wanted:?}");
    }
    let two = Wanted {
        name: some("two"),
        ..Wanted::default()
    };
    let none = Wanted {
        name: some("one"),
        ..Wanted::default()
    };
    let purge = async |wanted| {
        let purged = world
            .runtime
            .purge_wanted("work", JobState::Failed, wanted, None);
        purged.await.unwrap()
    };
    assert_eq!((purge(none).await, purge(two).await), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_redrive_goes_on_without_whoever_asked() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    let jobs = world
        .add_all(json!(vec![json!({"data": {"do": "fail"}}); 700]))
        .await;
    for job in &jobs {
        world.end(job).await;
    }
    let slow = Redrive {
        patience: Duration::ZERO,
        per_second: std::num::NonZeroU32::new(1),
        ..Redrive::default()
    };
    world.runtime.pause_queue("work", true).await.unwrap();
    let redriven = world.runtime.redrive("work", slow).await.unwrap();
    assert_eq!((redriven.redriven, redriven.goes_on), (500, true));
    for job in &jobs {
        world
            .until(job, &[JobState::Waiting, JobState::Delayed])
            .await;
    }
    // One a second: nearly all of them have a time that is far away.
    let view = world.runtime.queue("work").await.unwrap();
    assert!(view.record.delayed >= 600, "{:?}", view.record);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_jobs_are_refused_and_none_is_added() {
    let world = World::new(json!({"inputSchema": {"type": "object", "required": ["n"]}})).await;
    let refused = async |queue: &str, requests: Value| {
        let requests: Vec<JobRequest> = serde_json::from_value(requests).unwrap();
        let refused = world.runtime.enqueue(queue, requests, false).await;
        refused.unwrap_err().code()
    };
    assert_eq!(refused("nobody", json!([{}])).await, "QUEUE_NOT_FOUND");
    assert_eq!(refused("a b", json!([{}])).await, "BAD_REQUEST");
    assert_eq!(refused("work", json!([])).await, "BAD_REQUEST");
    let good = json!({"data": {"n": 1}});
    assert_eq!(
        refused("work", json!([good, {"data": {}}])).await,
        "INPUT_INVALID"
    );
    for options in [
        json!({"jobId": "a b"}),
        json!({"attempts": 0}),
        json!({"backoff": {"type": "sideways", "delayMs": 1}}),
        json!({"delayMs": u64::MAX}),
        json!({"delayMs": 1, "runAt": 1}),
        json!({"runAt": "2999-01-01T00:00:00Z"}),
        json!({"idempotency": {"key": "a"}, "idempotencyKey": "b"}),
        json!({"key": ""}),
        json!({"timeoutMs": 0}),
        json!({"idempotencyWindowMs": 5}),
        json!({"idempotencyKey": "k", "throttle": {"windowMs": 5}}),
        json!({"dedupe": {"key": "k"}, "debounce": {"delayMs": 5}}),
        json!({"debounce": {"delayMs": 5}, "delayMs": 5}),
    ] {
        let request = json!([{"data": {"n": 1}, "options": options}]);
        assert_eq!(refused("work", request).await, "BAD_REQUEST", "{options}");
    }
    let view = world.runtime.queue("work").await.unwrap();
    assert_eq!(view.record.waiting + view.record.completed, 0);
    // An id that another queue's job has is no answer to this request.
    world.put("other", Value::Null);
    let named = json!({"data": {"n": 1}, "options": {"jobId": "mine"}});
    world.add_to("other", json!([named])).await;
    assert_eq!(refused("work", json!([good, named])).await, "JOB_ID_TAKEN");
    let view = world.runtime.queue("work").await.unwrap();
    assert_eq!(view.record.waiting + view.record.completed, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_answers_at_once_and_is_recorded() {
    let world =
        World::new(json!({"runMode": "call", "outputSchema": {"type": ["string", "object"]}}))
            .await;
    let call = async |input: Value| {
        world
            .runtime
            .call(CallRequest {
                process: "work".to_owned(),
                input: Json::of(&input),
                call_id: Some(RunId::new("c1")),
                timeout: Some(Duration::from_millis(200)),
                ..CallRequest::default()
            })
            .await
    };
    assert_eq!(
        call(json!({"n": 1})).await.unwrap().value(),
        json!({"n": 1})
    );
    assert_eq!(
        call(json!({"do": "fail"})).await.unwrap_err().code,
        "BROKEN"
    );
    assert_eq!(
        call(json!({"do": "hang"})).await.unwrap_err().code,
        "TIMEOUT"
    );
    assert_eq!(call(json!(7)).await.unwrap_err().code, "OUTPUT_INVALID");
    let unknown = CallRequest {
        process: "nobody".to_owned(),
        ..CallRequest::default()
    };
    let unknown = world.runtime.call(unknown).await.unwrap_err();
    assert_eq!(unknown.code, "PROCESS_NOT_FOUND");
    let recorded = async {
        while world.events("call", &RunId::new("c1")).await.len() < 8 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, recorded).await.unwrap();
    let mut events = world.events("call", &RunId::new("c1")).await;
    events.retain(|event| event != "call.started");
    // Each is recorded after its answer, so not always in the order of the calls.
    events.sort();
    assert_eq!(
        events,
        [
            "call.completed",
            "call.failed",
            "call.failed",
            "call.failed"
        ]
    );
}

fn meet(id: &str, wait: bool, forget: bool) -> CallRequest {
    CallRequest {
        process: "work".to_owned(),
        input: Json::of(&json!({"do": "meet", "wait": wait})),
        call_id: Some(RunId::new(id)),
        forget,
        ..CallRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_has_the_whole_context_and_can_be_followed_while_it_runs() {
    let schema = json!({"type": "object", "properties": {"c": {"type": "number"}}});
    let world = World::new(json!({"runMode": "call", "state": schema})).await;
    let request = meet("met", true, false);
    let cancel = request.cancel.clone();
    let runtime = world.runtime.clone();
    let running = tokio::spawn(async move { runtime.call(request).await });
    let stream = StreamName::new("call", "met");
    let told = async {
        loop {
            let events = world.events("call", &RunId::new("met")).await;
            if events.iter().any(|kind| kind == "log.info") {
                return events;
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let events = tokio::time::timeout(LONG, told).await.unwrap();
    assert_eq!(events[0], "call.started");
    for kind in ["state.set", "step.memo", "guest.came"] {
        assert!(events.iter().any(|told| told == kind), "{kind}: {events:?}");
    }
    let again = world.runtime.call(meet("met", false, false)).await;
    assert_eq!(again.unwrap_err().code, "CALL_EXISTS");
    cancel.cancel(riverrun_protocol::CancelReason::User);
    // It ends there and then, whatever its handler still brings.
    assert_eq!(running.await.unwrap().unwrap_err().code, "CANCELLED");
    let other = world.runtime.call(meet("other", false, false)).await;
    let value = other.unwrap().value();
    let expected = json!({
        "version": 2, "state": {"at": "the gate"}, "checkpoint": "NOT_IN_A_CALL",
        "own": "RESERVED_TYPE", "lease": true, "called": 5,
    });
    assert_eq!(value, expected);
    let ended = async {
        while world
            .events("call", &RunId::new("met"))
            .await
            .last()
            .unwrap()
            != "call.cancelled"
        {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, ended).await.unwrap();
    let query = EventQuery::forward(0, 1);
    let first = world.store.events(&stream, &query).await.unwrap().remove(0);
    assert_eq!(first.data.unwrap().value()["process"], "work");
    // The id is free again.
    let after = world.runtime.call(meet("met", false, false)).await;
    after.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_not_recorded_keeps_its_state_while_it_runs() {
    let schema = json!({"type": "object", "properties": {"c": {"type": "number"}}});
    let world = World::new(json!({"runMode": "call", "state": schema})).await;
    let value = world.runtime.call(meet("off", false, true)).await;
    let value = value.unwrap().value();
    assert_eq!(value["state"], json!({"at": "the gate"}));
    assert_eq!(value["version"], 1);
    assert!(world.events("call", &RunId::new("off")).await.is_empty());
    // What it emitted is for others, and theirs to read.
    let query = EventQuery::forward(0, 9);
    let told = world.store.events(&StreamName::global(), &query).await;
    let told = told.unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|e| (e.kind.as_str(), e.causation_id.as_deref()))
        .collect();
    assert_eq!(told, [("guest.came", Some("off"))]);
    world.put("quiet", json!({"runMode": "call", "persistFrames": false}));
    let quiet = CallRequest {
        process: "quiet".to_owned(),
        call_id: Some(RunId::new("quiet")),
        ..CallRequest::default()
    };
    world.runtime.call(quiet).await.unwrap();
    assert!(world.events("call", &RunId::new("quiet")).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_does_not_load_is_told_to_whoever_asks_for_it() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    world.runtime.put_broken(riverrun_runtime::BrokenProcess {
        id: "mail/send".into(),
        queue: "send".into(),
        file: None,
        language: None,
        error: WorkError::new("MODULE_SYNTAX", "a bracket is missing"),
    });
    let add = || async {
        let request: JobRequest = serde_json::from_value(json!({"data": 1})).unwrap();
        let added = world.runtime.enqueue("send", vec![request], false).await;
        added.unwrap_err()
    };
    let error = add().await;
    assert_eq!(error.code(), "PROCESS_BROKEN");
    assert_eq!(error.to_string(), "a bracket is missing");
    for process in ["mail/send", "mail/send.later"] {
        let request = CallRequest {
            process: process.to_owned(),
            ..CallRequest::default()
        };
        let error = world.runtime.call(request).await.unwrap_err();
        assert_eq!(error.code, "MODULE_SYNTAX");
    }
    world.runtime.forget_broken("mail/send");
    assert_eq!(add().await.code(), "QUEUE_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_is_final_whatever_the_handler_still_brings() {
    let world = World::new(json!({"timeoutMs": 30, "retryPolicy": {"attempts": 1}})).await;
    let job = world.add(json!({"data": {"do": "late"}})).await;
    let ended = world.end(&job).await;
    assert_eq!(ended.state, JobState::Failed);
    assert_eq!(ended.error.unwrap().value()["code"], "TIMEOUT");
    assert_eq!(ended.result, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_says_beyond_its_limit_is_counted_in_a_last_line() {
    let world = World::new(json!({"logs": {"maxLines": 20, "maxBytes": 100_000}})).await;
    let job = world
        .add(json!({"data": {"do": "chatter", "lines": 1_000}}))
        .await;
    world.end(&job).await;
    let stream = StreamName::job(&job);
    let query = EventQuery::forward(0, 2_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let said: Vec<String> = events
        .iter()
        .filter(|event| event.kind.family() == "log")
        .map(|event| {
            event.data.as_ref().unwrap().value()["message"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(said.len(), 21, "{said:?}");
    assert_eq!(said[19], "line 19");
    assert!(
        said[20].starts_with("980 lines were dropped"),
        "{}",
        said[20]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_too_slow_for_the_frames_of_a_call_is_told_how_many_are_missing() {
    let world = World::new(json!({})).await;
    let (frames, mut heard) = tokio::sync::mpsc::channel(8);
    let call = CallRequest {
        process: "work".to_owned(),
        input: Json::of(&json!({"do": "chatter", "lines": 100})),
        frames: Some(frames),
        ..CallRequest::default()
    };
    world.runtime.call(call).await.unwrap();
    let mut said = Vec::new();
    while let Some(frame) = heard.recv().await {
        if let Frame::Log { message, meta, .. } = frame {
            said.push((message, meta));
        }
    }
    assert_eq!(said.len(), 8);
    assert_eq!(said[6].0, "line 6");
    let (last, meta) = &said[7];
    assert!(last.starts_with("93 frames were dropped"), "{last}");
    assert_eq!(meta.as_ref().unwrap().value(), json!({"missed": 93}));
}
