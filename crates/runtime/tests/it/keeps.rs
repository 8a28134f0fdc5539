//! What the runtime keeps in memory, and what it tells whom: on a store that counts its reads and
//! can be made to refuse writes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Handler, Options, RunView, Runtime, StartRequest, Tailed, function};
use riverrun_store::{Error, EventQuery, Result, Store};
use riverrun_store_conformance::through::{Between, Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::sync::oneshot;

const LONG: Duration = Duration::from_secs(20);

struct Watched {
    store: Arc<dyn Store>,
    /// Events that were read.
    read: AtomicUsize,
    /// Reads of a stream from its beginning.
    read_whole: AtomicUsize,
    full: AtomicBool,
    /// Holds the next read of events up, after it has read, until the test lets it go on.
    hold: Mutex<Option<Hold>>,
    /// What the handler `gate` waits for: a permit for each attempt.
    gate: Arc<Semaphore>,
}

struct Hold {
    reached: oneshot::Sender<()>,
    go_on: oneshot::Receiver<()>,
}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            store: SqliteStore::memory().unwrap(),
            read: AtomicUsize::new(0),
            read_whole: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            hold: Mutex::default(),
            gate: Arc::new(Semaphore::new(0)),
        })
    }

    fn read(&self) -> usize {
        self.read.swap(0, Ordering::SeqCst)
    }
}

#[async_trait]
impl Between for Watched {
    async fn writes(&self) -> Result<()> {
        match self.full.load(Ordering::SeqCst) {
            true => Err(Error::Full("no space".into())),
            false => Ok(()),
        }
    }

    async fn events_read(&self, query: &EventQuery, events: &[Event]) {
        if query.from.unwrap_or(0) == 0 {
            self.read_whole.fetch_add(1, Ordering::SeqCst);
        }
        self.read.fetch_add(events.len(), Ordering::SeqCst);
        let hold = self.hold.lock().take();
        if let Some(Hold { reached, go_on }) = hold {
            reached.send(()).unwrap();
            go_on.await.unwrap();
        }
    }
}

async fn open(store: Arc<Watched>, echo: bool) -> Runtime {
    let mut handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    if echo {
        let kind: Arc<dyn Handler> = function("echo", |input: Value| async move {
            Ok::<_, riverrun_engine::Failure>(input)
        });
        handlers.push(kind);
    }
    let gate = store.gate.clone();
    handlers.push(function("gate", move |input: Value| {
        let gate = gate.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            Ok::<_, riverrun_engine::Failure>(input)
        }
    }));
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let store = Through::new(store.store.clone(), store);
    Runtime::open(store, sandbox, handlers, Options::default())
        .await
        .unwrap()
}

async fn register(runtime: &Runtime, id: &str, first: &str, steps: Value) {
    let flow = json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
    runtime.flows().register(&flow).await.unwrap();
}

async fn start(runtime: &Runtime, flow: &str, input: Value) -> RunId {
    let request = StartRequest::new(flow, input);
    runtime.runs().start(request).await.unwrap().run
}

