//! The runtime on a real embedded store in memory: runs from their start to every kind of end.

mod control;
mod damaged;
mod owners;
mod shapes;
mod streams;
mod waits;

use std::{sync::Arc, time::Duration};

use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{
    Error, Handler, Options, RunView, Runtime, StartRequest, Started, Tailed, function,
};
use riverrun_store::{EventQuery, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{EventType, Json, RunId, StreamName};
use serde_json::{Value, json};
use tokio::sync::watch;

/// How often handlers that count were called, or were dropped under way.
type Calls = Arc<watch::Sender<usize>>;

const LONG: Duration = Duration::from_secs(20);

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    calls: Calls,
}

impl World {
    async fn new() -> Self {
        let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
        Self::on(store).await
    }

    async fn on(store: Arc<dyn Store>) -> Self {
        Self::with(store, Options::default()).await
    }

    async fn with(store: Arc<dyn Store>, options: Options) -> Self {
        let calls = Calls::default();
        let options = Options {
            grace: Duration::from_millis(50),
            ..options
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store.clone(), sandbox, handlers(&calls), options)
            .await
            .unwrap();
        Self {
            runtime,
            store,
            calls,
        }
    }

    async fn register(&self, id: &str, steps: Value) {
        let first = steps.as_object().unwrap().keys().next().unwrap().clone();
        self.register_as(
            json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps}),
        )
        .await;
    }

    async fn register_as(&self, definition: Value) {
        if let Err(Error::FlowInvalid(issues)) = self.runtime.flows().register(&definition).await {
            panic!("{issues:#?}");
        }
    }

    async fn start(&self, flow: &str, input: Value) -> Started {
        let request = StartRequest::new(flow, input);
        self.runtime.runs().start(request).await.unwrap()
    }

    async fn run(&self, flow: &str, input: Value) -> RunView {
        let started = self.start(flow, input).await;
        self.end(&started.run).await
    }

    async fn end(&self, run: &RunId) -> RunView {
        let view = self.runtime.runs().wait(run, LONG).await.unwrap();
        assert!(view.state().status.is_ended(), "{:#?}", view.state());
        view
    }

    async fn types(&self, run: &RunId) -> Vec<String> {
        let events = self.events(run).await;
        events.iter().map(|event| event.kind.to_string()).collect()
    }

    /// The whole stream of a run.
    async fn events(&self, run: &RunId) -> Vec<riverrun_types::Event> {
        let (stream, mut events) = (StreamName::flow(run), Vec::new());
        loop {
            let query = EventQuery::forward(events.len() as u64, 10_000);
            let page = self.store.events(&stream, &query).await.unwrap();
            if page.is_empty() {
                return events;
            }
            events.extend(page);
        }
    }

    /// Waits until the run's stream holds an event of a type.
    async fn until(&self, run: &RunId, kind: EventType) {
        let mut tail = self.runtime.streams().tail(StreamName::flow(run), 0);
        let seen = async {
            loop {
                let events = match tail.next().await.unwrap() {
                    Tailed::Read(events) => events,
                    Tailed::Live(batch) => batch.events.clone(),
                    Tailed::Missed(_) | Tailed::Gone => panic!("the stream is gone"),
                };
                if events.iter().any(|event| event.kind == kind) {
                    return;
                }
            }
        };
        tokio::time::timeout(LONG, seen)
            .await
            .expect("the event did not come");
    }

    /// Waits until a handler that counts has counted.
    async fn called(&self) {
        let mut calls = self.calls.subscribe();
        let called = calls.wait_for(|calls| *calls > 0);
        let called = tokio::time::timeout(LONG, called).await;
        called.expect("no call was counted").unwrap();
    }
}

fn handlers(calls: &Calls) -> Vec<Arc<dyn Handler>> {
    let mut handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    let flaky = calls.clone();
    handlers.push(function("flaky", move |fails: usize| {
        let call = count(&flaky);
        async move {
            if call < fails {
                Err(Failure::new("FLAKY", format!("call {call}")))
            } else {
                Ok(json!({ "calls": call + 1 }))
            }
        }
    }));
    handlers.push(function("panics", |_: Value| async {
        assert!(std::hint::black_box(false), "as the test wants");
        Ok::<_, Failure>(Value::Null)
    }));
    handlers.push(function("echo", |input: Value| async move {
        Ok::<_, Failure>(input)
    }));
    let stuck = calls.clone();
    handlers.push(function("stuck", move |_: Value| {
        let guard = Guard(stuck.clone());
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
            Ok::<_, Failure>(Value::Null)
        }
    }));
    handlers
}

/// Counts one more, and says how many there were before.
fn count(calls: &Calls) -> usize {
    let mut before = 0;
    calls.send_modify(|calls| {
        before = *calls;
        *calls += 1;
    });
    before
}

/// Counts when it is dropped: an attempt that was cancelled.
struct Guard(Calls);

impl Drop for Guard {
    fn drop(&mut self) {
        count(&self.0);
    }
}

fn text(json: &Option<Json>) -> &str {
    json.as_ref().map_or("-", Json::as_str)
}

/// What a run's state holds under a key.
fn held(view: &RunView, key: &str) -> String {
    let held = view.state().state.get(key);
    held.map_or("-", Json::as_str).to_owned()
}
