//! Asks `/healthz` all the time, and keeps the slowest answer.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle};

use crate::server::Server;

/// How long to wait between two questions.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Health {
    seen: Arc<Mutex<Seen>>,
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    slowest: Duration,
    failure: Option<String>,
}

impl Health {
    pub fn watch(server: &Server, longest: Duration) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (closing, mut closed) = watch::channel(false);
        let (url, client) = (format!("{}/healthz", server.url()), server.client().clone());
        let noted = seen.clone();
        let task = tokio::spawn(async move {
            while !*closed.borrow() {
                let begun = Instant::now();
                let answer = tokio::time::timeout(longest, client.get(&url).send()).await;
                let failure = match answer {
                    Ok(Ok(answer)) if answer.status().is_success() => None,
                    Ok(Ok(answer)) => Some(format!("/healthz answered {}", answer.status())),
                    Ok(Err(error)) => Some(format!("/healthz failed: {error}")),
                    Err(_) => Some(format!(
                        "/healthz took longer than {} ms",
                        longest.as_millis()
                    )),
                };
                if let Ok(mut seen) = noted.lock() {
                    seen.slowest = seen.slowest.max(begun.elapsed());
                    seen.failure = seen.failure.take().or(failure);
                }
                let _ = tokio::time::timeout(PAUSE, closed.changed()).await;
            }
        });
        Self {
            seen,
            closing,
            task,
        }
    }

    /// The first failure so far.
    pub fn check(&self) -> Result<Duration, String> {
        let seen = self.seen.lock().map_err(|error| error.to_string())?;
        match &seen.failure {
            None => Ok(seen.slowest),
            Some(failure) => Err(failure.clone()),
        }
    }

    /// Stops asking, and gives the slowest answer.
    pub async fn stop(self) -> Result<Duration, String> {
        self.closing.send_replace(true);
        let Self { seen, task, .. } = self;
        task.await.map_err(|error| error.to_string())?;
        let seen = seen.lock().map_err(|error| error.to_string())?;
        match &seen.failure {
            None => Ok(seen.slowest),
            Some(failure) => Err(failure.clone()),
        }
    }
}
