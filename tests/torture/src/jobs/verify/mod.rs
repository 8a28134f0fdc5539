//! The reckoning: every promise, on every job.

mod attempts;
mod requests;

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt};
use serde_json::Value;

use super::{
    QUEUES,
    load::Load,
    notes::{Notes, What},
    wish::Wish,
};
use crate::Server;

/// How long the last jobs may take to end.
const PATIENCE: Duration = Duration::from_secs(120);
/// Streams that are read at once.
const READS: usize = 8;

/// A job as the server shows it, and the wish that it came from.
struct ListedJob {
    id: String,
    wish: Wish,
    queue: &'static str,
    shown: Value,
}

impl ListedJob {
    fn state(&self) -> &str {
        self.shown["state"].as_str().unwrap_or_default()
    }

    /// Attempts begun.
    fn attempt(&self) -> u32 {
        self.shown["attempt"].as_u64().unwrap_or_default() as u32
    }
}

pub async fn verify(server: &Server, load: &Load, notes: &Notes) -> Result<String, String> {
    let asked = load.asked();
    let mut jobs = Vec::new();
    for queue in QUEUES {
        let listed = server
            .list(&format!("/api/queue/{queue}/jobs?limit=1000"))
            .await?;
        counted(server, queue, &listed).await?;
        jobs.extend(requests::match_up(queue, &asked, listed)?);
        let dead_letters = server
            .list(&format!("/api/queue/{queue}-dead/jobs?limit=1000"))
            .await;
        let failed = jobs
            .iter()
            .filter(|job| job.queue == queue && job.state() == "failed");
        requests::buried(failed, &dead_letters.unwrap_or_default())?;
    }
    let there: HashSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    if let Some(job) = notes.keys().find(|id| !there.contains(id.as_str())) {
        return Err(format!("job {job} ran and is not there"));
    }
    let cancelled = load.cancelled();
    let none = Default::default();
    let checks = jobs.iter().map(|job| {
        let (notes, cancelled) = (notes.get(&job.id).unwrap_or(&none), cancelled.get(&job.id));
        async move {
            let path = format!("/api/events/nq:job:{}?limit=1000", job.id);
            let events = server.list(&path).await?;
            attempts::check(job, &events, notes, cancelled.copied())
                .map_err(|broken| format!("{broken}\n{:#}\n{events:#?}\n{notes:?}", job.shown))
        }
    });
    let lost: Vec<usize> = futures::stream::iter(checks)
        .buffer_unordered(READS)
        .try_collect()
        .await?;
    Ok(summary(load, &jobs, notes, lost.iter().sum()))
}

fn summary(load: &Load, jobs: &[ListedJob], notes: &Notes, lost: usize) -> String {
    let mut states: HashMap<&str, usize> = HashMap::new();
    for job in jobs {
        *states.entry(job.state()).or_default() += 1;
    }
    let count = |state: &str| states.get(state).copied().unwrap_or_default();
    let began = notes.values().flatten();
    let began = began.filter(|((_, what), _)| *what == What::Began);
    format!(
        "{} jobs acknowledged, {} in the store ({} completed, {} failed, {} cancelled), {} attempts begun by handlers, {lost} lost",
        load.acknowledged(),
        jobs.len(),
        count("completed"),
        count("failed"),
        count("cancelled"),
        began.map(|(_, times)| times).sum::<usize>(),
    )
}

/// Waits until no job waits or runs.
pub async fn drained(server: &Server) -> Result<(), String> {
    let begun = Instant::now();
    for queue in QUEUES {
        loop {
            let shown = server.get(&format!("/api/queue/{queue}")).await?;
            let open = ["waiting", "delayed", "active"];
            if open.iter().all(|state| shown["counts"][state] == 0) {
                break;
            }
            if begun.elapsed() > PATIENCE {
                let path = format!("/api/queue/{queue}/jobs?state=active,waiting,delayed&limit=20");
                let left = server.get(&path).await?;
                return Err(format!("every job ends: {shown:#}\nthese do not: {left:#}"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

/// The numbers that a queue keeps are those of its jobs.
async fn counted(server: &Server, queue: &str, jobs: &[Value]) -> Result<(), String> {
    let shown = server.get(&format!("/api/queue/{queue}")).await?;
    for (state, count) in shown["counts"].as_object().into_iter().flatten() {
        let listed = jobs.iter().filter(|job| job["state"] == **state).count();
        if *count != listed {
            return Err(format!(
                "the queue {queue} says that {count} jobs are {state}, and lists {listed}"
            ));
        }
    }
    Ok(())
}
