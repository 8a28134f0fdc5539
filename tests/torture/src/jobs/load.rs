//! Clients that add jobs and cancel some, and remember exactly what was acknowledged.

use std::{
    collections::HashMap,
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

use super::wish::Request;

/// Jobs that may wait in a queue before clients wait too: what is left in the end is worked off.
const BACKLOG: u64 = 150;

pub struct Load {
    url: String,
    client: reqwest::Client,
    stopped: AtomicBool,
    next: AtomicU64,
    asked: Mutex<Vec<Asked>>,
    cancelled: Mutex<HashMap<String, Cancelled>>,
}

/// A request, and the ids of its jobs if it was answered.
#[derive(Clone, Debug)]
pub struct Asked {
    pub request: Request,
    pub ids: Option<Vec<String>>,
}

/// What came of the wish to cancel a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// No answer came: the request may or may not have taken effect.
    Unknown,
    /// Acknowledged while this attempt was the latest.
    At(u32),
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
            next: AtomicU64::new(0),
            asked: Mutex::default(),
            cancelled: Mutex::default(),
        }
    }

    pub fn spawn(self: &Arc<Self>, clients: usize, seed: u64) -> Vec<JoinHandle<()>> {
        let mut dice = StdRng::seed_from_u64(seed);
        (0..clients)
            .map(|_| {
                let own = StdRng::seed_from_u64(dice.random());
                tokio::spawn(self.clone().add_jobs(own))
            })
            .collect()
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Jobs of requests that were answered.
    pub fn acknowledged(&self) -> usize {
        let asked = self.asked.lock();
        asked
            .iter()
            .flat_map(|asked| &asked.ids)
            .map(Vec::len)
            .sum()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    pub fn cancelled(&self) -> HashMap<String, Cancelled> {
        self.cancelled.lock().clone()
    }

    async fn add_jobs(self: Arc<Self>, mut dice: StdRng) {
        while !self.is_stopped() {
            let request = Request::any(|| self.next.fetch_add(1, Ordering::Relaxed), &mut dice);
            let ids = self.add(&request).await;
            let queue = request.queue;
            self.asked.lock().push(Asked {
                request: request.clone(),
                ids: ids.clone(),
            });
            if let Some(ids) = ids {
                if request.unique.is_some() && dice.random_range(0..100) < 20 {
                    self.add_again(&request, &ids).await;
                }
                if dice.random_range(0..100) < 8 {
                    let after = Duration::from_millis(dice.random_range(0..150));
                    tokio::time::sleep(after).await;
                    self.cancel(&ids[0]).await;
                }
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
            while !self.is_stopped() && self.waiting(queue).await > BACKLOG {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Adds jobs. What can be distinguished from another request is sent until there is an answer;
    /// what cannot is asked for once, and without an answer nothing is known.
    async fn add(&self, request: &Request) -> Option<Vec<String>> {
        let path = format!("/api/queue/{}/jobs", request.queue);
        let body = request.body();
        loop {
            let answer = self.post(&path, &body).await;
            if let Some(ids) = answer.as_ref().and_then(ids) {
                return Some(ids);
            }
            // Asked for again it would be another.
            request.unique?;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The same request once more is answered with the same jobs, or with nothing.
    async fn add_again(&self, request: &Request, known: &[String]) {
        let path = format!("/api/queue/{}/jobs", request.queue);
        let answer = self.post(&path, &request.body()).await;
        if let Some(ids) = answer.as_ref().and_then(ids)
            && ids != known
        {
            // It is recorded as a request of its own, and two jobs for one wish are found out.
            self.asked.lock().push(Asked {
                request: request.clone(),
                ids: Some(ids),
            });
        }
    }

    async fn cancel(&self, id: &str) {
        let url = format!("{}/api/jobs/{id}/cancel", self.url);
        let answer = self.client.post(url).json(&json!({})).send().await;
        let came = match answer {
            Err(_) => Cancelled::Unknown,
            // It had ended already.
            Ok(answer) if answer.status().is_client_error() => return,
            Ok(answer) => {
                let job: Option<Value> = answer.json().await.ok();
                let attempt = job.and_then(|job| job["attempt"].as_u64());
                attempt.map_or(Cancelled::Unknown, |attempt| Cancelled::At(attempt as u32))
            }
        };
        self.cancelled.lock().insert(id.to_owned(), came);
    }

    async fn waiting(&self, queue: &str) -> u64 {
        let request = self.client.get(format!("{}/api/queue/{queue}", self.url));
        let Ok(answer) = request.send().await else {
            return 0;
        };
        let queue: Value = answer.json().await.unwrap_or_default();
        let count = |state: &str| queue["counts"][state].as_u64().unwrap_or_default();
        count("waiting") + count("delayed")
    }

    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        let answer = request.send().await.ok()?;
        let fine = answer.status().is_success();
        let body = answer.json().await.ok()?;
        fine.then_some(body)
    }
}

fn ids(answer: &Value) -> Option<Vec<String>> {
    let jobs = answer["jobs"].as_array()?;
    jobs.iter()
        .map(|job| job["jobId"].as_str().map(str::to_owned))
        .collect()
}
