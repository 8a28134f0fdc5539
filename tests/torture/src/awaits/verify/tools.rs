//! Steps that are executables: each ran, and its outcome is that of the last attempt that did.

use std::collections::HashMap;

use serde_json::Value;

use super::super::{definitions::TOOLS, notes::Notes, wish::Wish};

pub fn check(wish: &Wish, shown: &Value, events: &[Value], notes: &Notes) -> Result<(), String> {
    for step in TOOLS {
        let ran = notes.get(&(wish.key.clone(), step.to_owned()));
        let ran = ran.cloned().unwrap_or_default();
        check_once(step, events, &ran)?;
        if shown["state"][step]["late"] == true {
            match ran.is_empty() {
                true => continue,
                false => {
                    return Err(format!(
                        "{step} ran although no request resumed it: {ran:?}"
                    ));
                }
            }
        }
        let is_its =
            |event: &&Value| event["stepName"] == step && event["type"] == "step.completed";
        let ended = events.iter().find(is_its);
        let ended = ended.ok_or_else(|| format!("{step} did not complete"))?;
        let id = ended["stepId"].as_str().unwrap_or_default();
        let attempt = id.rsplit_once("__attempt-").map(|(_, attempt)| attempt);
        let attempt: Option<u64> = attempt.and_then(|attempt| attempt.parse().ok());
        if attempt.is_none() || attempt != ran.keys().max().copied() {
            return Err(format!(
                "promise 2: {step} has the outcome of attempt {attempt:?}, and these ran: {ran:?}"
            ));
        }
        if ended["data"]["result"]["attempt"].as_u64() != attempt {
            return Err(format!("promise 2: {step} has another's outcome: {ended}"));
        }
    }
    Ok(())
}

/// No attempt runs twice: one that was lost is tried again under the next number. Only a visit that was
/// parked begins its attempt again when it is released.
fn check_once(step: &str, events: &[Value], ran: &HashMap<u64, usize>) -> Result<(), String> {
    let is_released =
        |event: &&Value| event["stepName"] == step && event["type"] == "step.released";
    let released = events.iter().filter(is_released).count();
    let repeated: usize = ran.values().map(|count| count - 1).sum();
    match repeated > released {
        true => Err(format!(
            "promise 2: {step} ran attempts again, and was released {released} times: {ran:?}"
        )),
        false => Ok(()),
    }
}
