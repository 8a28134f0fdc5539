//! What was asked for is there, once, and whole.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::ListedJob;
use crate::jobs::load::Asked;

/// Finds the wish behind every job of a queue, and the job behind every wish that was granted.
pub fn match_up(
    queue: &'static str,
    asked: &[Asked],
    listed: Vec<Value>,
) -> Result<Vec<ListedJob>, String> {
    let mut by_n: HashMap<u64, Value> = HashMap::new();
    for job in listed {
        let n = job["data"]["n"].as_u64().unwrap_or(u64::MAX);
        if let Some(other) = by_n.insert(n, job.clone()) {
            return Err(format!(
                "one wish made two jobs: {} and {}",
                other["id"], job["id"]
            ));
        }
    }
    let mut jobs = Vec::new();
    for Asked { request, ids } in asked.iter().filter(|asked| asked.request.queue == queue) {
        let found: Vec<Option<Value>> = request
            .wishes
            .iter()
            .map(|wish| by_n.remove(&wish.n))
            .collect();
        let there = found.iter().flatten().count();
        if there != 0 && there != found.len() {
            return Err(format!(
                "promise 1: of {} jobs that were asked for together {there} are there: {request:?}",
                found.len()
            ));
        }
        for (at, (wish, job)) in request.wishes.iter().zip(found).enumerate() {
            let known = ids.as_ref().map(|ids| ids[at].as_str());
            let shown = match (known, job) {
                (None, None) => continue,
                (Some(id), None) => {
                    return Err(format!("promise 1: job {id} was acknowledged and is gone"));
                }
                (Some(id), Some(job)) if job["id"] != id => {
                    return Err(format!(
                        "promise 1: wish {} was acknowledged as job {id} and is {}",
                        wish.n, job["id"]
                    ));
                }
                (_, Some(job)) => job,
            };
            jobs.push(ListedJob {
                id: shown["id"].as_str().unwrap_or_default().to_owned(),
                wish: wish.clone(),
                queue,
                shown,
            });
        }
    }
    match by_n.values().next() {
        Some(job) => Err(format!("no request added this job: {job:#}")),
        None => Ok(jobs),
    }
}

/// Every failed job has one copy among the dead letters, and no other job has any.
pub fn buried<'a>(
    failed: impl Iterator<Item = &'a ListedJob>,
    dead_letters: &[Value],
) -> Result<(), String> {
    let mut missing: HashSet<&str> = failed.map(|job| job.id.as_str()).collect();
    for dead_letter in dead_letters {
        let of = dead_letter["metadata"]["deadLetterOf"]["jobId"].as_str();
        if !missing.remove(of.unwrap_or_default()) {
            return Err(format!(
                "promise 2: a dead letter of a job that has another, or has not failed: {dead_letter:#}"
            ));
        }
    }
    match missing.iter().next() {
        Some(job) => Err(format!("promise 2: failed job {job} has no dead letter")),
        None => Ok(()),
    }
}
