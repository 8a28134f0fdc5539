//! Workers that connect, with nothing but channels between.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{SinkExt, StreamExt, channel::mpsc};
use riverrun_contract::{Brought, Home, MadeFlows, Process};
use riverrun_protocol::{CancelReason, LoadedProcess, Reply, WorkError};
use riverrun_providers::remote::{WorkerState, Workers, WorkersOptions};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{Asked, invocation_with, until, within};

fn workers() -> Workers {
    Workers::new(WorkersOptions {
        cancel_grace: Duration::from_millis(100),
        reconnect: Duration::from_millis(300),
        ..WorkersOptions::default()
    })
}

/// Takes in whatever workers offer, and makes no flows.
pub struct Anything;

#[async_trait::async_trait]
impl Home for Anything {
    fn take_in(&self, _: Process) -> bool {
        true
    }

    async fn make_flows(&self, _: &Brought, _: &[LoadedProcess]) -> MadeFlows {
        MadeFlows::default()
    }
}

/// The worker's side of a connection.
struct Worker {
    say: mpsc::UnboundedSender<Result<String, WorkError>>,
    from_server: mpsc::UnboundedReceiver<String>,
    received: VecDeque<Value>,
    attended: JoinHandle<Result<(), WorkError>>,
}

impl Worker {
    fn connect(workers: &Workers) -> Self {
        let (say, incoming) = mpsc::unbounded();
        let (outgoing, from_server) = mpsc::unbounded();
        let workers = workers.clone();
        Self {
            say,
            from_server,
            received: VecDeque::new(),
            attended: tokio::spawn(
                async move { workers.attend(incoming, outgoing, &Anything).await },
            ),
        }
    }

    /// Connects, says who it is and waits until that is known.
    async fn enter(workers: &Workers, credits: u32, running: Value) -> Self {
        let mut worker = Self::connect(workers);
        let hello = worker.next().await;
        assert_eq!(hello["method"], "initialise");
        let said = json!({
            "protocol": 1, "sdk": {"name": "fake", "version": "1", "language": "fake"},
            "worker": {"name": "gpu-3", "tags": ["gpu"]},
            "processes": [{"id": "train", "config": {"queue": "train"}}],
            "credits": credits, "running": running,
        });
        worker.say(json!({"id": hello["id"], "result": said})).await;
        until(|| {
            workers
                .list()
                .iter()
                .any(|status| status.state == WorkerState::Connected)
        })
        .await;
        worker.receives("welcome").await;
        worker
    }

    async fn say(&mut self, message: Value) {
        self.say.send(Ok(message.to_string())).await.unwrap();
    }

    async fn answer(&mut self, invoke: &Value, value: Value) {
        self.say(json!({"id": invoke["id"], "result": {"value": value}}))
            .await;
    }

    async fn next(&mut self) -> Value {
        while self.received.is_empty() {
            let text = within(self.from_server.next())
                .await
                .expect("the connection ended");
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            self.received.extend(lines);
        }
        self.received.pop_front().unwrap()
    }

