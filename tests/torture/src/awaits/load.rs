//! Clients that start runs which wait, and that fire what these wait for: they remember exactly what
//! they sent and what was acknowledged.

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

use super::wish::{Deed, Wish};

/// How often a client looks whether what it is to fire is waited for.
const LOOK: Duration = Duration::from_millis(25);

pub struct Load {
    url: String,
    client: reqwest::Client,
    stopped: AtomicBool,
    next: AtomicU64,
    started: Mutex<Vec<Started>>,
    /// By the key of a run and the place of the deed in it.
    shots: Mutex<HashMap<(String, usize), Vec<Shot>>>,
    /// Events that start runs, and whether each was acknowledged.
    pings: Mutex<Vec<(u64, bool)>>,
    broken: Mutex<Option<String>>,
}

/// A wish that was granted.
#[derive(Clone, Debug)]
pub struct Started {
    pub wish: Wish,
    pub run: String,
}

/// One try to let a run go on.
#[derive(Clone, Debug)]
pub struct Shot {
    /// What it carried; no other carries it.
    pub n: u64,
    pub answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No answer came: the request may or may not have taken effect.
    None,
    /// It counts.
    Taken,
    /// It does not: somebody was faster.
    Used,
    /// It does not: it is too late.
    Late,
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
            started: Mutex::default(),
            shots: Mutex::default(),
            pings: Mutex::default(),
            broken: Mutex::default(),
        }
    }

    pub fn spawn(self: &Arc<Self>, clients: usize, seed: u64) -> Vec<JoinHandle<()>> {
        let mut dice = StdRng::seed_from_u64(seed ^ 0xa3a1);
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

    pub fn shots(&self, key: &str, at: usize) -> Vec<Shot> {
        let shots = self.shots.lock();
        shots
            .get(&(key.to_owned(), at))
            .cloned()
            .unwrap_or_default()
    }

    pub fn pings(&self) -> Vec<(u64, bool)> {
        self.pings.lock().clone()
    }

    /// What a client has seen that must not be.
    pub fn broken(&self) -> Option<String> {
        self.broken.lock().clone()
    }

    async fn start_runs(self: Arc<Self>, mut dice: StdRng) {
        while !self.stopped.load(Ordering::Relaxed) {
            let wish = Wish::any(self.fresh(), &mut dice);
            let run = self.start(&wish).await;
            let started = Started { wish, run };
            self.started.lock().push(started.clone());
            let Started { wish, run } = started;
            let (mut events, mut callbacks) = (0, 0);
            for (at, deed) in wish.deeds.iter().enumerate() {
                match deed {
                    Deed::Run | Deed::Time { .. } => {}
                    Deed::Event { lookback_ms, .. } => {
                        // What is looked back on may come before anybody waits.
                        if lookback_ms.is_none() || dice.random_range(0..2) == 0 {
                            self.awaited(&run, "step.await.event", events).await;
                        }
                        events += 1;
                        aim(deed, &mut dice).await;
                        self.emit(&wish, at).await;
                    }
                    Deed::Callback { .. } => {
                        let callback = self.awaited(&run, "step.await.trigger", callbacks).await;
                        callbacks += 1;
                        if let Some(callback) = callback {
                            aim(deed, &mut dice).await;
                            self.open(&wish, at, &callback, dice.random_range(0..3) == 0)
                                .await;
                        }
                    }
                }
            }
            if dice.random_range(0..4) == 0 {
                let n = self.fresh();
                let answer = self.event("torture.ping", json!({"n": n})).await;
                self.pings.lock().push((n, answer));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn fresh(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Starts a run, and asks again with the same key until somebody answers.
    async fn start(&self, wish: &Wish) -> String {
        let (path, body) = wish.request();
        loop {
            if let Some((200..300, answer)) = self.post(&path, &body).await
                && let Some(run) = answer["runId"].as_str()
            {
                return run.to_owned();
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until a run has waited for the n-th of its events or callbacks, and returns its id;
    /// nothing if it has ended.
    async fn awaited(&self, run: &str, kind: &str, n: usize) -> Option<String> {
        loop {
            let url = format!("{}/api/runs/{run}/events?limit=1000", self.url);
            if let Ok(answer) = self.client.get(url).send().await
                && let Ok(page) = answer.json::<Value>().await
            {
                let events = page["items"].as_array().cloned().unwrap_or_default();
                let mut ids = Vec::new();
                for event in &events {
                    let id = &event["data"]["awaitId"];
                    if event["type"] == kind && !ids.contains(id) {
                        ids.push(id.clone());
                    }
                    let ended = ["flow.completed", "flow.failed", "flow.cancelled"];
                    if ended.iter().any(|end| event["type"] == *end) && ids.len() <= n {
                        return None;
                    }
                }
                if let Some(id) = ids.get(n) {
                    return id.as_str().map(str::to_owned);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Emits until it is acknowledged; each try has a number of its own.
    async fn emit(&self, wish: &Wish, at: usize) {
        loop {
            let n = self.fresh();
            let data = json!({"key": wish.key, "at": at, "n": n});
            let is_taken = self.event("torture.paid", data).await;
            let answer = if is_taken {
                Answer::Taken
            } else {
                Answer::None
            };
            self.shot(wish, at, Shot { n, answer });
            if is_taken {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn event(&self, kind: &str, data: Value) -> bool {
        let answer = self
            .post("/api/events", &json!({"type": kind, "data": data}))
            .await;
        matches!(answer, Some((200..300, _)))
    }

    /// Resumes a callback until there is an answer, and once more if that is wanted.
    async fn open(&self, wish: &Wish, at: usize, callback: &str, again: bool) {
        loop {
            let n = self.fresh();
            let answer = self
                .post(&format!("/api/triggers/{callback}"), &json!({ "n": n }))
                .await;
            let answer = match answer {
                None | Some((500.., _)) => Answer::None,
                Some((200..300, _)) => Answer::Taken,
                Some((409, _)) => Answer::Used,
                Some((410, _)) => Answer::Late,
                Some((status, body)) => {
                    let message =
                        format!("the callback {callback} of {wish:?} answers {status} {body}");
                    *self.broken.lock() = Some(message);
                    return;
                }
            };
            self.shot(wish, at, Shot { n, answer });
            if answer != Answer::None && !(again && answer == Answer::Taken) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn shot(&self, wish: &Wish, at: usize, shot: Shot) {
        let mut shots = self.shots.lock();
        shots.entry((wish.key.clone(), at)).or_default().push(shot);
    }

    async fn post(&self, path: &str, body: &Value) -> Option<(u16, Value)> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        Some((status, answer.json().await.ok()?))
    }
}

/// Waits as long as makes the shot race the timeout, where there is one.
async fn aim(deed: &Deed, dice: &mut StdRng) {
    let most = deed.timeout_ms().map_or(40, |ms| ms * 5 / 4);
    tokio::time::sleep(Duration::from_millis(dice.random_range(0..most))).await;
}
