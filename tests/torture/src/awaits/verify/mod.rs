//! The reckoning: every promise, on every run that waited and on all that was started by itself.

mod fired;
mod left;
mod saga;
mod started;
mod tools;

use std::collections::HashMap;

use futures::{StreamExt, TryStreamExt};
use serde_json::Value;

use super::{
    Records,
    load::{Load, Started},
    wish::{Deed, Shape, TAG},
};
use crate::{Server, runs};

pub use left::nothing_is_left;
pub use started::stop_schedules;

/// Runs that are looked at at once.
const READS: usize = 8;

pub async fn verify(server: &Server, load: &Load, records: &Records) -> Result<String, String> {
    if let Some(broken) = load.broken() {
        return Err(broken);
    }
    runs::all_ended(server).await?;
    let granted = load.started();
    let listed = server
        .list(&format!("/api/runs?tag={TAG}&limit=1000"))
        .await?;
    once_per_key(&granted, &listed)?;
    let checks = granted
        .iter()
        .map(|started| check(server, load, records, started));
    let tallies: Vec<Tally> = futures::stream::iter(checks)
        .buffer_unordered(READS)
        .try_collect()
        .await?;
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let routed = started::routed(server, &listed).await?;
    let ticks = started::ticked(server).await?;
    let pings = started::pinged(server, &load.pings()).await?;
    Ok(format!(
        "{} runs that wait acknowledged ({routed} by routes), {} awaits ended ({} fired, {} timed out), {} effects recorded and {} done again, {ticks} ticks of schedules, {pings} runs of events",
        granted.len(),
        sum(|tally| tally.awaits),
        sum(|tally| tally.fired),
        sum(|tally| tally.awaits - tally.fired),
        sum(|tally| tally.effects),
        sum(|tally| tally.again),
    ))
}

/// What was found in a run.
#[derive(Default)]
pub struct Tally {
    awaits: usize,
    fired: usize,
    effects: usize,
    /// Effects beyond the first.
    again: usize,
}

/// What was acknowledged is there, and no key has two runs.
fn once_per_key(granted: &[Started], listed: &[Value]) -> Result<(), String> {
    let mut by_key: HashMap<&str, &str> = HashMap::new();
    for run in listed {
        let text = |name: &str| run[name].as_str().unwrap_or_default();
        if let Some(other) = by_key.insert(text("idempotencyKey"), text("runId")) {
            return Err(format!("one key started two runs: {other} and {run}"));
        }
    }
    for Started { wish, run } in granted {
        let there = by_key.get(wish.run_key().as_str());
        if there != Some(&run.as_str()) {
            return Err(format!(
                "promise 1: {} was acknowledged as run {run} and is {there:?}",
                wish.key
            ));
        }
    }
    Ok(())
}

async fn check(
    server: &Server,
    load: &Load,
    records: &Records,
    started: &Started,
) -> Result<Tally, String> {
    let shown = server.get(&format!("/api/runs/{}", started.run)).await?;
    let events = runs::check(server, &started.run).await?;
    let tally = match started.wish.shape {
        Shape::Saga => saga::check(&shown, &events).map(|()| Tally::default()),
        _ => deeds(server, load, records, started, &shown, &events).await,
    };
    tally.map_err(|broken| format!("{broken}\n{started:?}\n{shown:#}\n{events:#?}"))
}

async fn deeds(
    server: &Server,
    load: &Load,
    records: &Records,
    started: &Started,
    shown: &Value,
    events: &[Value],
) -> Result<Tally, String> {
    let Started { wish, run } = started;
    if shown["status"] != "completed" {
        return Err(format!("run {run} did not complete"));
    }
    let mut tally = Tally::default();
    for (at, deed) in wish.deeds.iter().enumerate() {
        let came = match wish.shape {
            Shape::Code => &shown["result"][at],
            Shape::Branches => &shown["state"]["fan"][name(deed)],
            _ => &shown["state"][name(deed)],
        };
        match deed {
            Deed::Run => {
                let key = (run.clone(), format!("r{at}"));
                let times = records.effects.get(&key).copied().unwrap_or_default();
                if times == 0 {
                    return Err(format!(
                        "promise 2: run {run} ended without its effect r{at}"
                    ));
                }
                tally.effects += 1;
                tally.again += times - 1;
            }
            Deed::Time { .. } if came["rested"] == true => {}
            Deed::Time { .. } => return Err(format!("run {run} did not rest")),
            Deed::Event { .. } | Deed::Callback { .. } => {
                let is_fired = fired::check(deed, came, &load.shots(&wish.key, at))?;
                tally.awaits += 1;
                tally.fired += usize::from(is_fired);
            }
        }
    }
    if wish.shape == Shape::Tools {
        tools::check(wish, shown, events, &records.notes)?;
    }
    for callback in fired::callbacks(events) {
        fired::ended_once(server, &callback).await?;
    }
    Ok(tally)
}

/// The step and the output of a deed that a definition says.
fn name(deed: &Deed) -> &'static str {
    match deed {
        Deed::Callback { .. } => "callback",
        _ => "event",
    }
}
