//! What must hold of every run of code, by its stream and by the ledger.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use serde::Deserialize;
use serde_json::Value;

use super::{
    ATTEMPTS,
    load::{Load, Started},
};
use crate::{Server, runs};

#[derive(Deserialize)]
struct Line {
    run: String,
    name: String,
    what: String,
}

/// What the code of a run says that it did.
#[derive(Default)]
struct Noted {
    done: HashMap<String, usize>,
    failed: usize,
}

pub async fn verify(server: &Server, load: &Load, ledger: &Path) -> Result<String, String> {
    let mut ledger = read(ledger)?;
    let (mut failed, mut parked, mut retried) = (0, 0, 0);
    for started in load.started() {
        let Started { run, failures } = &started;
        let events = runs::check(server, run).await?;
        let noted = ledger.remove(run).unwrap_or_default();
        let is_doomed = *failures >= ATTEMPTS;
        ended(run, &events, is_doomed)?;
        recorded_once(run, &events, is_doomed)?;
        effects(run, &noted, *failures)?;
        failed += usize::from(is_doomed);
        parked += count(&events, "step.parked");
        retried += count(&events, "step.memo.retry");
    }
    let all = load.started().len();
    Ok(format!(
        "{all} runs of code: {failed} failed for good and were undone, {retried} failed tries were tried again, {parked} times changed code was parked"
    ))
}

/// What was recorded is not done again: that line would stand after the other.
fn read(path: &Path) -> Result<HashMap<String, Noted>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut runs: HashMap<String, Noted> = HashMap::new();
    let mut recorded: HashSet<(String, String)> = HashSet::new();
    for line in text.lines() {
        let Line { run, name, what } =
            serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        let is_recorded = recorded.contains(&(run.clone(), name.clone()));
        match what.as_str() {
            "recorded" => drop(recorded.insert((run, name))),
            _ if is_recorded => {
                return Err(format!(
                    "promise 2: {name} of run {run} was recorded, and is done again"
                ));
            }
            "failed" => runs.entry(run).or_default().failed += 1,
            _ => *runs.entry(run).or_default().done.entry(name).or_default() += 1,
        }
    }
    Ok(runs)
}

fn ended(run: &str, events: &[Value], is_doomed: bool) -> Result<(), String> {
    let (end, undone) = match is_doomed {
        true => ("flow.failed", 1),
        false => ("flow.completed", 0),
    };
    if count(events, end) != 1 || count(events, "flow.compensating") != undone {
        return Err(format!("run {run} should end with {end}: {events:#?}"));
    }
    let for_good =
        |event: &&Value| event["type"] == "step.failed" && event["data"]["willRetry"] == false;
    match events.iter().filter(for_good).count() == undone {
        true => Ok(()),
        false => Err(format!("run {run} fails more than once, or for nothing")),
    }
}

/// Each operation has one outcome in the stream, and only the doomed one is an error.
fn recorded_once(run: &str, events: &[Value], is_doomed: bool) -> Result<(), String> {
    let memos = events.iter().filter(|event| event["type"] == "step.memo");
    // Without what the code asked of its own version.
    let memos = memos.filter(|event| event["data"]["op"].is_null());
    let mut outcomes: Vec<(&str, bool)> = memos
        .map(|event| {
            let name = event["data"]["name"].as_str().unwrap_or_default();
            (name, !event["data"]["error"].is_null())
        })
        .collect();
    outcomes.sort_unstable();
    let expected = match is_doomed {
        true => vec![("charge", false), ("refund", false), ("reserve", true)],
        false => vec![("charge", false), ("reserve", false), ("ship", false)],
    };
    match outcomes == expected {
        true => Ok(()),
        false => Err(format!("run {run} records {outcomes:?}, not {expected:?}")),
    }
}

fn effects(run: &str, noted: &Noted, failures: u64) -> Result<(), String> {
    let is_doomed = failures >= ATTEMPTS;
    let (done, not_done): (&[&str], &[&str]) = match is_doomed {
        true => (&["charge", "refund", "undo"], &["reserve", "ship"]),
        false => (&["charge", "reserve", "ship"], &["refund", "undo"]),
    };
    let count = |name: &&str| noted.done.get(*name).copied().unwrap_or_default();
    if let Some(name) = done.iter().find(|name| count(name) == 0) {
        return Err(format!("promise 2: {name} of run {run} never happened"));
    }
    if let Some(name) = not_done.iter().find(|name| count(name) > 0) {
        return Err(format!("{name} of run {run} happened for nothing"));
    }
    let least = usize::try_from(failures.min(ATTEMPTS)).unwrap_or(usize::MAX);
    match noted.failed >= least {
        true => Ok(()),
        false => Err(format!("run {run} was tried less often than it failed")),
    }
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}
