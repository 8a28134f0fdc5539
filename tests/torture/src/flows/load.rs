//! Clients that start runs and append events, and remember exactly what was acknowledged.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::definitions::FLOWS;

pub struct Load {
    url: String,
    client: reqwest::Client,
    stopped: AtomicBool,
    next: AtomicUsize,
    /// By idempotency key.
    started: Mutex<HashMap<String, Acknowledged>>,
    /// Acknowledged appends: run, event id, the number that the event carries.
    appended: Mutex<Vec<(String, String, usize)>>,
}

#[derive(Clone, Debug)]
pub struct Acknowledged {
    pub run: String,
    pub flow: &'static str,
}

impl Load {
    pub fn new(url: String) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(10))
            .build();
        Self {
            url,
            client: client.unwrap_or_default(),
            stopped: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            started: Mutex::default(),
            appended: Mutex::default(),
        }
    }

    pub fn spawn(self: &Arc<Self>, clients: usize) -> Vec<JoinHandle<()>> {
        (0..clients)
            .map(|_| tokio::spawn(self.clone().start_runs()))
            .collect()
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub fn acknowledged(&self) -> usize {
        self.started.lock().len()
    }

    pub fn started(&self) -> HashMap<String, Acknowledged> {
        self.started.lock().clone()
    }

    pub fn appended(&self) -> Vec<(String, String, usize)> {
        self.appended.lock().clone()
    }

    /// Any acknowledged run, for somebody to watch.
    pub fn any(&self) -> Option<String> {
        let started = self.started.lock();
        started
            .values()
            .max_by(|a, b| a.run.cmp(&b.run))
            .map(|run| run.run.clone())
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    async fn start_runs(self: Arc<Self>) {
        while !self.is_stopped() {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            let (flow, _) = FLOWS[n % FLOWS.len()];
            let key = format!("k{n}");
            let Some(run) = self.start(flow, &key).await else {
                return;
            };
            if flow == "nap" {
                self.append(&run, n).await;
            }
            self.started.lock().insert(key, Acknowledged { run, flow });
            // Enough to keep the server busy, not so much that the end takes minutes to check.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Starts a run, and asks again with the same key until somebody answers.
    async fn start(&self, flow: &str, key: &str) -> Option<String> {
        let body = json!({"input": {"key": key}, "idempotencyKey": key, "tags": ["torture"]});
        loop {
            let answer = self.post(&format!("/api/flows/{flow}/start"), &body).await;
            if let Some(run) = answer.as_ref().and_then(|answer| answer["runId"].as_str()) {
                return Some(run.to_owned());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Appends once; without an answer nothing is known and nothing is claimed.
    async fn append(&self, run: &str, n: usize) {
        let event = json!({"type": "torture.mark", "data": {"n": n}});
        let answer = self.post(&format!("/api/events/flow/{run}"), &event).await;
        let id = answer.as_ref().and_then(|answer| answer["ids"][0].as_str());
        if let Some(id) = id {
            self.appended
                .lock()
                .push((run.to_owned(), id.to_owned(), n));
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        let answer = request.send().await.ok()?;
        let fine = answer.status().is_success();
        let body = answer.json().await.ok()?;
        fine.then_some(body)
    }
}
