//! How fast and how lean the embedded store is, on the disk under `target/tmp`.
//!
//!     cargo run --release -p riverrun-store-sqlite --example measure -- [seconds per figure]
//!
//! Figures: durable commits a second that each create a finished run of three steps (8 events),
//! from 1, 64 and 256 producers; bytes on disk a run; claimed and finished jobs a second; the time
//! to read 100 events of a long stream while others write.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use riverrun_store::{
    Advance, Append, Change, ClaimRunTasks, Commit, EventQuery, Expect, Hub, NewRun, NewRunTask,
    Projection, RunFilter, RunTaskChange, Store, Writer,
};
use riverrun_store_sqlite::{Options, SqliteStore};
use riverrun_types::{
    Draft, EventType, Json, Millis, RunId, RunStatus, StepRef, StreamName, event::EventContext,
};

#[tokio::main]
async fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    for producers in [1, 64, 256] {
        finished_runs(producers, time).await;
    }
    claimed_jobs(64, time).await;
    pages(time).await;
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/tmp/measure")
        .join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn open(name: &str) -> (PathBuf, Arc<dyn Store>, Writer) {
    let folder = folder(name);
    let store: Arc<dyn Store> = SqliteStore::open(Options::new(&folder)).unwrap();
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    (folder, store, writer)
}

fn now() -> Millis {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_millis() as Millis
}

/// The eight events of three steps with small payloads.
fn story(ms: Millis) -> Arc<[Draft]> {
    let step = |name: &str| StepRef {
        name: name.into(),
        visit: 1,
        attempt: 1,
    };
    let order = serde_json::json!({"orderId": "ord-4711", "amount": 1299});
    let mut events = vec![Draft::new(ms, EventType::FlowStarted).data(&order)];
    for name in ["validate", "charge", "notify"] {
        events.push(Draft::new(ms, EventType::StepStarted).step(step(name)));
        let done = serde_json::json!({"output": {"ok": true, "ref": "ch_00112233"}});
        events.push(
            Draft::new(ms + 1, EventType::StepCompleted)
                .step(step(name))
                .data(done),
        );
    }
    events.push(Draft::new(ms + 1, EventType::FlowCompleted).data(order));
    events.into()
}

fn finished(ms: Millis) -> NewRun {
    NewRun {
        id: RunId::fresh(),
        flow: "checkout".into(),
        version: "1.0.0".into(),
        created_ms: ms,
        idempotency_key: None,
        tenant: None,
        tags: Vec::new(),
        metadata: None,
        parent: None,
        origin: None,
        correlation: None,
        projection: Projection {
            status: RunStatus::Completed,
            wake_ms: None,
            ended_ms: Some(ms + 1),
            error: None,
        },
        turn: 4,
        events: story(ms),
        task: None,
        snapshot: None,
    }
}

async fn finished_runs(producers: usize, time: Duration) {
    let (folder, store, writer) = open(&format!("finished-{producers}"));
    let over = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let (writer, over) = (writer.clone(), over.clone());
            tokio::spawn(async move {
                let mut waits = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let commit = Commit::of(Change::Create(Box::new(finished(now()))));
                    let asked = Instant::now();
                    writer.commit(commit).await.unwrap();
                    waits.push(asked.elapsed());
                }
                waits
            })
        })
        .collect();
    tokio::time::sleep(time).await;
    over.store(true, Ordering::Relaxed);
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.unwrap());
    }
    let rate = waits.len() as f64 / start.elapsed().as_secs_f64();
    waits.sort();
    let (p50, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    drop(writer);
    store.close().await.unwrap();
    let bytes = std::fs::metadata(folder.join("riverrun.db")).unwrap().len();
    println!(
        "finished runs, {producers:3} producers: {rate:8.0}/s  p50 {p50:?}  p99 {p99:?}  {} bytes a run",
        bytes / waits.len() as u64
    );
}

