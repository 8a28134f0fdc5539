//! Queues and calls on a real embedded store: jobs from their add to every kind of end.

mod adding;
mod batches;
mod calls;
mod context;
mod dead_letters;
mod ends;
mod leases;
mod script;

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{JobRequest, Options, Process, ProcessConfig, Runtime, Source};
use riverrun_store::{EventQuery, JobFilter, JobRecord, JobState, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, StreamName};
use serde_json::{Value, json};

use script::Scripted;

const LONG: Duration = Duration::from_secs(20);

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    most: Arc<AtomicUsize>,
}

impl World {
    /// A runtime with the process `work` on the queue `work`.
    async fn new(config: Value) -> Self {
        Self::on(SqliteStore::memory().unwrap(), config).await
    }

    async fn on(store: Arc<dyn Store>, config: Value) -> Self {
        let world = Self::bare(store, Duration::from_millis(600)).await;
        world.put("work", config);
        world
    }

    /// A runtime without a process.
    async fn bare(store: Arc<dyn Store>, lease: Duration) -> Self {
        let options = Options {
            grace: Duration::from_millis(50),
            lease,
            ..Options::default()
        };
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let runtime = Runtime::open(store.clone(), sandbox, [], options)
            .await
            .unwrap();
        Self {
            runtime,
            store,
            most: Arc::default(),
        }
    }

    fn put(&self, id: &str, config: Value) {
        let config = ProcessConfig::read(&Json::of(&config), id);
        self.runtime.queues().put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Scripted::new(&self.most),
            source: Source::default(),
        });
    }

    /// The job of a queue that has one.
    async fn only(&self, queue: &str) -> JobRecord {
        let filter = JobFilter {
            queue: queue.into(),
            limit: 2,
            ..Default::default()
        };
        let [job] =
            <[_; 1]>::try_from(self.runtime.queues().jobs(&filter).await.unwrap().items).unwrap();
        job
    }

    async fn add(&self, request: Value) -> RunId {
        self.add_all(json!([request])).await.remove(0)
    }

    async fn add_all(&self, requests: Value) -> Vec<RunId> {
        self.add_to("work", requests).await
    }

    async fn add_to(&self, queue: &str, requests: Value) -> Vec<RunId> {
        let requests: Vec<JobRequest> = serde_json::from_value(requests).unwrap();
        let added = self
            .runtime
            .queues()
            .enqueue(queue, requests, false)
            .await
            .unwrap();
        added.into_iter().map(|added| added.id).collect()
    }

    /// Waits until the job is in a state.
    async fn until(&self, job: &RunId, states: &[JobState]) -> JobRecord {
        let mut tail = self.runtime.streams().tail(StreamName::job(job), 0);
        let seen = async {
            loop {
                let record = self.runtime.queues().job(job).await.unwrap();
                if states.contains(&record.state) {
                    return record;
                }
                tail.next().await.unwrap();
            }
        };
        tokio::time::timeout(LONG, seen)
            .await
            .expect("the job did not get there")
    }

    async fn end(&self, job: &RunId) -> JobRecord {
        let ends = [JobState::Completed, JobState::Failed, JobState::Cancelled];
        self.until(job, &ends).await
    }

    async fn events(&self, kind: &str, id: &RunId) -> Vec<String> {
        let stream = StreamName::new(kind, id.as_str());
        let query = EventQuery::forward(0, 1_000);
        let events = self.store.events(&stream, &query).await.unwrap();
        events.iter().map(|event| event.kind.to_string()).collect()
    }
}

fn quick(attempts: u32) -> Value {
    json!({"attempts": attempts, "backoff": {"type": "fixed", "delayMs": 5}})
}

fn code(record: &JobRecord) -> String {
    let error = record.error.as_ref().unwrap().value();
    error["code"].as_str().unwrap().to_owned()
}