async fn end(runtime: &Runtime, run: &RunId) -> RunView {
    let view = runtime.runs().wait(run, LONG).await.unwrap();
    assert!(view.state().status.is_ended(), "{:#?}", view.state());
    view
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_known_of_a_run_is_not_read_again() {
    let store = Watched::new();
    let runtime = open(store.clone(), true).await;
    let conditions = json!([{"path": "n", "op": "lt", "value": 40, "goto": "echo"}]);
    register(
        &runtime,
        "loop",
        "echo",
        json!({
            "echo": {"type": "echo", "input": {"type": "key", "key": "n"}, "outputKey": "m", "transitions": {"onSuccess": "add"}},
            "add": {"type": "transform", "config": {"transform": "(input ?? 0) + 1"}, "input": {"type": "key", "key": "m"}, "outputKey": "n", "transitions": {"onSuccess": "more"}},
            "more": {"type": "branch", "config": {"conditions": conditions, "default": "nap"}},
            "nap": {"type": "delay", "config": {"ms": 1}, "transitions": {"onSuccess": "done"}},
            "done": {"type": "echo", "input": {"type": "key", "key": "n"}},
        }),
    )
    .await;
    let run = start(&runtime, "loop", json!({"n": 0})).await;
    let view = end(&runtime, &run).await;
    assert!(view.state().len > 200, "{}", view.state().len);
    let known = runtime.runs().load(&run).await.unwrap().state;
    // A read may come between a commit and the cache, and then take in what that commit added. It
    // never begins anew.
    assert_eq!(store.read_whole.load(Ordering::SeqCst), 0);
    store.read();
    runtime.runs().load(&run).await.unwrap();
    assert_eq!(store.read(), 0);
    // A cold reader has to, once, and sees the same.
    let other = open(store.clone(), true).await;
    assert_eq!(other.runs().load(&run).await.unwrap().state, known);
    assert!(store.read() > 0);
    assert_eq!(other.runs().load(&run).await.unwrap().state, known);
    assert_eq!(store.read(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_events_are_in_the_store() {
    let store = Watched::new();
    let runtime = open(store.clone(), true).await;
    register(
        &runtime,
        "naps",
        "a",
        json!({
            "a": {"type": "gate", "transitions": {"onSuccess": "b"}},
            "b": {"type": "echo", "transitions": {"onSuccess": "c"}},
            "c": {"type": "echo"},
        }),
    )
    .await;
    let run = start(&runtime, "naps", json!({})).await;
    let stream = StreamName::flow(&run);
    let mut tail = runtime.streams().tail(stream.clone(), 0);
    let mut live = 0;
    loop {
        let events = match tail.next().await.unwrap() {
            // What there was at the beginning. All else comes after it, and is received.
            Tailed::Read(events) => {
                store.gate.add_permits(1);
                events
            }
            Tailed::Live(batch) => {
                live += 1;
                batch.events.clone()
            }
            Tailed::Missed(_) | Tailed::Gone => panic!("the stream is gone"),
        };
        let query = EventQuery::forward(0, 1_000);
        let stored = store.store.events(&stream, &query).await.unwrap();
        assert!(events.iter().all(|event| stored.contains(event)));
        if events
            .last()
            .is_some_and(|event| event.kind.as_str() == "flow.completed")
        {
            break;
        }
    }
    assert!(live > 0, "no live events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_commits_are_not_published() {
    let store = Watched::new();
    let runtime = open(store.clone(), true).await;
    let stream = StreamName::checked("webhook", "x").unwrap();
    let event = |n: u32| [Json::of(&json!({"type": "order.paid", "data": n}))];
    runtime.events().append(&stream, &event(1)).await.unwrap();
    let mut updates = runtime.base().hub().subscribe(&stream);
    store.full.store(true, Ordering::SeqCst);
    let refused = runtime
        .events()
        .append(&stream, &event(2))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "DISK_FULL");
    store.full.store(false, Ordering::SeqCst);
    runtime.events().append(&stream, &event(3)).await.unwrap();
    let riverrun_store::StreamUpdate::Batch(batch) = updates.next().await else {
        panic!("not a batch")
    };
    let data: Vec<_> = batch
        .events
        .iter()
        .map(|event| event.data.clone())
        .collect();
    assert_eq!(data, [Some(Json::of(&3))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_sees_the_state_of_another() {
    let runtime = open(Watched::new(), true).await;
    register(
        &runtime,
        "own",
        "a",
        json!({
            "a": {"type": "set", "config": {"value": "${who}"}, "outputKey": "mine", "transitions": {"onSuccess": "b"}},
            "b": {"type": "echo", "input": {"type": "full"}, "outputKey": "seen"},
        }),
    )
    .await;
    let runs = ["x", "y"].map(|who| start(&runtime, "own", json!({"who": who})));
    for (run, who) in futures::future::join_all(runs).await.iter().zip(["x", "y"]) {
        let expected = json!({"who": who, "mine": who, "seen": {"who": who, "mine": who}});
        assert_eq!(
            end(&runtime, run).await.state().state.json().value(),
            expected
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_whose_handler_is_gone_waits_for_a_process_of_that_name() {
    let store = Watched::new();
    let first = open(store.clone(), true).await;
    register(&first, "lost", "a", json!({"a": {"type": "echo"}})).await;
    let second = open(store, false).await;
    let run = start(&second, "lost", json!({})).await;
    let loaded = second.runs().load(&run).await.unwrap();
    let missing = second.steps().missing_process(&loaded).await.unwrap();
    assert_eq!(missing.as_deref(), Some("echo"));
    let why = second.reasons().why(&run).await.unwrap();
    assert!(
        why.summary.contains("nobody here runs process echo"),
        "{}",
        why.summary
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_keeps_the_version_that_it_began_with() {
    let store = Watched::new();
    let runtime = open(store.clone(), true).await;
    let flow = |version: &str| {
        json!({"id": "f", "version": version, "initialStepId": "nap", "steps": {
            "nap": {"type": "gate", "transitions": {"onSuccess": "say"}},
            "say": {"type": "set", "config": {"value": version}, "outputKey": "version"},
        }})
    };
    runtime.flows().register(&flow("1.0.0")).await.unwrap();
    let run = start(&runtime, "f", json!({})).await;
    runtime.flows().register(&flow("2.0.0")).await.unwrap();
    let later = start(&runtime, "f", json!({})).await;
    store.gate.add_permits(2);
    for (run, version) in [(run, "1.0.0"), (later, "2.0.0")] {
        let view = end(&runtime, &run).await;
        assert_eq!(
            view.state().state.json().value(),
            json!({"version": version})
        );
    }
}

/// The id of a deleted run is used again while somebody is still reading the deleted one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_run_never_has_the_state_of_the_one_whose_id_it_took() {
    let store = Watched::new();
    let first = open(store.clone(), true).await;
    let steps = json!({
        "a": {"type": "branch", "config": {"conditions": [{"path": "old", "op": "exists", "goto": "b"}], "default": "nap"}},
        "b": {"type": "set", "config": {"value": 1}, "outputKey": "b"},
        "nap": {"type": "delay", "config": {"ms": 3_600_000}},
    });
    register(&first, "f", "a", steps).await;
    let run = RunId::new("again");
    let begin = async |runtime: &Runtime, input: Value| {
        let mut request = StartRequest::new("f", input);
        request.run_id = Some(run.clone());
        runtime.runs().start(request).await.unwrap()
    };
    let old = begin(&first, json!({"old": true})).await;
    assert_eq!(old.status, RunStatus::Completed);

    let second = open(store.clone(), true).await;
    let (reached, is_reached) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel();
    *store.hold.lock() = Some(Hold {
        reached,
        go_on: may_go_on,
    });
    let reader = tokio::spawn({
        let (runtime, run) = (second.clone(), run.clone());
        async move { runtime.runs().load(&run).await }
    });
    is_reached.await.unwrap();
    second.runs().delete(&run).await.unwrap();
    begin(&second, json!({"new": true})).await;
    go_on.send(()).unwrap();
    let read = reader.await.unwrap();
    assert!(read.is_ok_and(|loaded| loaded.state.state.get("old").is_some()));

    // Until the new run is as long as the old one was.
    let log = [Json::of(&json!({"type": "log", "data": {"message": "x"}}))];
    for _ in 0..old.state.len {
        second
            .events()
            .append(&StreamName::flow(&run), &log)
            .await
            .unwrap();
        let loaded = second.runs().load(&run).await.unwrap();
        assert_eq!(loaded.state.state.json().as_str(), r#"{"new":true}"#);
    }
}
