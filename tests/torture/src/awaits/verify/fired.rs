//! Shots: what was acknowledged counted, once, and nothing else did.

use std::collections::HashSet;

use serde_json::Value;

use super::super::{
    load::{Answer, Shot},
    wish::Deed,
};
use crate::Server;

/// Holds what a wait was given against what was sent to it. True if it was given something.
pub fn check(deed: &Deed, came: &Value, shots: &[Shot]) -> Result<bool, String> {
    let is_callback = matches!(deed, Deed::Callback { .. });
    let taken: Vec<u64> = shots
        .iter()
        .filter(|shot| shot.answer == Answer::Taken)
        .map(|shot| shot.n)
        .collect();
    if is_callback && taken.len() > 1 {
        return Err(format!("a callback was resumed twice: {shots:?}"));
    }
    if came["late"] == true {
        return match (is_callback, taken.first(), deed.timeout_ms()) {
            (_, _, None) => Err(format!("{deed:?} timed out without a timeout")),
            (true, Some(n), _) => Err(format!(
                "resuming a callback with {n} was acknowledged, and its wait timed out: {shots:?}"
            )),
            _ => Ok(false),
        };
    }
    let fits = match &came["came"] {
        // A built-in step has no use for what came.
        Value::Bool(true) => true,
        Value::Number(n) => {
            let sent = shots.iter().find(|shot| Some(shot.n) == n.as_u64());
            sent.is_some_and(|shot| match is_callback {
                true => {
                    shot.answer == Answer::Taken || taken.is_empty() && shot.answer == Answer::None
                }
                false => true,
            })
        }
        _ => false,
    };
    match fits {
        true => Ok(true),
        false => Err(format!(
            "{deed:?} was given {came}, and these were sent: {shots:?}"
        )),
    }
}

/// The callbacks of a run.
pub fn callbacks(events: &[Value]) -> HashSet<String> {
    let callback = |event: &Value| {
        let data = &event["data"];
        let id = match event["type"].as_str()? {
            "step.await.trigger" => &data["triggerId"],
            "step.memo" if data["op"] == "trigger" => &data["value"]["id"],
            _ => return None,
        };
        id.as_str().map(str::to_owned)
    };
    events.iter().filter_map(callback).collect()
}

/// A callback is created once and resumed, timed out or cancelled: one of them, once. It stays
/// closed.
pub async fn ended_once(server: &Server, callback: &str) -> Result<(), String> {
    let events = server
        .list(&format!("/api/events/nq:trigger:{callback}"))
        .await?;
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    let ends = ["trigger.fired", "trigger.timeout", "trigger.cancelled"];
    let is_fine = kinds.len() == 2 && kinds[0] == "trigger.registered" && ends.contains(&kinds[1]);
    if !is_fine {
        return Err(format!("the callback {callback} has {kinds:?}"));
    }
    match server
        .post(&format!("/api/triggers/{callback}"), &Value::Null)
        .await
    {
        Err(refused) if refused.contains("409") || refused.contains("410") => Ok(()),
        answer => Err(format!(
            "the callback {callback} is over, and answers {answer:?}"
        )),
    }
}
