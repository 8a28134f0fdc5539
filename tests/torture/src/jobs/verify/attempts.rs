//! One job: its outcome, and every attempt that led there.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::ListedJob;
use crate::{
    jobs::{
        load::Cancelled,
        notes::{Did, What},
        wish::Deed,
    },
    streams::in_order,
};

/// What an attempt can end with that was lost through no fault of its handler. On a busy machine
/// one may run out of time, too.
const LOST: [&str; 6] = [
    "JOB_QUARANTINED",
    "RUNNER_DIED",
    "RUNNER_HUNG",
    "RUNNER_START",
    "TIMEOUT",
    "WORKER_LOST",
];

/// The answer is how many attempts were lost.
pub fn check(
    job: &ListedJob,
    events: &[Value],
    notes: &Did,
    cancelled: Option<Cancelled>,
) -> Result<usize, String> {
    let id = &job.id;
    in_order(&format!("job {id}"), events)?;
    ended_once(job, events)?;
    let mut lost = retried(job, events)?;
    match job.state() {
        "completed" => completed(job, notes)?,
        "failed" => lost += failed(job)?,
        "cancelled" if cancelled.is_some() => {}
        state => {
            return Err(format!(
                "job {id} is {state} without a request for it: {cancelled:?}"
            ));
        }
    }
    if let Some(Cancelled::At(attempt)) = cancelled {
        // What ended by itself in its last moment has ended so.
        if job.attempt() != attempt {
            return Err(format!(
                "job {id} was cancelled at attempt {attempt}, which was acknowledged, and went on"
            ));
        }
    }
    let again = released(events);
    counted(job, notes, &again)?;
    repeated(job, notes, &again)?;
    written(job, events, notes, &again)?;
    Ok(lost)
}

/// The row holds the outcome; the stream may say it once more, and never another.
fn ended_once(job: &ListedJob, events: &[Value]) -> Result<(), String> {
    let outcomes: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .filter(|kind| matches!(*kind, "job.completed" | "job.failed" | "job.cancelled"))
        .collect();
    let expected = format!("job.{}", job.state());
    match outcomes.as_slice() {
        [] => Ok(()),
        [one] if **one == expected => Ok(()),
        _ => Err(format!(
            "promise 2: job {} is {} and its stream says {outcomes:?}",
            job.id,
            job.state()
        )),
    }
}

/// Every attempt but the last has one failure on record, and one that fits what it was to do.
fn retried(job: &ListedJob, events: &[Value]) -> Result<usize, String> {
    let mut codes: HashMap<u32, &str> = HashMap::new();
    // Without an error it waits because somebody wanted it to, or because the server went away.
    let waits =
        |event: &&Value| event["type"] == "job.waiting" && event["data"]["error"].is_object();
    for event in events.iter().filter(waits) {
        let data = &event["data"];
        let attempt = data["attempt"].as_u64().unwrap_or_default() as u32;
        let code = data["error"]["code"].as_str().unwrap_or_default();
        if codes.insert(attempt, code).is_some() {
            return Err(format!(
                "promise 2: attempt {attempt} of job {} failed twice",
                job.id
            ));
        }
    }
    let mut lost = 0;
    // One that was cancelled while it waited has no attempt under way.
    let is_between = job.state() == "cancelled" && codes.contains_key(&job.attempt());
    let ended = if is_between { 1 } else { 0 };
    for attempt in 1..job.attempt() + ended {
        let Some(code) = codes.remove(&attempt) else {
            return Err(format!(
                "attempt {attempt} of job {} began and nothing says how it ended",
                job.id
            ));
        };
        lost += usize::from(fits(job, attempt, code)?);
    }
    match codes.is_empty() {
        true => Ok(lost),
        false => Err(format!(
            "job {} has begun {} attempts, and these failed: {codes:?}",
            job.id,
            job.attempt()
        )),
    }
}

/// Whether an attempt was lost; else it failed as planned.
fn fits(job: &ListedJob, attempt: u32, code: &str) -> Result<bool, String> {
    let planned = job.wish.deed(attempt).code();
    if planned == Some(code) {
        return Ok(false);
    }
    match LOST.contains(&code) {
        true => Ok(true),
        false => Err(format!(
            "attempt {attempt} of job {} was to end with {planned:?}, and ended with {code}",
            job.id
        )),
    }
}

