//! The lives of jobs as events: read from the store, followed live, and received on their queue's
//! channel.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{
    Invocation, JobRequest, Options, Process, ProcessConfig, Provider, Runtime, Source, Tail,
    Tailed,
};
use riverrun_store::{EventQuery, JobFilter, JobState, Listener, Place, QueueUpdate, Steer, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, EventType, Json, QueueLimits, RunId, StreamName};
use serde_json::{Value, json};
use tokio::sync::Notify;

const LONG: Duration = Duration::from_secs(20);

/// The life of a job whose first attempt came to nothing.
const TWICE: [&str; 5] = [
    "job.added",
    "job.active",
    "job.waiting",
    "job.active",
    "job.completed",
];

/// Handlers that do what the job's data says.
#[derive(Default)]
struct Scripted {
    begun: Notify,
}

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.clone().unwrap_or_default();
        match (input.value().as_str(), invocation.invoke.job.attempt) {
            (Some("hang"), _) => {
                self.begun.notify_one();
                invocation.cancel.cancelled().await;
                Err(WorkError::new("CANCELLED", "it was asked to stop"))
            }
            (Some("stop"), _) => {
                self.begun.notify_one();
                invocation.cancel.cancelled().await;
                Ok(reply(&Json::of(&"as far as it came")))
            }
            (Some("fail once"), 1) => Err(WorkError::new("ONCE", "the first time")),
            (Some("talk"), _) => {
                invocation.host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: "hello".to_owned(),
                    meta: None,
                });
                invocation.host.frame(Frame::Progress {
                    pct: Some(50.0),
                    detail: None,
                });
                Ok(reply(&Json::of(&"said")))
            }
            _ => Ok(reply(&input)),
        }
    }
}

fn reply(value: &Json) -> Reply {
    Reply {
        value: Some(value.clone()),
        ..Reply::default()
    }
}

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    provider: Arc<Scripted>,
}

impl World {
    async fn new() -> Self {
        let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
        let options = Options {
            lease: Duration::from_millis(600),
            grace: Duration::from_millis(50),
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store.clone(), sandbox, [], options)
            .await
            .unwrap();
        Self {
            runtime,
            store,
            provider: Arc::default(),
        }
    }

    /// Takes up the jobs of the queue `work`.
    fn work(&self) {
        let config = json!({
            "retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 5}},
        });
        self.runtime.queues().put_process(Process {
            id: "work".into(),
            config: ProcessConfig::read(&Json::of(&config), "work").unwrap(),
            provider: self.provider.clone(),
            source: Source::default(),
        });
    }

    async fn add(&self, request: Value) -> RunId {
        let requests: Vec<JobRequest> = serde_json::from_value(json!([request])).unwrap();
        let added = self.runtime.queues().enqueue("work", requests, true).await;
        added.unwrap().remove(0).id
    }

    /// A job that nobody has taken up yet, and whoever listens to its queue and reads its stream.
    async fn listened(&self, request: Value) -> (RunId, Listener, Tail) {
        let queue = self.runtime.streams().listen("work");
        let job = self.add(request).await;
        let tail = self.tail(&job);
        (job, queue, tail)
    }

    fn tail(&self, job: &RunId) -> Tail {
        self.runtime.streams().tail(StreamName::job(job), 0)
    }

    async fn stored(&self, job: &RunId) -> Vec<Event> {
        let query = EventQuery::forward(0, 1_000);
        let stream = StreamName::job(job);
        self.store.events(&stream, &query).await.unwrap()
    }
}

/// What a reader gets until the job has ended.
async fn to_end(tail: &mut Tail) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    let read = async {
        while all.last().is_none_or(|last| !last.kind.is_end()) {
            match tail.next().await.unwrap() {
                Tailed::Read(events) => all.extend(events),
                Tailed::Live(batch) => all.extend(batch.events.iter().cloned()),
                Tailed::Missed(_) | Tailed::Gone => panic!("the job is gone: {all:?}"),
            }
        }
    };
    tokio::time::timeout(LONG, read)
        .await
        .expect("the job did not end");
    all
}

/// The events of a queue until a job has ended.
async fn until_event(listener: &mut Listener, end: &EventType) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    let receive = async {
        while all.last().is_none_or(|last| last.kind != *end) {
            match listener.next().await {
                QueueUpdate::Batch(batch) => all.extend(batch.events.iter().cloned()),
                QueueUpdate::Missed(count) => panic!("{count} were missed"),
            }
        }
    };
    tokio::time::timeout(LONG, receive)
        .await
        .expect("no more events came");
    all
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

