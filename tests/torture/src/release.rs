//! The operator of the server: releases work that was parked because it was alone at a crash.
//!
//! A server that is killed again and again takes up what was active one unit at a time, so nearly
//! every kill finds one alone. That is what parking is for, and releasing it loses nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::task::JoinHandle;

/// Releases what is parked, until it is dropped.
pub struct Releases {
    task: JoinHandle<()>,
    count: Arc<AtomicUsize>,
}

impl Releases {
    pub fn begin(url: String) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let task = tokio::spawn(async move {
            let client = reqwest::Client::new();
            loop {
                let released = look(&client, &url).await;
                counted.fetch_add(released, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        Self { task, count }
    }

    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Releases {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Releases what is parked now. A server that is away has nothing to release.
async fn look(client: &reqwest::Client, url: &str) -> usize {
    let mut released = 0;
    for run in list(
        client,
        &format!("{url}/api/executions?status=waiting,running,paused&limit=500"),
    )
    .await
    {
        let is_parked = run["waitReason"]
            .as_str()
            .is_some_and(|why| why.starts_with("parked") || why == "paused");
        if let Some(id) = run["id"].as_str().filter(|_| is_parked) {
            released += post(client, &format!("{url}/api/runs/{id}/resume")).await;
        }
    }
    for job in list(client, &format!("{url}/api/jobs?state=parked&limit=500")).await {
        if let Some(id) = job["id"].as_str() {
            released += post(client, &format!("{url}/api/jobs/{id}/retry")).await;
        }
    }
    released
}

async fn list(client: &reqwest::Client, url: &str) -> Vec<Value> {
    let Ok(answer) = client.get(url).send().await else {
        return Vec::new();
    };
    let answer: Value = answer.json().await.unwrap_or_default();
    let items = answer["items"].as_array().or(answer.as_array());
    items.cloned().unwrap_or_default()
}

async fn post(client: &reqwest::Client, url: &str) -> usize {
    let answer = client.post(url).send().await;
    usize::from(answer.is_ok_and(|answer| answer.status().is_success()))
}
