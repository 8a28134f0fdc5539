//! Both sides of the protocol with nothing but channels between.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{SinkExt, StreamExt, channel::mpsc};
use riverrun_contract::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_protocol::{CancelReason, Frame, Reply, WorkError};
use riverrun_providers::{
    remote::{WorkerState, Workers, WorkersOptions},
    worker::{Over, Worker, WorkerOptions},
};
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinHandle};

use crate::harness::{Asked, invocation_with, until, within};

/// Asks for something, then waits until it may go on.
struct Train {
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl Provider for Train {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let detail = None;
        invocation.host.frame(Frame::Progress {
            pct: Some(50.0),
            detail,
        });
        // As a runner would send it, with its own id of the invocation.
        let asked = Json::of(&json!({"invocation": 1, "type": "x", "data": 1.5}));
        let answer = invocation.host.ask("emit", asked).await?;
        tokio::select! {
            _ = self.go_on.acquire() => {}
            reason = invocation.cancel.cancelled() => {
                return Err(WorkError::new("CANCELLED", format!("{reason:?}")));
            }
        }
        Ok(Reply {
            value: Some(answer),
            ..Reply::default()
        })
    }
}

fn worker(go_on: &Arc<Semaphore>) -> Worker {
    let process = Process {
        id: "train".into(),
        config: ProcessConfig::read(&Json::null(), "train").unwrap_or_else(|_| panic!()),
        provider: Arc::new(Train {
            go_on: go_on.clone(),
        }),
        source: Source::default(),
    };
    let options = WorkerOptions {
        name: "far".to_owned(),
        tags: Vec::new(),
        concurrency: 2,
        broken: Vec::new(),
    };
    Worker::new(options, vec![Arc::new(process)])
}

struct Connection {
    worker: JoinHandle<Over>,
    pumps: Vec<JoinHandle<()>>,
    /// Dropping it ends the connection for the server.
    held: mpsc::UnboundedSender<Result<String, WorkError>>,
}

impl Connection {
    fn new(workers: &Workers, worker: &Worker) -> Self {
        let (to_server, from_worker) = mpsc::unbounded::<String>();
        let (to_worker, from_server) = mpsc::unbounded::<String>();
        let (mut near, incoming) = mpsc::unbounded::<Result<String, WorkError>>();
        let (mut far, worker_side) = mpsc::unbounded::<String>();
        let (workers, worker, held) = (workers.clone(), worker.clone(), near.clone());
        let mut from_worker = from_worker;
        let mut from_server = from_server;
        let pumps = vec![
            tokio::spawn(async move {
                while let Some(text) = from_worker.next().await {
                    let _ = near.send(Ok(text)).await;
                }
            }),
            tokio::spawn(async move {
                while let Some(text) = from_server.next().await {
                    let _ = far.send(text).await;
                }
            }),
        ];
        tokio::spawn(async move {
            workers
                .attend(incoming, to_worker, &crate::remote::Anything)
                .await
        });
        Self {
            worker: tokio::spawn(
                async move { worker.converse(worker_side, to_server, |_| ()).await },
            ),
            pumps,
            held,
        }
    }

    async fn cut(self) -> Over {
        self.pumps.iter().for_each(JoinHandle::abort);
        within(self.worker).await.unwrap()
    }
}

fn workers() -> Workers {
    Workers::new(WorkersOptions {
        reconnect: Duration::from_secs(10),
        ..WorkersOptions::default()
    })
}

fn begin(workers: &Workers, job: &str) -> (Asked, JoinHandle<Result<Reply, WorkError>>) {
    let asked = invocation_with(json!({}), |invoke| {
        invoke.kind = "call".to_owned();
        invoke.process = "train".to_owned();
        invoke.job.job_id = Some(job.to_owned());
        invoke.lease = Some("7".to_owned());
    });
    let (provider, invocation) = (workers.provider("train"), asked.invocation.clone());
    let handle = tokio::spawn(async move { within(provider.invoke(invocation)).await });
    (asked, handle)
}

fn is(workers: &Workers, state: WorkerState) -> bool {
    workers.list().iter().any(|worker| worker.state == state)
}

async fn value(handle: JoinHandle<Result<Reply, WorkError>>) -> Value {
    within(handle)
        .await
        .unwrap()
        .unwrap()
        .value
        .unwrap()
        .value()
}

