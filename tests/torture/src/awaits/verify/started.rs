//! What started by itself: each due time and each event at most once, and none was left out that
//! was not to be.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::super::{
    definitions::{PINGED, SCHEDULES},
    wish::Shape,
};
use crate::Server;

pub async fn stop_schedules(server: &Server) -> Result<(), String> {
    for (id, ..) in SCHEDULES {
        let path = format!("/api/triggers/{id}/disable");
        server.post(&path, &json!({})).await?;
    }
    Ok(())
}

/// The runs of a trigger, by its id.
async fn runs(server: &Server) -> Result<HashMap<String, Vec<Value>>, String> {
    let mut by_trigger: HashMap<String, Vec<Value>> = HashMap::new();
    for run in server.list("/api/runs?flow=tick&limit=1000").await? {
        if run["status"] != "completed" {
            return Err(format!(
                "a run that was started by itself did not complete: {run:#}"
            ));
        }
        let id = run["metadata"]["trigger"]["id"].as_str();
        let id = id.unwrap_or_default().to_owned();
        by_trigger.entry(id).or_default().push(run);
    }
    Ok(by_trigger)
}

/// Says how many due times there were.
pub async fn ticked(server: &Server) -> Result<usize, String> {
    let runs = runs(server).await?;
    let mut count = 0;
    for (id, config, every_ms) in SCHEDULES {
        let mut due = Vec::new();
        for run in runs.get(id).into_iter().flatten() {
            let shown = server
                .get(&format!(
                    "/api/runs/{}",
                    run["runId"].as_str().unwrap_or_default()
                ))
                .await?;
            due.push(shown["input"]["due"].as_i64().unwrap_or_default());
        }
        due.sort_unstable();
        let steps: Vec<i64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let is_all = config.contains("all");
        let fits = |step: &i64| *step > 0 && step % every_ms == 0 && (!is_all || *step == every_ms);
        if !steps.iter().all(fits) {
            return Err(format!(
                "the schedule {id} was due {every_ms} ms apart, and started runs for {due:?}"
            ));
        }
        let shown = server.get(&format!("/api/triggers/{id}")).await?;
        if shown["stats"]["fired"] != due.len() {
            return Err(format!(
                "the schedule {id} started {} runs: {shown:#}",
                due.len()
            ));
        }
        count += due.len();
    }
    Ok(count)
}

/// The routes have reported each run that they started, once. Says how many there are.
pub async fn routed(server: &Server, listed: &[Value]) -> Result<usize, String> {
    let mut count = 0;
    for shape in Shape::ALL {
        let id = shape.route();
        let is_its = |run: &&Value| run["metadata"]["trigger"]["id"] == id;
        let runs = listed.iter().filter(is_its);
        let mut missing: HashSet<&str> = runs.filter_map(|run| run["runId"].as_str()).collect();
        count += missing.len();
        let events = server.list(&format!("/api/events/nq:trigger:{id}")).await?;
        let fired: Vec<&Value> = events
            .iter()
            .filter(|event| event["type"] == "trigger.fired")
            .map(|event| &event["data"])
            .collect();
        // A request that came again found the run of the first.
        for entry in fired.iter().filter(|entry| entry["created"] == true) {
            if !missing.remove(entry["runId"].as_str().unwrap_or_default()) {
                return Err(format!(
                    "the route {id} has no such run, or reported it before: {entry}"
                ));
            }
        }
        let shown = server.get(&format!("/api/triggers/{id}")).await?;
        let is_whole = shown["stats"]["fired"] == fired.len();
        if is_whole && !missing.is_empty() {
            return Err(format!(
                "the route {id} reported nothing of its runs {missing:?}"
            ));
        }
    }
    Ok(count)
}

/// Every acknowledged event has one run, and no event has two. Says how many there are.
pub async fn pinged(server: &Server, pings: &[(u64, bool)]) -> Result<usize, String> {
    let runs = runs(server).await?;
    let mut seen = HashSet::new();
    for run in runs.get(PINGED).into_iter().flatten() {
        let shown = server
            .get(&format!(
                "/api/runs/{}",
                run["runId"].as_str().unwrap_or_default()
            ))
            .await?;
        let n = shown["input"]["n"].as_u64().unwrap_or(u64::MAX);
        if !seen.insert(n) {
            return Err(format!("the event {n} started two runs"));
        }
    }
    for (n, is_taken) in pings {
        if *is_taken && !seen.contains(n) {
            return Err(format!("the event {n} was acknowledged and started no run"));
        }
    }
    Ok(seen.len())
}