    /// The next message, which must have this method.
    async fn receives(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Is asked whether it lives, and says so.
    async fn is_alive(&mut self) {
        let ping = self.receives("ping").await;
        let unknown = json!({"code": -32601, "message": "unknown method"});
        self.say(json!({"id": ping["id"], "error": unknown})).await;
    }

    async fn is_silent(&mut self) {
        let more = tokio::time::timeout(Duration::from_millis(50), self.from_server.next()).await;
        assert!(more.is_err(), "{more:?}");
    }
}

fn begin(workers: &Workers, job: &str) -> (Asked, JoinHandle<Result<Reply, WorkError>>) {
    let asked = invocation_with(json!({"job": job}), |invoke| {
        // A call has no place taken for it, and waits for one.
        invoke.kind = "call".to_owned();
        invoke.job.job_id = Some(job.to_owned());
        invoke.lease = Some(format!("lease-{job}"));
    });
    let (provider, invocation) = (workers.provider("train"), asked.invocation.clone());
    let handle = tokio::spawn(async move { within(provider.invoke(invocation)).await });
    (asked, handle)
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

async fn code(handle: JoinHandle<Result<Reply, WorkError>>) -> String {
    within(handle).await.unwrap().unwrap_err().code.into()
}

#[tokio::test]
async fn a_worker_gets_what_it_has_credits_for() {
    let workers = workers();
    let (_, early) = begin(&workers, "early");
    assert_eq!(code(early).await, "NO_WORKER");
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (asked, first) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    assert_eq!(invoke["params"]["jobId"], "a");
    assert_eq!(invoke["params"]["lease"], "lease-a");
    let (_, second) = begin(&workers, "b");
    worker.is_silent().await;
    let status = &workers.list()[0];
    assert_eq!(
        (status.name.as_str(), status.running, status.credits),
        ("gpu-3", 1, 0)
    );
    assert_eq!(status.processes[0].id.as_deref(), Some("train"));

    let id = invoke["id"].clone();
    worker
        .say(json!({"method": "progress", "params": {"invocation": id, "pct": 10}}))
        .await;
    worker
        .say(json!({"id": 1, "method": "emit", "params": {"invocation": id, "type": "x"}}))
        .await;
    assert_eq!(worker.next().await["result"]["method"], "emit");
    assert_eq!(asked.host.frames().len(), 1);

    worker.answer(&invoke, json!("done")).await;
    assert_eq!(value(first).await, "done");
    let invoke = worker.receives("invoke").await;
    assert_eq!(invoke["params"]["jobId"], "b");
    worker
        .say(json!({"method": "credit", "params": {"credits": 2}}))
        .await;
    let (_, third) = begin(&workers, "c");
    let other = worker.receives("invoke").await;
    worker.answer(&other, json!(3)).await;
    worker.answer(&invoke, json!(2)).await;
    assert_eq!(
        (value(second).await, value(third).await),
        (json!(2), json!(3))
    );
    assert_eq!(workers.free("train"), 3);
    assert_eq!(workers.free("other"), 0);
}

#[tokio::test]
async fn a_worker_that_comes_back_in_time_goes_on() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 3, json!([])).await;
    let (_, kept) = begin(&workers, "kept");
    let invoke = worker.receives("invoke").await;
    let (_, lost) = begin(&workers, "lost");
    worker.receives("invoke").await;
    drop(worker);
    until(|| workers.list()[0].state == WorkerState::Away).await;
    assert_eq!(workers.free("train"), 0);

    let running = json!([
        {"invocation": invoke["id"], "jobId": "kept", "lease": "lease-kept"},
        {"invocation": 77, "jobId": "unknown", "lease": "old"},
    ]);
    let mut worker = Worker::enter(&workers, 3, running).await;
    assert_eq!(code(lost).await, "WORKER_LOST");
    assert_eq!(worker.receives("cancel").await["params"]["invocation"], 77);
    worker.answer(&invoke, json!("kept")).await;
    assert_eq!(value(kept).await, "kept");
    assert_eq!(workers.list().len(), 1);
    assert_eq!(workers.free("train"), 3);
}

#[tokio::test]
async fn a_worker_that_stays_away_is_lost() {
    let workers = workers();
    let places = workers.provider("train");
    let places = places.places().unwrap();
    assert!(!places.is_staffed());
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (_, handle) = begin(&workers, "a");
    worker.receives("invoke").await;
    assert!(places.is_staffed(), "it has no room, and is there");
    drop(worker);
    assert_eq!(code(handle).await, "WORKER_LOST");
    until(|| workers.list().is_empty()).await;
    assert!(!places.is_staffed());
}

