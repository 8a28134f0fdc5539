//! Flows whose steps are processes, on a real embedded store.

macro_rules! script {
    (|$invocation:ident| $body:expr) => {
        |$invocation: riverrun_runtime::Invocation| Box::pin(async move { $body })
    };
}

mod attempts;
mod awaits;
mod buffered;
mod callbacks;
mod changed;
mod copies;
mod events;
mod inputs;
mod jobs;
mod journal;
mod park;
mod retries;
mod writes;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{
    Invocation, Options, Process, ProcessConfig, Provider, RunView, Runtime, Source, StartRequest,
};
use riverrun_store::{EventQuery, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, StreamName};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(20);

type Script = fn(Invocation) -> futures::future::BoxFuture<'static, Result<Value, WorkError>>;

/// A handler that is a function.
struct Scripted(Script);

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let value = (self.0)(invocation).await?;
        Ok(Reply {
            value: Some(Json::of(&value)),
            ..Reply::default()
        })
    }
}

async fn ask(invocation: &Invocation, method: &str, params: Value) -> Result<Value, WorkError> {
    let answer = invocation.host.ask(method, Json::of(&params)).await?;
    Ok(answer.value())
}

fn input(invocation: &Invocation) -> Value {
    let input = invocation.invoke.job.input.as_ref();
    input.map_or(Value::Null, Json::value)
}

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
}

impl World {
    async fn new() -> Self {
        Self::on(SqliteStore::memory().unwrap()).await
    }

    async fn on(store: Arc<dyn Store>) -> Self {
        let options = Options {
            grace: Duration::from_millis(50),
            lease: Duration::from_millis(600),
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let handlers = riverrun_handlers::all(Default::default());
        let runtime = Runtime::open(store.clone(), sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        Self { runtime, store }
    }

    fn put(&self, id: &str, config: Value, script: Script) {
        let config = ProcessConfig::read(&Json::of(&config), id);
        self.runtime.queues().put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Arc::new(Scripted(script)),
            source: Source::default(),
        });
    }

    async fn register(&self, flow: Value) {
        let registered = self.runtime.flows().register(&flow).await;
        if let Err(error) = registered {
            panic!("{error:?}");
        }
    }

    async fn start(&self, flow: &str, input: Value) -> RunId {
        let request = StartRequest::new(flow, Json::of(&input));
        self.runtime.runs().start(request).await.unwrap().run
    }

    async fn end(&self, run: &RunId) -> RunView {
        let ended = self.runtime.runs().wait(run, LONG);
        let view = ended.await.unwrap();
        assert!(
            view.loaded.state.status.is_ended(),
            "{:#?}",
            view.loaded.state
        );
        view
    }

    /// What the events of a kind say.
    async fn data(&self, run: &RunId, kind: &str) -> Vec<Value> {
        let query = EventQuery::forward(0, 1_000);
        let events = self.store.events(&StreamName::flow(run), &query).await;
        let events = events.unwrap().into_iter();
        let of_kind = events.filter(|event| event.kind.as_str() == kind);
        of_kind
            .map(|event| event.data.map_or(Value::Null, |data| data.value()))
            .collect()
    }

    async fn events(&self, run: &RunId) -> Vec<String> {
        let query = EventQuery::forward(0, 1_000);
        let events = self.store.events(&StreamName::flow(run), &query).await;
        let line = |event: &riverrun_types::Event| match &event.step {
            None => event.kind.to_string(),
            Some(at) => format!("{} {}#{}/{}", event.kind, at.name, at.visit, at.attempt),
        };
        events.unwrap().iter().map(line).collect()
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

fn flow(steps: Value) -> Value {
    let first = steps.as_object().unwrap().keys().next().unwrap().clone();
    json!({"id": "f", "version": "1.0.0", "initialStepId": first, "steps": steps})
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_millis()).unwrap()
}
