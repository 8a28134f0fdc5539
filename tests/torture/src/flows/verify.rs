//! The reckoning: every promise, on every run.

use std::collections::HashMap;

use serde_json::Value;

use super::{definitions::FLOWS, effects::Effects, load::Load};
use crate::{Server, runs};

pub async fn verify(server: &Server, load: &Load, effects: &Effects) -> Result<String, String> {
    runs::all_ended(server).await?;
    let tagged = server.list("/api/runs?tag=torture").await?;
    let by_key = once_per_key(&tagged)?;
    let started = load.started();
    for (key, acknowledged) in &started {
        match by_key.get(key) {
            Some(run) if *run == acknowledged.run => {}
            Some(other) => {
                return Err(format!(
                    "promise 1: {key} was acknowledged as run {} and is {other}",
                    acknowledged.run
                ));
            }
            None => {
                return Err(format!(
                    "promise 1: run {} was acknowledged and is gone",
                    acknowledged.run
                ));
            }
        }
        had_effects(effects, key, acknowledged.flow)?;
    }
    let mut streams = HashMap::new();
    let everything = server.list("/api/runs?limit=1000").await?;
    for run in &everything {
        let id = run["runId"].as_str().unwrap_or_default();
        streams.insert(id.to_owned(), runs::check(server, id).await?);
    }
    for (run, id, n) in load.appended() {
        let held = streams.get(&run).into_iter().flatten();
        let found = held
            .filter(|event| event["id"] == id.as_str())
            .any(|event| event["data"]["n"] == n);
        if !found {
            return Err(format!(
                "promise 1: event {id} of run {run} was acknowledged and is gone"
            ));
        }
    }
    let events: usize = streams.values().map(Vec::len).sum();
    Ok(format!(
        "{} runs acknowledged, {} in the store, {events} events",
        started.len(),
        everything.len()
    ))
}

fn once_per_key(runs: &[Value]) -> Result<HashMap<String, String>, String> {
    let mut by_key = HashMap::new();
    for run in runs {
        let text = |key: &str| run[key].as_str().unwrap_or_default().to_owned();
        if run["status"] != "completed" {
            return Err(format!("a run did not complete: {run:#}"));
        }
        if let Some(other) = by_key.insert(text("idempotencyKey"), text("runId")) {
            return Err(format!(
                "one key started two runs: {other} and {}",
                text("runId")
            ));
        }
    }
    Ok(by_key)
}

fn had_effects(effects: &Effects, key: &str, flow: &str) -> Result<(), String> {
    let expected = FLOWS
        .iter()
        .find(|(name, _)| *name == flow)
        .map_or(&[][..], |(_, names)| names);
    for name in expected {
        if effects.count(&format!("{key}.{name}")) == 0 {
            return Err(format!(
                "promise 2: {flow} {key} ended without its effect {name}"
            ));
        }
    }
    Ok(())
}