#[tokio::test]
async fn what_a_worker_runs_for_a_server_that_is_gone_is_cancelled() {
    let workers = workers();
    let running = json!([{"invocation": 9, "jobId": "old", "lease": "old"}]);
    let mut worker = Worker::enter(&workers, 1, running).await;
    assert_eq!(worker.receives("cancel").await["params"]["invocation"], 9);
    let (_, handle) = begin(&workers, "new");
    let invoke = worker.receives("invoke").await;
    assert_eq!(invoke["id"], 10);
    // An answer to a cancelled invocation is ignored.
    worker
        .say(json!({"id": 9, "result": {"value": "old"}}))
        .await;
    worker.answer(&invoke, json!("new")).await;
    assert_eq!(value(handle).await, "new");
}

#[tokio::test]
async fn a_worker_that_leaves_ends_what_it_runs_first() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 2, json!([])).await;
    let (_, handle) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    worker.say(json!({"method": "leave"})).await;
    until(|| workers.list()[0].state == WorkerState::Draining).await;
    let (_, never) = begin(&workers, "b");
    assert_eq!(code(never).await, "NO_WORKER");
    worker.is_silent().await;
    worker.answer(&invoke, json!(1)).await;
    assert_eq!(value(handle).await, 1);
    let drain = worker.receives("drain").await;
    worker
        .say(json!({"id": drain["id"], "result": {"unfinished": 0}}))
        .await;
    within(worker.attended).await.unwrap().unwrap();
    assert!(workers.list().is_empty());
}

#[tokio::test]
async fn a_drained_worker_has_its_time() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 2, json!([])).await;
    let (_, handle) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    let id = workers.list()[0].id;
    let drained = tokio::spawn({
        let workers = workers.clone();
        async move { workers.drain(id, Duration::from_secs(5)).unwrap().await }
    });
    let drain = worker.receives("drain").await;
    assert_eq!(drain["params"]["graceMs"], 5_000);
    worker.answer(&invoke, json!(1)).await;
    worker
        .say(json!({"id": drain["id"], "result": {"unfinished": 0}}))
        .await;
    assert_eq!(value(handle).await, 1);
    assert_eq!(within(drained).await.unwrap(), 0);
    within(worker.attended).await.unwrap().unwrap();
    assert!(workers.drain(id, Duration::ZERO).is_none());
}

#[tokio::test]
async fn a_worker_that_does_not_stop_has_a_credit_less() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (asked, handle) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    asked.cancel.cancel(CancelReason::User);
    assert_eq!(worker.receives("cancel").await["params"]["reason"], "user");
    worker.is_alive().await;
    assert_eq!(code(handle).await, "CANCELLED");
    assert_eq!(workers.free("train"), 0);
    let id = invoke["id"].clone();
    worker
        .say(json!({"id": 1, "method": "emit", "params": {"invocation": id, "type": "x"}}))
        .await;
    assert_eq!(
        worker.next().await["error"]["data"]["code"],
        "INVOCATION_ENDED"
    );
    worker.answer(&invoke, json!("too late")).await;
    until(|| workers.free("train") == 1).await;
}

#[tokio::test]
async fn a_handler_that_takes_too_long_in_a_worker_that_answers_is_not_lost() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (asked, handle) = begin(&workers, "a");
    worker.receives("invoke").await;
    asked.cancel.cancel(CancelReason::Timeout);
    worker.receives("cancel").await;
    worker.is_alive().await;
    assert_eq!(code(handle).await, "RUNNER_HUNG");
}

#[tokio::test]
async fn a_worker_that_talks_nonsense_is_let_go() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (_, handle) = begin(&workers, "a");
    worker.receives("invoke").await;
    worker.say.send(Ok("nonsense".to_owned())).await.unwrap();
    assert_eq!(code(handle).await, "PROTOCOL_ERROR");
    let ended = within(worker.attended).await.unwrap().unwrap_err();
    assert_eq!(ended.code, "PROTOCOL_ERROR");
    assert!(workers.list().is_empty());

    let mut stranger = Worker::connect(&workers);
    let hello = stranger.next().await;
    let sdk = json!({"name": "fake", "version": "1", "language": "fake"});
    stranger
        .say(json!({"id": hello["id"], "result": {"protocol": 2, "sdk": sdk}}))
        .await;
    assert_eq!(
        stranger.receives("refused").await["params"]["code"],
        "PROTOCOL_VERSION"
    );
    let ended = within(stranger.attended).await.unwrap().unwrap_err();
    assert_eq!(ended.code, "PROTOCOL_VERSION");
}

