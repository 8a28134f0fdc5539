//! The two of them.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Options, Runtime, StartRequest};
use riverrun_store::{EventQuery, Result, Store};
use riverrun_store_conformance::through::{Between, Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, Name, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

pub const LONG: Duration = Duration::from_secs(20);

/// Holds back what a server is about to write.
#[derive(Default)]
pub struct Pen {
    free: Arc<Mutex<()>>,
    is_waiting: Notify,
}

impl Pen {
    /// Nothing is written until this is dropped.
    pub async fn hold(&self) -> OwnedMutexGuard<()> {
        self.free.clone().lock_owned().await
    }

    /// Resolves when something is held back.
    pub async fn is_waiting(&self) {
        let waiting = tokio::time::timeout(LONG, self.is_waiting.notified()).await;
        waiting.expect("nothing is written");
    }
}

#[async_trait]
impl Between for Pen {
    async fn writes(&self) -> Result<()> {
        if self.free.try_lock().is_err() {
            self.is_waiting.notify_one();
            drop(self.free.lock().await);
        }
        Ok(())
    }
}

pub struct Servers {
    pub one: Runtime,
    pub other: Runtime,
    /// What each of them writes with.
    pub pens: [Arc<Pen>; 2],
    pub store: Arc<dyn Store>,
}

impl Servers {
    /// Two servers that know these flows.
    pub async fn new(flows: &[Value]) -> Self {
        let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
        let pens: [Arc<Pen>; 2] = Default::default();
        let one = server(Through::new(store.clone(), pens[0].clone())).await;
        for flow in flows {
            if let Err(error) = one.flows().register(flow).await {
                panic!("{error:#?}");
            }
        }
        let other = server(Through::new(store.clone(), pens[1].clone())).await;
        Self {
            one,
            other,
            pens,
            store,
        }
    }

    /// A run that the one server has just seen waiting.
    pub async fn start(&self, flow: &str) -> RunId {
        let request = StartRequest::new(flow, Json::null());
        let run = self.one.runs().start(request).await.unwrap().run;
        let view = self.one.runs().run(&run).await.unwrap();
        assert_eq!(view.state().status, RunStatus::Waiting);
        run
    }

    pub async fn events(&self, stream: &StreamName) -> Vec<Event> {
        let query = EventQuery::forward(0, 10_000);
        self.store.events(stream, &query).await.unwrap()
    }

    /// The callback for which a run waits.
    pub async fn callback(&self, run: &RunId) -> Name {
        let mut awaits = self.store.awaits_of(run).await.unwrap();
        awaits.remove(0).id
    }
}

/// A flow whose first step waits for its callback.
pub fn flow(id: &str, mut steps: Value) -> Value {
    steps["hold"] = json!({"type": "set", "config": {"value": 1}, "await": {"type": "trigger"}});
    json!({"id": id, "version": "1.0.0", "initialStepId": "hold", "steps": steps})
}

async fn server(store: Arc<dyn Store>) -> Runtime {
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let handlers = riverrun_handlers::all(Default::default());
    let opened = Runtime::open(store, sandbox, handlers, Options::default());
    opened.await.unwrap()
}
