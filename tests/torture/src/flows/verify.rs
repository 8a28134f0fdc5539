//! The reckoning: every promise, on every run.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use riverrun_engine::RunState;
use riverrun_types::{
    Json,
    event::{EventContext, read_back},
};
use serde_json::Value;

use super::{definitions::FLOWS, effects::Effects, load::Load};
use crate::{Server, streams::in_order};

/// How long the last runs may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

pub async fn verify(server: &Server, load: &Load, effects: &Effects) -> Result<String, String> {
    all_ended(server).await?;
    let runs = server.list("/api/runs?tag=torture").await?;
    let by_key = once_per_key(&runs)?;
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
        let events = events(server, id).await?;
        in_order(&format!("run {id}"), &events)?;
        recorded_once(id, &events)?;
        replays(server, id, &events).await?;
        streams.insert(id.to_owned(), events);
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

async fn all_ended(server: &Server) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let path = "/api/runs?status=pending,running,waiting,paused&limit=10";
        let open = server.get(path).await?;
        let items = open["items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("every run ends: these do not: {items:#?}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub async fn events(server: &Server, run: &str) -> Result<Vec<Value>, String> {
    server
        .list(&format!("/api/runs/{run}/events?limit=1000"))
        .await
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

fn recorded_once(run: &str, events: &[Value]) -> Result<(), String> {
    let mut ended = HashSet::new();
    let mut begun = HashSet::new();
    let mut terminal = 0;
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        let visit = || {
            let step = event["stepId"].as_str().unwrap_or_default();
            step.split("__attempt-")
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let fresh = match kind {
            "step.started" => begun.insert(event["stepId"].as_str().unwrap_or_default().to_owned()),
            "step.completed" | "step.cancelled" => ended.insert(visit()),
            "step.failed" if event["data"]["willRetry"] == false => ended.insert(visit()),
            "flow.completed" | "flow.failed" | "flow.cancelled" => {
                terminal += 1;
                true
            }
            _ => true,
        };
        if !fresh {
            return Err(format!(
                "promise 2: run {run} records {kind} twice: {event}"
            ));
        }
    }
    if terminal != 1 {
        return Err(format!("promise 2: run {run} ended {terminal} times"));
    }
    Ok(())
}

async fn replays(server: &Server, run: &str, events: &[Value]) -> Result<(), String> {
    let shown = server.get(&format!("/api/runs/{run}")).await?;
    let stream = EventContext {
        run_id: run.into(),
        flow_name: shown["flow"].as_str().unwrap_or_default().into(),
        tenant_id: None,
    };
    let mut state = RunState::new();
    for event in events {
        let (_, draft) = read_back(&Json::of(event), &stream)?;
        let next = state.check_next(&draft);
        next.map_err(|why| format!("promise 4: run {run} has {event}: {why}"))?;
        state.apply(&draft);
    }
    if shown["state"] != state.state.json().value() || shown["status"] != state.status.as_str() {
        return Err(format!(
            "promise 4: run {run} shows {shown:#}, its stream gives {state:#?}"
        ));
    }
    Ok(())
}
