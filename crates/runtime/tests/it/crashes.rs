//! Work that kills the server whenever it is taken up. Here nothing dies: a second owner of the
//! store finds it as a killed one leaves it.

use std::{sync::Arc, time::Duration};

use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{
    Invocation, JobRequest, Options, Process, ProcessConfig, Provider, Runtime, Source,
    StartRequest, function,
};
use riverrun_store::{JobState, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, RunStatus};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const LONG: Duration = Duration::from_secs(20);

/// A job that never ends, and says when it has begun.
struct Hangs(mpsc::UnboundedSender<String>);

#[async_trait::async_trait]
impl Provider for Hangs {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let data = invocation.invoke.job.input.clone();
        let data = data.unwrap_or_else(Json::null).value();
        self.0.send(data.to_string()).unwrap();
        if data["hangs"] == true {
            std::future::pending::<()>().await;
        }
        Ok(Reply::default())
    }
}

struct Server {
    runtime: Runtime,
    began: mpsc::UnboundedReceiver<String>,
}

impl Server {
    async fn start(store: &Arc<SqliteStore>) -> Self {
        let (begin, began) = mpsc::unbounded_channel();
        let report = begin.clone();
        let hangs = function("hang", move |input: Value| {
            report.send(input.to_string()).unwrap();
            async move {
                if input["hangs"] == true {
                    std::future::pending::<()>().await;
                }
                Ok::<_, Failure>(input)
            }
        });
        let options = Options {
            grace: Duration::from_millis(10),
            probation: LONG,
            ..Options::default()
        };
        let mut handlers = riverrun_handlers::all(Default::default());
        handlers.push(hangs);
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let store: Arc<dyn Store> = store.clone();
        let runtime = Runtime::open(store, sandbox, handlers, options)
            .await
            .unwrap();
        let config = ProcessConfig::read(&Json::null(), "work").unwrap();
        runtime.queues().put_process(Process {
            id: "work".into(),
            config,
            provider: Arc::new(Hangs(begin)),
            source: Source::default(),
        });
        Self { runtime, began }
    }

    async fn began(&mut self) -> String {
        let began = tokio::time::timeout(LONG, self.began.recv()).await;
        began.expect("nothing begins").unwrap()
    }

    async fn add(&self, data: Value) -> RunId {
        let request: JobRequest = serde_json::from_value(json!({"data": data})).unwrap();
        let added = self
            .runtime
            .queues()
            .enqueue("work", vec![request], false)
            .await;
        added.unwrap().remove(0).id
    }

    async fn end(&self, run: &RunId) -> RunStatus {
        let view = self.runtime.runs().wait(run, LONG).await.unwrap();
        view.state().status
    }
}

/// The third start takes up what was active one at a time, and the fourth parks what was alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_alone_at_the_third_crash_is_parked() {
    let store = SqliteStore::memory().unwrap();
    let mut first = Server::start(&store).await;
    let poison = first.add(json!({"hangs": true})).await;
    first.began().await;
    let mut second = Server::start(&store).await;
    second.began().await;
    let mut third = Server::start(&store).await;
    third.began().await;
    // It is alone: what is added is stored, and does not begin.
    let other = third.add(json!({"n": 1})).await;
    let record = third.runtime.queues().job(&other).await.unwrap();
    assert_eq!(record.state, JobState::Waiting);
    let mut fourth = Server::start(&store).await;
    let record = fourth.runtime.queues().job(&poison).await.unwrap();
    assert_eq!(record.state, JobState::Parked);
    assert_eq!(record.error.unwrap().value()["code"], "JOB_QUARANTINED");
    assert_eq!(fourth.began().await, json!({"n": 1}).to_string());
    let retry = riverrun_store::Steer::Retry { at_ms: 0 };
    fourth.runtime.queues().steer(&poison, retry).await.unwrap();
    assert_eq!(fourth.began().await, json!({"hangs": true}).to_string());
    // A server that stops as it should leaves no crash behind.
    fourth
        .runtime
        .queues()
        .steer(&poison, riverrun_store::Steer::Cancel { reason: None })
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_alone_at_the_third_crash_is_parked_and_fails_nothing() {
    let store = SqliteStore::memory().unwrap();
    let mut first = Server::start(&store).await;
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "a", "steps": {
        "a": {"type": "set", "config": {"value": 1}, "transitions": {"onSuccess": "b"},
              "compensation": {"step": "undo"}},
        "b": {"type": "hang", "input": {"type": "full"}, "transitions": {"onFailure": "undo"}},
        "undo": {"type": "set", "config": {"value": 2}},
    }});
    first.runtime.flows().register(&flow).await.unwrap();
    let start = async |server: &Server, input: Value| {
        let request = StartRequest::new("f", Json::of(&input));
        server.runtime.runs().start(request).await.unwrap().run
    };
    let poison = start(&first, json!({"hangs": true})).await;
    first.began().await;
    let mut second = Server::start(&store).await;
    second.began().await;
    let mut third = Server::start(&store).await;
    third.began().await;
    let other = start(&third, json!({})).await;
    let mut fourth = Server::start(&store).await;
    let view = fourth.runtime.runs().run(&poison).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Waiting);
    let why = serde_json::to_value(fourth.runtime.reasons().why(&poison).await.unwrap()).unwrap();
    assert_eq!(why["reasons"][0]["code"], "QUARANTINED", "{why:#}");
    assert_eq!(fourth.end(&other).await, RunStatus::Completed);
    fourth.began().await;
    fourth.runtime.runs().resume(&poison).await.unwrap();
    assert!(fourth.began().await.contains("hangs"));
}

/// One that was killed, but ran for long, or stopped as it should in between, is no reason to be
/// careful.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clean_stop_ends_the_row_of_crashes() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(riverrun_store_sqlite::Options::new(dir.path())).unwrap();
    for _ in 0..4 {
        let store = open();
        let server = Server::start(&store).await;
        server.runtime.shutdown().await.unwrap();
    }
    let store = open();
    let mut server = Server::start(&store).await;
    let poison = server.add(json!({"hangs": true})).await;
    server.began().await;
    let mut next = Server::start(&store).await;
    next.began().await;
    let record = next.runtime.queues().job(&poison).await.unwrap();
    assert_eq!((record.state, record.attempt), (JobState::Active, 2));
}