#[tokio::test]
async fn a_worker_with_a_process_that_cannot_be_is_refused() {
    let workers = workers();
    for (process, expected) in [
        (json!({"config": {}}), "PROTOCOL_ERROR"),
        (json!({"id": "", "config": {}}), "PROTOCOL_ERROR"),
        (
            json!({"id": "a", "config": {"concurrency": 0}}),
            "PROCESS_INVALID",
        ),
    ] {
        let mut worker = Worker::connect(&workers);
        let hello = worker.next().await;
        let sdk = json!({"name": "fake", "version": "1", "language": "fake"});
        let said = json!({"protocol": 1, "sdk": sdk, "processes": [process]});
        worker.say(json!({"id": hello["id"], "result": said})).await;
        assert_eq!(worker.receives("refused").await["params"]["code"], expected);
        let ended = within(worker.attended).await.unwrap().unwrap_err();
        assert_eq!(ended.code, expected);
    }
    assert!(workers.list().is_empty());
}

/// A job, also of a step, is claimed after a place for it was taken, which no other job uses.
#[tokio::test]
async fn places_are_taken_before_jobs_are() {
    for kind in ["job", "step"] {
        places_are_taken_before(kind).await;
    }
}

async fn places_are_taken_before(kind: &str) {
    let workers = workers();
    let provider = workers.provider("train");
    let places = provider.places().unwrap();
    let none = places.take(5);
    assert_eq!(none.count, 0);
    let mut worker = Worker::enter(&workers, 2, json!([])).await;
    within(none.more).await;
    assert_eq!(places.take(1).count, 1);
    let (_, waits) = begin(&workers, "call");
    let other = worker.receives("invoke").await;
    assert_eq!(workers.free("train"), 0);
    let job = |id: &str| {
        let asked = invocation_with(json!({}), |invoke| {
            invoke.kind = kind.to_owned();
            invoke.job.job_id = Some(id.to_owned());
        });
        asked.invocation
    };
    let (taken, invocation) = (provider.clone(), job("a"));
    let first = tokio::spawn(async move { taken.invoke(invocation).await });
    let invoke = worker.receives("invoke").await;
    assert_eq!(invoke["params"]["jobId"], "a");
    // A job without a place is not held.
    let refused = within(provider.invoke(job("b"))).await.unwrap_err();
    assert_eq!(refused.code, "NO_WORKER");
    worker.answer(&other, json!(1)).await;
    worker.answer(&invoke, json!(2)).await;
    assert_eq!(
        (value(waits).await, value(first).await),
        (json!(1), json!(2))
    );
    assert_eq!(places.take(9).count, 2);
    places.give_back(2);
    assert_eq!(workers.free("train"), 2);
    // A step is a job too, and uses the place that was taken for it: none is left behind.
    assert_eq!(places.take(1).count, 1);
    let mut step = job("c");
    Arc::make_mut(&mut step.invoke).kind = "step".to_owned();
    let taken = tokio::spawn(async move { provider.invoke(step).await });
    let invoke = worker.receives("invoke").await;
    assert_eq!(workers.free("train"), 1);
    worker.answer(&invoke, json!(3)).await;
    assert_eq!(value(taken).await, json!(3));
    assert_eq!(workers.free("train"), 2);
}

