//! Clients that start runs of code, and emit what these wait for: sometimes before they do.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// How long a client waits before it asks again.
const AGAIN: Duration = Duration::from_millis(25);

pub struct Load {
    url: String,
    ledger: String,
    client: reqwest::Client,
    stopped: AtomicBool,
    next: AtomicU64,
    started: Mutex<Vec<Started>>,
}

/// A run that was acknowledged.
#[derive(Clone, Debug)]
pub struct Started {
    pub run: String,
    /// How often its operation fails before it does not.
    pub failures: u64,
}

impl Load {
    pub fn new(url: String, ledger: &Path) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(10))
            .build();
        Self {
            url,
            ledger: ledger.display().to_string(),
            client: client.unwrap_or_default(),
            stopped: AtomicBool::new(false),
            next: AtomicU64::new(0),
            started: Mutex::default(),
        }
    }

    pub fn spawn(self: &Arc<Self>, clients: usize, seed: u64) -> Vec<JoinHandle<()>> {
        let mut dice = StdRng::seed_from_u64(seed ^ 0xc0de);
        (0..clients)
            .map(|_| {
                let own = StdRng::seed_from_u64(dice.random());
                tokio::spawn(self.clone().start_runs(own))
            })
            .collect()
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn started(&self) -> Vec<Started> {
        self.started.lock().clone()
    }

    async fn start_runs(self: Arc<Self>, mut dice: StdRng) {
        while !self.stopped.load(Ordering::Relaxed) {
            let key = format!("order-{}", self.next.fetch_add(1, Ordering::Relaxed));
            // Some fail for good, some wait longer than code does in its place.
            let failures = [0, 0, 1, 2, 3, 9][dice.random_range(0..6)];
            let backoff_ms = [1, 20, 200, 5_100][dice.random_range(0..4)];
            let flow = ["torture-order", "torture-remote"][dice.random_range(0..2)];
            let input = json!({
                "key": key, "ledger": self.ledger, "failures": failures, "backoffMs": backoff_ms,
            });
            let body = json!({"input": input, "idempotencyKey": key});
            let path = format!("/api/flows/{flow}/start");
            let answer = self.until_answered(&path, &body).await;
            let run = answer["runId"].as_str().unwrap_or_default().to_owned();
            self.started.lock().push(Started { run, failures });
            tokio::time::sleep(Duration::from_millis(dice.random_range(0..60))).await;
            let event = json!({"type": "torture.order.paid", "data": {"key": key}});
            self.until_answered("/api/events", &event).await;
        }
    }

    /// Asks until somebody answers well.
    async fn until_answered(&self, path: &str, body: &Value) -> Value {
        loop {
            let request = self.client.post(format!("{}{path}", self.url)).json(body);
            if let Ok(answer) = request.send().await
                && answer.status().is_success()
                && let Ok(answer) = answer.json().await
            {
                return answer;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}
