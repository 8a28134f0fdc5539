//! What holds for every run, whatever it does.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use riverrun_engine::RunState;
use riverrun_types::{
    Json,
    event::{EventContext, read_back},
};
use serde_json::Value;

use crate::{Server, streams::in_order};

/// How long no run may end while some have not.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a run's stream and checks that it is whole, that everything in it happened once, and that
/// it reduces to what the server shows.
pub async fn check(server: &Server, run: &str) -> Result<Vec<Value>, String> {
    let events = events(server, run).await?;
    in_order(&format!("run {run}"), &events)?;
    recorded_once(run, &events)?;
    resumed_once(run, &events)?;
    entered_once(run, &events)?;
    replays(server, run, &events).await?;
    Ok(events)
}

/// Waits until every run has ended. Gives up when none has ended for a while: on a busy machine a
/// backlog may take long, but it shrinks.
pub async fn all_ended(server: &Server) -> Result<(), String> {
    let mut progress = Instant::now();
    let mut fewest = usize::MAX;
    loop {
        let path = "/api/runs?status=pending,running,waiting,paused&limit=1000";
        let open = server.list(path).await?;
        if open.is_empty() {
            return Ok(());
        }
        if open.len() < fewest {
            (fewest, progress) = (open.len(), Instant::now());
        }
        if progress.elapsed() > PATIENCE {
            let shown = &open[..open.len().min(10)];
            return Err(format!(
                "every run ends: {fewest} do not, among them {shown:#?}"
            ));
        }
        let pause = if open.len() < 1_000 { 50 } else { 1_000 };
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

pub async fn events(server: &Server, run: &str) -> Result<Vec<Value>, String> {
    server
        .list(&format!("/api/runs/{run}/events?limit=1000"))
        .await
}

fn recorded_once(run: &str, events: &[Value]) -> Result<(), String> {
    let mut ended = HashSet::new();
    let mut begun = HashSet::new();
    let mut terminal = 0;
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        let fresh = match kind {
            "step.started" => begun.insert(event["stepId"].as_str().unwrap_or_default().to_owned()),
            "step.completed" | "step.cancelled" => ended.insert(visit(event)),
            "step.failed" if event["data"]["willRetry"] == false => ended.insert(visit(event)),
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

/// Each await has one end: what came, its timeout, or the end of its visit.
fn resumed_once(run: &str, events: &[Value]) -> Result<(), String> {
    let mut waiting: HashSet<String> = HashSet::new();
    for event in events {
        let visit = visit(event);
        let fits = match event["type"].as_str().unwrap_or_default() {
            "step.await.time" | "step.await.event" | "step.await.trigger" => waiting.insert(visit),
            "step.await.timeout" => waiting.remove(&visit),
            // Branches and children are waited for too, and end without a word.
            "step.resumed" | "step.cancelled" => {
                waiting.remove(&visit);
                true
            }
            "step.started" | "step.completed" | "step.failed" => !waiting.contains(&visit),
            _ => true,
        };
        if !fits {
            return Err(format!(
                "an await of run {run} is over, and is so again: {event}"
            ));
        }
    }
    match waiting.is_empty() {
        true => Ok(()),
        false => Err(format!("awaits of run {run} never end: {waiting:?}")),
    }
}

/// No event enters a step twice.
fn entered_once(run: &str, events: &[Value]) -> Result<(), String> {
    let mut entered: HashSet<(usize, &str)> = HashSet::new();
    let mut latest = 0;
    for (at, event) in events.iter().enumerate() {
        match event["type"].as_str().unwrap_or_default() {
            "step.entered" | "step.joined" => {
                let step = event["stepName"].as_str().unwrap_or_default();
                if !entered.insert((latest, step)) {
                    return Err(format!(
                        "an event enters a step of run {run} twice: {event}"
                    ));
                }
            }
            _ => latest = at,
        }
    }
    Ok(())
}

/// The visit that an event speaks of.
fn visit(event: &Value) -> String {
    let step = event["stepId"].as_str().unwrap_or_default();
    let visit = step.split("__attempt-").next();
    visit.unwrap_or_default().to_owned()
}
