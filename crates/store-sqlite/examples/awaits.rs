//! What a million open awaits cost, on the disk under `target/tmp`.
//!
//!     cargo run --release -p riverrun-store-sqlite --example awaits -- [awaits] [signals]
//!
//! Figures: the time of an await in commits of groups, the bytes on disk, and the time of one
//! signal that finds its one await among all of them, that finds none, and of an await that looks
//! back and finds its event; and how much memory the process has before and after.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    path::Path as File,
    sync::Arc,
    time::{Duration, Instant},
};

use riverrun_store::{
    Awaited, Change, Commit, GroupId, Matcher, NewAwait, NewRun, NewRunTask, Projection, Signal,
    Store,
};
use riverrun_store_sqlite::{Options, SqliteStore};
use riverrun_types::{
    Draft, EventType, Json, Millis, Path, RunId, RunStatus, StreamName, time::NEVER,
};
use serde_json::json;

const T0: Millis = 1_700_000_000_000;
const GROUP: usize = 512;

#[tokio::main]
async fn main() {
    let number = |at: usize, default: usize| {
        let given = std::env::args().nth(at).and_then(|text| text.parse().ok());
        given.unwrap_or(default)
    };
    let (awaits, signals) = (number(1, 1_000_000), number(2, 1_000));
    assert!(
        0 < signals && signals <= awaits / 10,
        "each signal has its own await"
    );
    let folder = File::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/measure/awaits");
    let _ = std::fs::remove_dir_all(&folder);
    let store: Arc<dyn Store> = SqliteStore::open(Options::new(&folder)).unwrap();
    println!("memory before: {}", memory());

    let start = Instant::now();
    let mut at = 0;
    while at < awaits {
        let group = (at..awaits.min(at + GROUP)).map(|at| {
            Commit::of(Change::Create(Box::new(run(at)))).and(Change::Await(Box::new(order(at))))
        });
        for receipt in store.commit(GroupId::first(), group.collect()).await {
            receipt.unwrap();
        }
        at += GROUP;
    }
    let each = start.elapsed() / awaits as u32;
    println!("{awaits} runs with an await each: {each:?} for both");
    println!("memory: {}", memory());

    let start = Instant::now();
    let mut at = 0;
    let more = awaits / 10;
    while at < more {
        let group = (at..more.min(at + GROUP)).map(|at| {
            let new = NewAwait {
                id: format!("more-{at}").into(),
                ..order(at)
            };
            Commit::of(Change::Await(Box::new(new)))
        });
        for receipt in store.commit(GroupId::first(), group.collect()).await {
            receipt.unwrap();
        }
        at += GROUP;
    }
    println!(
        "{more} more awaits alone: {:?} each",
        start.elapsed() / more.max(1) as u32
    );

    measure("a signal that fires two of one run", signals, async |at| {
        assert_eq!(say(&*store, more / signals * at).await, 1);
    })
    .await;
    measure("a signal that fires one", signals, async |at| {
        let place = more + (awaits - more) / signals * at;
        assert_eq!(say(&*store, place).await, 1);
    })
    .await;
    measure("a signal that fires none", signals, async |at| {
        assert_eq!(say(&*store, awaits + at).await, 0);
    })
    .await;
    let start = Instant::now();
    let group = (0..signals).map(|at| paid(more + (awaits - more) / signals * at + 1));
    for receipt in store.commit(GroupId::first(), group.collect()).await {
        assert_eq!(receipt.unwrap().woken.len(), 1);
    }
    let each = start.elapsed() / signals as u32;
    println!("{signals} signals that fire one, synced together: {each:?} each");
    measure(
        "an await that looks back and is fired",
        signals,
        async |at| {
            let mut new = order(awaits + at);
            new.id = format!("back-{at}").into();
            new.run = RunId::new("run-0");
            if let Awaited::Event { lookback_ms, .. } = &mut new.what {
                *lookback_ms = Some(60_000);
            }
            let receipt = store.commit(
                GroupId::first(),
                [Commit::of(Change::Await(Box::new(new)))].into(),
            );
            assert_eq!(receipt.await.remove(0).unwrap().woken.len(), 1);
        },
    )
    .await;
    println!("memory: {}", memory());
    println!("{:?}", store.await_stats().await.unwrap());
    store.close().await.unwrap();
    let bytes = std::fs::metadata(folder.join("riverrun.db")).unwrap().len();
    println!(
        "{} bytes a run with its await",
        bytes / awaits.max(1) as u64
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn say(store: &dyn Store, order: usize) -> usize {
    let receipt = store.commit(GroupId::first(), [paid(order)].into());
    receipt.await.remove(0).unwrap().woken.len()
}

fn paid(order: usize) -> Commit {
    Commit::of(Change::Signal(Box::new(Signal {
        kind: "order.paid".into(),
        event: Json::of(&json!({"type": "emit", "data": {"orderId": order, "total": 12.5}})),
        tenant: None,
        now_ms: T0 + 1,
        stream: StreamName::new("events", "order.paid"),
        has_subscriber: false,
        place: None,
    })))
}

async fn measure(what: &str, times: usize, once: impl AsyncFn(usize)) {
    let mut waits: Vec<Duration> = Vec::with_capacity(times);
    for at in 0..times {
        let asked = Instant::now();
        once(at).await;
        waits.push(asked.elapsed());
    }
    waits.sort();
    let (p50, p99) = (waits[times / 2], waits[times * 99 / 100]);
    println!("{what}, synced to disk alone: p50 {p50:?}  p99 {p99:?}");
}

fn run(at: usize) -> NewRun {
    NewRun {
        id: RunId::new(&format!("run-{at}")),
        flow: "checkout".into(),
        version: "1.0.0".into(),
        created_ms: T0,
        idempotency_key: None,
        tenant: None,
        tags: Vec::new(),
        metadata: None,
        parent: None,
        origin: None,
        correlation: None,
        projection: Projection {
            status: RunStatus::Waiting,
            wake_ms: None,
            ended_ms: None,
            error: None,
        },
        turn: 1,
        events: [Draft::new(T0, EventType::FlowStarted)].into(),
        task: Some(NewRunTask::Ready { at_ms: NEVER }),
        snapshot: None,
    }
}

/// An await of one order's payment. Ids come in no order, as those that nobody can guess do.
fn order(at: usize) -> NewAwait {
    let scattered = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    NewAwait {
        id: format!("{scattered:016x}-{at}").into(),
        run: RunId::new(&format!("run-{at}")),
        step: "wait-for-payment".into(),
        visit: 1,
        tenant: None,
        created_ms: T0,
        expires_ms: None,
        what: Awaited::Event {
            kind: "order.paid".into(),
            matcher: Matcher::Equal(vec![(Path::new("data.orderId"), Json::of(&at))]),
            lookback_ms: None,
        },
        given: Vec::new(),
    }
}

/// The resident memory of this process, where the system says.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.unwrap_or("unknown")
        .replace("VmRSS:", "")
        .trim()
        .to_owned()
}
