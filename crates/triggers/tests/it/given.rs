//! A runtime with triggers, and what tests ask of it.

use std::{path::Path, sync::Arc, time::Duration};

use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Clock, Options, RunView, Runtime, Started};
use riverrun_store::{RunFilter, RunRecord, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_triggers::{Origin, Result, Triggers};
use riverrun_types::{Event, Json, StreamName};
use serde_json::{Value, json};

pub const LONG: Duration = Duration::from_secs(20);

pub struct Given {
    pub runtime: Runtime,
    pub triggers: Triggers,
}

impl Given {
    pub async fn new() -> Self {
        Self::on(SqliteStore::memory().unwrap()).await
    }

    pub async fn in_folder(folder: &Path) -> Self {
        let options = riverrun_store_sqlite::Options::new(folder);
        Self::on(SqliteStore::open(options).unwrap()).await
    }

    pub async fn on(store: Arc<dyn Store>) -> Self {
        Self::by(store, Clock::default()).await
    }

    /// By a clock that a test may move.
    pub async fn by(store: Arc<dyn Store>, clock: Clock) -> Self {
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let handlers = riverrun_handlers::all(Default::default());
        let options = Options {
            has_listener: true,
            clock,
            ..Options::default()
        };
        let runtime = Runtime::open(store, sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        let flow = json!({
            "id": "order", "version": "1.0.0", "initialStepId": "a",
            "steps": {"a": {"type": "set", "config": {"value": true}, "outputKey": "done"}},
        });
        runtime.flows().register(&flow).await.unwrap();
        let strict = json!({
            "id": "strict", "version": "1.0.0", "initialStepId": "a",
            "inputSchema": {"type": "object", "required": ["n"]},
            "steps": {"a": {"type": "set", "config": {"value": true}, "outputKey": "done"}},
        });
        runtime.flows().register(&strict).await.unwrap();
        let triggers = Triggers::open(&runtime).await.unwrap();
        Self { runtime, triggers }
    }

    pub async fn put(&self, definition: Value) -> Value {
        let put = self.triggers.put(definition, Origin::Api).await.unwrap();
        Json::of(&put.trigger).value()
    }

    pub async fn refused(&self, definition: Value) -> &'static str {
        match self.triggers.put(definition, Origin::Api).await {
            Ok(_) => panic!("it was taken"),
            Err(error) => error.code().as_str(),
        }
    }

    pub async fn shown(&self, id: &str) -> Value {
        Json::of(&self.triggers.show(id).await.unwrap()).value()
    }

    pub async fn run(&self, started: &Started) -> RunView {
        self.runtime.runs().wait(&started.run, LONG).await.unwrap()
    }

    pub async fn runs(&self) -> Vec<RunRecord> {
        let filter = RunFilter {
            limit: 1_000,
            oldest_first: true,
            ..RunFilter::default()
        };
        self.runtime.runs().list(&filter).await.unwrap().items
    }

    /// The events of a trigger, the oldest first.
    pub async fn events(&self, id: &str) -> Vec<Event> {
        let page = self.triggers.history(id, 1_000, None).await.unwrap();
        page.items.into_iter().rev().collect()
    }

    pub async fn kinds(&self, id: &str) -> Vec<String> {
        let events = self.events(id).await;
        events.iter().map(|event| event.kind.to_string()).collect()
    }

    /// Waits until a trigger's stream has so many events of a kind, and gives them.
    pub async fn until(&self, id: &str, kind: &str, count: usize) -> Vec<Value> {
        let stream = StreamName::new("trigger", id);
        let mut news = self.runtime.base().hub().subscribe(&stream);
        let wait = async {
            loop {
                let events = self.events(id).await;
                let of_kind = events.iter().filter(|event| event.kind.as_str() == kind);
                let data: Vec<Value> = of_kind
                    .map(|event| event.data.as_ref().map(Json::value).unwrap_or_default())
                    .collect();
                if data.len() >= count {
                    return data;
                }
                news.next().await;
            }
        };
        tokio::time::timeout(LONG, wait).await.unwrap()
    }
}

pub fn code<T>(result: Result<T>) -> &'static str {
    match result {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.code().as_str(),
    }
}

pub fn state(view: &RunView) -> Value {
    view.state().state.json().value()
}

/// Where a run came from.
pub fn origin(record: &RunRecord) -> Value {
    record.metadata.as_ref().unwrap().value()["trigger"].clone()
}