/// The result is the one that the last attempt gave, and it was allowed to give one.
fn completed(job: &ListedJob, notes: &Did) -> Result<(), String> {
    let (n, attempt) = (job.wish.n, job.attempt());
    let expected = json!({"n": n, "twice": n * 2, "attempt": attempt, "by": job.queue});
    if job.shown["result"] != expected {
        return Err(format!(
            "promise 2: job {} has the result {}, its handler gave {expected}",
            job.id, job.shown["result"]
        ));
    }
    let was_done = notes.contains_key(&(attempt, What::Ended));
    match was_done && job.wish.deed(attempt) == Deed::Work {
        true => Ok(()),
        false => Err(format!(
            "promise 2: job {} is completed, and its handler did not end",
            job.id
        )),
    }
}

/// A job fails when its attempts are used up, or when its handler says so. The answer is 1 if its
/// last attempt was lost.
fn failed(job: &ListedJob) -> Result<usize, String> {
    let code = job.shown["error"]["code"].as_str().unwrap_or_default();
    let is_lost = fits(job, job.attempt(), code)?;
    // Attempts that were lost with their worker are not counted.
    let is_final = code == "PLANNED_FATAL" || job.attempt() >= job.wish.attempts;
    match is_final {
        true => Ok(usize::from(is_lost)),
        false => Err(format!(
            "job {} failed with {code} after {} of {} attempts",
            job.id,
            job.attempt(),
            job.wish.attempts
        )),
    }
}

/// No handler ran that is neither counted nor given back.
fn counted(job: &ListedJob, notes: &Did, again: &HashMap<u32, usize>) -> Result<(), String> {
    let is_beyond = |attempt: u32| attempt > job.attempt() && !again.contains_key(&attempt);
    let beyond = notes.keys().find(|(attempt, _)| is_beyond(*attempt));
    match beyond {
        None => Ok(()),
        Some((attempt, _)) => Err(format!(
            "attempt {attempt} of job {} ran, and {} are counted",
            job.id,
            job.attempt()
        )),
    }
}

/// How often each attempt was given back: it lost its process to a neighbour, and is run again.
fn released(events: &[Value]) -> HashMap<u32, usize> {
    let mut released = HashMap::new();
    let is_released =
        |event: &&Value| event["type"] == "job.waiting" && event["data"]["reason"] == "released";
    for event in events.iter().filter(is_released) {
        let attempt = event["data"]["attempt"].as_u64().unwrap_or_default() as u32;
        *released.entry(attempt).or_default() += 1;
    }
    released
}

/// An attempt does the same once, and once more each time that it was given back.
fn repeated(job: &ListedJob, notes: &Did, again: &HashMap<u32, usize>) -> Result<(), String> {
    let most = |attempt: &u32| 1 + again.get(attempt).copied().unwrap_or_default();
    let twice = notes
        .iter()
        .find(|((attempt, _), times)| **times > most(attempt));
    match twice {
        None => Ok(()),
        Some(((attempt, what), times)) => Err(format!(
            "an attempt is run once: attempt {attempt} of job {} {what:?} {times} times",
            job.id
        )),
    }
}

/// What a handler got acknowledged as written is in the stream, once for each time that it wrote.
fn written(
    job: &ListedJob,
    events: &[Value],
    notes: &Did,
    again: &HashMap<u32, usize>,
) -> Result<(), String> {
    let mut keys: HashMap<&str, usize> = HashMap::new();
    for event in events.iter().filter(|event| event["type"] == "state.set") {
        let key = event["data"]["key"].as_str().unwrap_or_default();
        *keys.entry(key).or_default() += 1;
    }
    for (key, times) in &keys {
        let Some(attempt) = key.strip_prefix("seen.a") else {
            continue;
        };
        let attempt = attempt.parse().unwrap_or_default();
        if *times > 1 + again.get(&attempt).copied().unwrap_or_default() {
            return Err(format!("promise 2: job {} wrote {key} twice", job.id));
        }
    }
    for (attempt, what) in notes.keys() {
        let key = format!("seen.a{attempt}");
        if *what == What::Wrote && !keys.contains_key(key.as_str()) {
            return Err(format!(
                "promise 1: job {} got the answer that {key} is written, and it is gone",
                job.id
            ));
        }
    }
    Ok(())
}