async fn claimed_jobs(workers: usize, time: Duration) {
    let (_, store, writer) = open("claimed");
    let over = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for _ in 0..workers {
        let (writer, over) = (writer.clone(), over.clone());
        tasks.push(tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let new = NewRun {
                    projection: Projection {
                        status: RunStatus::Pending,
                        wake_ms: None,
                        ended_ms: None,
                        error: None,
                    },
                    events: story(now())[..1].into(),
                    task: Some(NewRunTask::Ready { at_ms: now() }),
                    ..finished(now())
                };
                writer
                    .commit(Commit::of(Change::Create(Box::new(new))))
                    .await
                    .unwrap();
            }
        }));
    }
    for _ in 0..4 {
        let (store, writer, over, done) =
            (store.clone(), writer.clone(), over.clone(), done.clone());
        tasks.push(tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let claim = ClaimRunTasks {
                    owner: "me".into(),
                    limit: 32,
                    now_ms: now(),
                    until_ms: now() + 30_000,
                };
                let claimed = store.claim_run_tasks(claim).await.unwrap();
                let ends = claimed.into_iter().map(|claimed| {
                    let ms = now();
                    let end = Advance {
                        context: EventContext {
                            run_id: claimed.lease.run.as_str().into(),
                            flow_name: claimed.flow,
                            tenant_id: None,
                        },
                        run: claimed.lease.run.clone(),
                        expect: Expect::Turn(4),
                        projection: finished(ms).projection,
                        events: story(ms)[1..].into(),
                        task: RunTaskChange::Finish,
                        snapshot: None,
                    };
                    let end = Commit::of(Change::Advance(Box::new(end)));
                    let (writer, done) = (writer.clone(), done.clone());
                    tokio::spawn(async move {
                        writer.commit(end.under(Some(claimed.lease))).await.unwrap();
                        done.fetch_add(1, Ordering::Relaxed);
                    })
                });
                for end in ends.collect::<Vec<_>>() {
                    end.await.unwrap();
                }
            }
        }));
    }
    let start = Instant::now();
    tokio::time::sleep(time).await;
    over.store(true, Ordering::Relaxed);
    let rate = done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
    for task in tasks {
        task.await.unwrap();
    }
    println!("added, claimed by 32, finished: {rate:8.0} jobs/s beside the adding");
}

async fn pages(time: Duration) {
    let (_, store, writer) = open("pages");
    let long = RunId::fresh();
    let new = NewRun {
        id: long.clone(),
        projection: Projection {
            status: RunStatus::Running,
            wake_ms: None,
            ended_ms: None,
            error: None,
        },
        ..finished(now())
    };
    writer
        .commit(Commit::of(Change::Create(Box::new(new))))
        .await
        .unwrap();
    let stream = StreamName::flow(&long);
    for _ in 0..10_000 {
        let event =
            Draft::new(now(), EventType::LogInfo).data("a line of a log that says a little");
        let append = Append {
            stream: stream.clone(),
            context: EventContext {
                run_id: long.as_str().into(),
                flow_name: "checkout".into(),
                tenant_id: None,
            },
            expect: Expect::Any,
            events: vec![event; 10].into(),
        };
        writer
            .commit(Commit::of(Change::Append(append)))
            .await
            .unwrap();
    }
    for busy in [false, true] {
        let over = Arc::new(AtomicBool::new(false));
        let producers: Vec<_> = (0..if busy { 16 } else { 0 })
            .map(|_| {
                let (writer, over) = (writer.clone(), over.clone());
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        let commit = Commit::of(Change::Create(Box::new(finished(now()))));
                        writer.commit(commit).await.unwrap();
                    }
                })
            })
            .collect();
        let start = Instant::now();
        let (mut reads, mut lists) = (Vec::new(), Vec::new());
        let mut at = 1u64;
        while start.elapsed() < time / 2 {
            at = (at * 48_271) % 2_147_483_647;
            let asked = Instant::now();
            let query = EventQuery::forward(at % 99_900, 100);
            let page = store.events(&stream, &query).await.unwrap();
            reads.push(asked.elapsed());
            assert_eq!(page.len(), 100);
            let asked = Instant::now();
            let filter = RunFilter {
                flow: Some("checkout".into()),
                limit: 50,
                ..RunFilter::default()
            };
            store.list_runs(&filter).await.unwrap();
            lists.push(asked.elapsed());
        }
        over.store(true, Ordering::Relaxed);
        for producer in producers {
            producer.await.unwrap();
        }
        for (what, waits) in [
            ("100 events of 100,000", &mut reads),
            ("50 runs", &mut lists),
        ] {
            waits.sort();
            println!(
                "read {what}{}: p50 {:?}  p99 {:?}",
                if busy { " while 16 write" } else { "" },
                waits[waits.len() / 2],
                waits[waits.len() * 99 / 100]
            );
        }
    }
    println!(
        "{}",
        store
            .describe()
            .await
            .unwrap_or_else(|_| Json::null())
            .as_str()
    );
}