/// What a worker asked and may not have been received is asked again, and done once.
#[tokio::test]
async fn a_question_that_is_asked_again_is_done_once() {
    let workers = workers();
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (asked, handle) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    let question =
        json!({"id": 1, "method": "emit", "params": {"invocation": invoke["id"], "type": "x"}});
    worker.say(question.clone()).await;
    let answer = worker.next().await;
    drop(worker);
    until(|| workers.list()[0].state == WorkerState::Away).await;
    let running = json!([{"invocation": invoke["id"], "jobId": "a", "lease": "lease-a"}]);
    let mut worker = Worker::enter(&workers, 1, running).await;
    worker.say(question).await;
    assert_eq!(worker.next().await, answer);
    assert_eq!(asked.host.asked.lock().len(), 1);
    worker.answer(&invoke, json!(1)).await;
    assert_eq!(value(handle).await, 1);
}

#[tokio::test]
async fn a_list_that_closes_ends_its_connections() {
    let workers = workers();
    let worker = Worker::enter(&workers, 1, json!([])).await;
    workers.close();
    within(worker.attended).await.unwrap().unwrap();
    assert!(workers.list().is_empty());
    let mut late = Worker::connect(&workers);
    let hello = late.next().await;
    let sdk = json!({"name": "fake", "version": "1", "language": "fake"});
    late.say(json!({"id": hello["id"], "result": {"protocol": 1, "sdk": sdk}}))
        .await;
    let ended = within(late.attended).await.unwrap().unwrap_err();
    assert_eq!(ended.code, "SHUTTING_DOWN");
}

#[tokio::test]
async fn a_worker_that_answers_nothing_is_not_given_the_next_attempt() {
    let workers = Workers::new(WorkersOptions {
        cancel_grace: Duration::from_millis(50),
        probe: Duration::from_millis(50),
        ..WorkersOptions::default()
    });
    let mut frozen = Worker::enter(&workers, 16, json!([])).await;
    let (asked, handle) = begin(&workers, "a");
    let invoke = frozen.receives("invoke").await;
    asked.cancel.cancel(CancelReason::Timeout);
    assert_eq!(code(handle).await, "WORKER_LOST");
    assert_eq!(workers.free("train"), 0);
    within(frozen.attended).await.unwrap().unwrap();
    assert!(workers.list().is_empty());
    // It thaws and reconnects with work that was given to others meanwhile.
    let running = json!([{"invocation": invoke["id"], "jobId": "a", "lease": "lease-a"}]);
    let mut thawed = Worker::enter(&workers, 16, running).await;
    assert_eq!(
        thawed.receives("cancel").await["params"]["invocation"],
        invoke["id"]
    );
    let (_, handle) = begin(&workers, "b");
    let invoke = thawed.receives("invoke").await;
    thawed.answer(&invoke, json!("b")).await;
    assert_eq!(value(handle).await, "b");
}

#[tokio::test]
async fn a_worker_that_runs_something_is_asked_whether_it_lives() {
    let workers = Workers::new(WorkersOptions {
        silent: Duration::from_millis(300),
        ..WorkersOptions::default()
    });
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    let (_, handle) = begin(&workers, "a");
    let invoke = worker.receives("invoke").await;
    for _ in 0..5 {
        worker.is_alive().await;
    }
    worker.answer(&invoke, json!("slow")).await;
    assert_eq!(value(handle).await, "slow");
}

#[tokio::test]
async fn a_worker_that_falls_silent_is_given_up() {
    let workers = Workers::new(WorkersOptions {
        silent: Duration::from_millis(100),
        reconnect: Duration::from_millis(100),
        ..WorkersOptions::default()
    });
    let mut worker = Worker::enter(&workers, 1, json!([])).await;
    // Silent while it has nothing to do is as it should be.
    worker.is_silent().await;
    worker.is_silent().await;
    worker.is_silent().await;
    assert_eq!(workers.list()[0].state, WorkerState::Connected);
    let (_, handle) = begin(&workers, "a");
    worker.receives("invoke").await;
    assert_eq!(code(handle).await, "WORKER_LOST");
}