#[tokio::test]
async fn what_runs_goes_on_over_another_connection() {
    let (workers, go_on) = (workers(), Arc::new(Semaphore::new(0)));
    let worker = worker(&go_on);
    let connection = Connection::new(&workers, &worker);
    until(|| is(&workers, WorkerState::Connected)).await;
    let (asked, handle) = begin(&workers, "a");
    until(|| !asked.host.asked.lock().is_empty()).await;
    asked
        .host
        .until(|frame| matches!(frame, Frame::Progress { .. }))
        .await;
    assert!(matches!(connection.cut().await, Over::Broken));
    until(|| is(&workers, WorkerState::Away)).await;
    assert_eq!(worker.running(), 1);
    // It ends while there is no connection.
    go_on.add_permits(1);
    within(worker.idle()).await;
    let connection = Connection::new(&workers, &worker);
    let answer = value(handle).await;
    assert_eq!(answer["params"]["data"], 1.5);
    assert_eq!(asked.host.asked.lock().len(), 1);
    assert_eq!(workers.list().len(), 1);

    // An answer that was received is sent again without effect.
    assert!(matches!(connection.cut().await, Over::Broken));
    until(|| workers.list().is_empty()).await;
    let connection = Connection::new(&workers, &worker);
    until(|| is(&workers, WorkerState::Connected)).await;
    let (_, handle) = begin(&workers, "b");
    value(handle).await;
    worker.leave();
    assert!(matches!(
        within(connection.worker).await.unwrap(),
        Over::Drained
    ));
    assert!(workers.list().is_empty());
}

/// A connection can be dead before the server detects it: what comes then goes to the new one.
#[tokio::test]
async fn a_worker_that_comes_back_takes_the_place_of_its_dead_connection() {
    let (workers, go_on) = (workers(), Arc::new(Semaphore::new(1)));
    let worker = worker(&go_on);
    let dead = Connection::new(&workers, &worker);
    until(|| is(&workers, WorkerState::Connected)).await;
    let id = workers.list()[0].id;
    // Nothing gets through any more, and the server still believes in it.
    dead.worker.abort();
    let _held = dead.held;
    let since = workers.list()[0].since;
    let connection = Connection::new(&workers, &worker);
    until(|| workers.list()[0].since > since).await;
    assert_eq!((workers.list().len(), workers.list()[0].id), (1, id));
    let (_, handle) = begin(&workers, "a");
    value(handle).await;
    worker.leave();
    assert!(matches!(
        within(connection.worker).await.unwrap(),
        Over::Drained
    ));
}

#[tokio::test]
async fn what_is_cancelled_stops() {
    let (workers, go_on) = (workers(), Arc::new(Semaphore::new(0)));
    let worker = worker(&go_on);
    let connection = Connection::new(&workers, &worker);
    until(|| is(&workers, WorkerState::Connected)).await;
    let (asked, handle) = begin(&workers, "a");
    until(|| !asked.host.asked.lock().is_empty()).await;
    asked.cancel.cancel(CancelReason::User);
    let error = within(handle).await.unwrap().unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("CANCELLED", "User")
    );
    let id = workers.list()[0].id;
    let drained = workers.drain(id, Duration::from_secs(5)).unwrap();
    assert_eq!(within(drained).await, 0);
    assert!(matches!(
        within(connection.worker).await.unwrap(),
        Over::Drained
    ));
}

#[tokio::test]
async fn a_server_that_speaks_another_protocol_is_left() {
    let worker = worker(&Arc::new(Semaphore::new(0)));
    for (first, code) in [
        (
            json!({"id": 1, "method": "initialise", "params": {"protocol": 2,
                "server": {"name": "x", "version": "9"},
                "limits": {"messageBytes": 1, "resultBytes": 1}}}),
            "PROTOCOL_VERSION",
        ),
        (json!({"id": 1, "method": "hello"}), "PROTOCOL_ERROR"),
        (
            json!({"method": "refused", "params": {"code": "PROCESS_INVALID", "message": "no"}}),
            "PROCESS_INVALID",
        ),
    ] {
        let worker_side = futures::stream::iter([first.to_string()]);
        let (say, _receiver) = mpsc::unbounded();
        match within(worker.converse(worker_side, say, |_| ())).await {
            Over::Refused(error) => assert_eq!(error.code, code),
            other => panic!("{other:?}"),
        }
    }
}