fn data(event: &Event) -> Value {
    event.data.as_ref().unwrap().value()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jobs_life_is_delivered_as_it_happens_and_read_the_same_later() {
    let world = World::new().await;
    let (job, mut queue, mut tail) = world.listened(json!({"data": "talk"})).await;
    world.work();
    let live = to_end(&mut tail).await;
    let expected = [
        "job.added",
        "job.active",
        "log.info",
        "job.progress",
        "job.completed",
    ];
    assert_eq!(kinds(&live), expected);
    assert_eq!(live, world.stored(&job).await);
    let reported = json!({"queue": "work", "progress": {"pct": 50.0}});
    assert_eq!(data(&live[3]), reported);
    assert_eq!(data(&live[4])["result"], "said");
    let received = until_event(&mut queue, &EventType::JobCompleted).await;
    assert_eq!(
        kinds(&received),
        ["job.added", "job.active", "job.progress", "job.completed"]
    );
    assert!(
        received
            .iter()
            .all(|event| *event.context.run_id == *job.as_str())
    );
    assert!(received.is_sorted_by_key(|event| event.id));
    assert!(queue.begin() < received[0].id);
    assert_eq!(data(&received[2]), reported);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_job_stores_nothing_but_its_row() {
    let world = World::new().await;
    world.work();
    let job = world.add(json!({"data": 1})).await;
    let life = to_end(&mut world.tail(&job)).await;
    assert_eq!(kinds(&life), ["job.added", "job.active", "job.completed"]);
    let streams = world.store.list_streams("job", 10, None).await.unwrap();
    assert!(streams.items.is_empty(), "{streams:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_attempt_lets_the_job_wait_again() {
    let world = World::new().await;
    let (job, mut queue, mut tail) = world.listened(json!({"data": "fail once"})).await;
    world.work();
    let live = to_end(&mut tail).await;
    assert_eq!(kinds(&live), TWICE);
    let waits = data(&live[2]);
    assert_eq!(
        (&waits["reason"], &waits["attempt"]),
        (&json!("retry"), &json!(1))
    );
    assert_eq!(waits["error"]["code"], "ONCE");
    assert!(waits["retryAt"].is_string());
    assert_eq!(data(&live[3])["attempt"], 2);
    assert_eq!(live, world.stored(&job).await);
    let received = until_event(&mut queue, &EventType::JobCompleted).await;
    assert_eq!(kinds(&received), TWICE);
    assert_eq!(data(&received[2]), waits);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_cancelled_while_it_waits_or_while_it_runs() {
    let world = World::new().await;
    let mut queue = world.runtime.streams().listen("work");
    let cancel = || Steer::Cancel {
        reason: Some("a mistake".to_owned()),
    };
    let waiting = world.add(json!({"data": 1})).await;
    let mut tail = world.tail(&waiting);
    world
        .runtime
        .queues()
        .steer(&waiting, cancel())
        .await
        .unwrap();
    let live = to_end(&mut tail).await;
    assert_eq!(kinds(&live), ["job.added", "job.cancelled"]);
    assert_eq!(data(&live[1])["error"]["message"], "a mistake");
    let said = until_event(&mut queue, &EventType::JobCancelled).await;
    assert_eq!(kinds(&said), ["job.added", "job.cancelled"]);
    assert_eq!(data(&said[1])["error"]["message"], "a mistake");

    world.work();
    // One fails when it is asked to stop, one returns as if it were done.
    for how in ["hang", "stop"] {
        let running = world.add(json!({"data": how})).await;
        let mut tail = world.tail(&running);
        world.provider.begun.notified().await;
        world
            .runtime
            .queues()
            .steer(&running, cancel())
            .await
            .unwrap();
        let live = to_end(&mut tail).await;
        assert_eq!(kinds(&live), ["job.added", "job.active", "job.cancelled"]);
        assert_eq!(data(&live[2])["error"]["message"], "a mistake");
        let said = until_event(&mut queue, &EventType::JobCancelled).await;
        assert_eq!(kinds(&said), ["job.added", "job.active", "job.cancelled"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_job_says_so_and_goes_on() {
    let world = World::new().await;
    let (job, mut queue, mut tail) = world.listened(json!({"data": 1})).await;
    // A worker takes it and is gone for good.
    let claim = riverrun_store::ClaimJobs {
        queue: "work".into(),
        owner: "gone".into(),
        limit: 1,
        now_ms: 1,
        until_ms: 2,
        limits: QueueLimits::default(),
    };
    let claimed = world.store.claim_jobs(claim).await.unwrap();
    assert_eq!(claimed.jobs.len(), 1);
    world.work();
    let live = to_end(&mut tail).await;
    assert_eq!(kinds(&live), TWICE);
    assert_eq!(data(&live[2])["reason"], "stalled");
    assert_eq!(data(&live[2])["error"]["code"], "WORKER_LOST");
    assert_eq!(live, world.stored(&job).await);
    let said = until_event(&mut queue, &EventType::JobCompleted).await;
    assert_eq!(
        kinds(&said),
        ["job.added", "job.waiting", "job.active", "job.completed"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_do_to_a_job_is_in_its_stream() {
    let world = World::new().await;
    let mut queue = world.runtime.streams().listen("work");
    let job = world
        .add(json!({"data": 1, "options": {"delayMs": 3_600_000}}))
        .await;
    world
        .runtime
        .queues()
        .steer(&job, Steer::Promote)
        .await
        .unwrap();
    let refused = world.runtime.queues().steer(&job, Steer::Promote).await;
    assert!(refused.is_err(), "it waits already");
    world.work();
    to_end(&mut world.tail(&job)).await;
    let again = Steer::Retry { at_ms: 0 };
    world.runtime.queues().steer(&job, again).await.unwrap();
    to_end(&mut world.runtime.streams().tail(StreamName::job(&job), 4)).await;
    let life = world.stored(&job).await;
    let expected = [
        "job.added",
        "job.waiting",
        "job.active",
        "job.completed",
        "job.waiting",
        "job.active",
        "job.completed",
    ];
    assert_eq!(kinds(&life), expected);
    assert_eq!(data(&life[1])["reason"], "promoted");
    assert_eq!(data(&life[4])["reason"], "redriven");
    let mut tail = world.runtime.streams().tail(StreamName::job(&job), 7);
    world
        .runtime
        .queues()
        .steer(&job, Steer::Remove)
        .await
        .unwrap();
    let gone = tokio::time::timeout(LONG, tail.next()).await.unwrap();
    assert!(matches!(gone, Ok(Tailed::Gone)));
    let said = until_event(&mut queue, &EventType::JobRemoved).await;
    assert_eq!(kinds(&said)[..7], expected);
    assert_eq!(said.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_lags_gets_the_number_of_events_it_missed() {
    let world = World::new().await;
    let mut queue = world.runtime.streams().listen("work");
    let mut other = world.runtime.streams().listen("other");
    let jobs: Vec<Value> = (0..3_000).map(|n| json!({ "data": n })).collect();
    let requests: Vec<JobRequest> = serde_json::from_value(json!(jobs)).unwrap();
    world
        .runtime
        .queues()
        .enqueue("work", requests, true)
        .await
        .unwrap();
    let first = tokio::time::timeout(LONG, queue.next()).await.unwrap();
    let QueueUpdate::Missed(missed) = first else {
        panic!("{first:?}");
    };
    let mut rest = 0;
    let drained = world.runtime.queues().drain("work", false).await.unwrap();
    assert_eq!(drained.removed, 3_000);
    let purged = EventType::parse("queue.purged");
    while rest + missed < 3_000 + 6 {
        match tokio::time::timeout(LONG, queue.next()).await.unwrap() {
            QueueUpdate::Batch(batch) => {
                rest += 1;
                let kind = &batch.events[0].kind;
                assert!(*kind == EventType::JobAdded || *kind == purged, "{kind}");
            }
            QueueUpdate::Missed(more) => rest += more,
        }
    }
    // No events of other queues arrive.
    tokio::select! {
        biased;
        said = other.next() => panic!("{said:?}"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_from_outside_says_what_became_of_a_job() {
    let world = World::new().await;
    let job = world.add(json!({"data": 1})).await;
    let done = Json::of(&json!({"type": "job.completed"}));
    let refused = world
        .runtime
        .events()
        .append(&StreamName::job(&job), &[done])
        .await;
    assert_eq!(refused.unwrap_err().code(), "RESERVED_TYPE");
    let fired = Json::of(&json!({"type": "trigger.fired"}));
    let callback = StreamName::new("trigger", "t");
    let refused = world.runtime.events().append(&callback, &[fired]).await;
    assert_eq!(refused.unwrap_err().code(), "RESERVED_TYPE");
    // Nor anywhere else, where somebody could take it for true.
    for kind in [
        "job.completed",
        "trigger.fired",
        "worker.stopped",
        "call.failed",
    ] {
        for stream in [StreamName::global(), StreamName::new("webhook", "shop")] {
            let forged = Json::of(&json!({ "type": kind }));
            let refused = world
                .runtime
                .events()
                .append(&stream, &[forged])
                .await
                .unwrap_err();
            assert_eq!(refused.code(), "RESERVED_TYPE", "{kind}");
            let said = format!("only the server writes events of the type {kind}");
            assert_eq!(refused.to_string(), said);
        }
    }
    let own = Json::of(&json!({"type": "worker.hired"}));
    world
        .runtime
        .events()
        .append(&StreamName::global(), &[own])
        .await
        .unwrap();
    let note = Json::of(&json!({"type": "note.made", "data": 1}));
    let channel = StreamName::new(StreamName::QUEUE, "work");
    let refused = world
        .runtime
        .events()
        .append(&channel, std::slice::from_ref(&note))
        .await;
    assert_eq!(refused.unwrap_err().code(), "RESERVED_STREAM");
    let ids = world
        .runtime
        .events()
        .append(&StreamName::job(&job), &[note])
        .await;
    let all = world.stored(&job).await;
    assert_eq!(kinds(&all), ["job.added", "note.made"]);
    assert_eq!(ids.unwrap(), [all[1].id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_job_begins_after_it_was_added_however_many_there_are() {
    let world = World::new().await;
    let mut queue = world.runtime.streams().listen("work");
    world.work();
    let add = async {
        for n in 0..200 {
            world.add(json!({ "data": n })).await;
        }
    };
    let listen = async {
        let mut lives: std::collections::HashMap<String, Vec<String>> = Default::default();
        let mut ended = 0;
        while ended < 200 {
            let QueueUpdate::Batch(batch) = queue.next().await else {
                panic!("it was too slow");
            };
            for event in &batch.events {
                let life = lives.entry(event.context.run_id.to_string()).or_default();
                life.push(event.kind.to_string());
                ended += usize::from(event.kind.is_end());
            }
        }
        lives
    };
    let (lives, ()) = tokio::time::timeout(LONG, async { tokio::join!(listen, add) })
        .await
        .unwrap();
    for (job, life) in lives {
        assert_eq!(life, ["job.added", "job.active", "job.completed"], "{job}");
    }
    let filter = JobFilter {
        queue: "work".into(),
        states: vec![JobState::Completed],
        limit: 1_000,
        ..JobFilter::default()
    };
    assert_eq!(
        world
            .runtime
            .queues()
            .jobs(&filter)
            .await
            .unwrap()
            .items
            .len(),
        200
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_come_and_go_see_every_event_of_a_job_once() {
    const ROUNDS: usize = 12;
    let world = World::new().await;
    world.work();
    let job = world.add(json!({"data": "talk"})).await;
    // Each round: active, log, progress, completed; and between them somebody lets it begin anew.
    let total = 1 + 4 * ROUNDS + (ROUNDS - 1);
    let reader = |patience: usize| {
        let (runtime, stream) = (world.runtime.clone(), StreamName::job(&job));
        tokio::spawn(async move {
            let mut seen: Vec<Event> = Vec::new();
            while seen.len() < total {
                // Comes back with the id of the last event, as over HTTP.
                let from = match seen.last() {
                    Some(last) => {
                        let place = Place::Event(last.id);
                        runtime.base().store().locate(&stream, place).await.unwrap()
                    }
                    None => 0,
                };
                let mut tail = runtime.streams().tail(stream.clone(), from);
                for _ in 0..patience {
                    match tail.next().await.unwrap() {
                        Tailed::Read(events) => seen.extend(events),
                        Tailed::Live(batch) => seen.extend(batch.events.iter().cloned()),
                        Tailed::Missed(_) | Tailed::Gone => panic!("the job is gone"),
                    }
                    if seen.len() >= total {
                        break;
                    }
                }
            }
            seen
        })
    };
    let readers = [1, 2, 3, 1_000].map(reader);
    for round in 0..ROUNDS {
        let from = (5 * round) as u64 + 1;
        to_end(&mut world.runtime.streams().tail(StreamName::job(&job), from)).await;
        if round + 1 < ROUNDS {
            let again = Steer::Retry { at_ms: 0 };
            world.runtime.queues().steer(&job, again).await.unwrap();
        }
    }
    let stored = world.stored(&job).await;
    assert_eq!(stored.len(), total);
    for reader in readers {
        let seen = tokio::time::timeout(LONG, reader).await.unwrap().unwrap();
        assert_eq!(seen, stored);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_job_is_gone_and_nobody_says_that_it_failed() {
    let world = World::new().await;
    let options = json!({"onFail": "drop", "attempts": 1});
    let request = json!({"data": "fail once", "options": options});
    let (_, mut queue, mut tail) = world.listened(request).await;
    world.work();
    let said = until_event(&mut queue, &EventType::JobRemoved).await;
    assert_eq!(kinds(&said), ["job.added", "job.active", "job.removed"]);
    let gone = async { while !matches!(tail.next().await.unwrap(), Tailed::Gone) {} };
    tokio::time::timeout(LONG, gone).await.unwrap();
}
