//! Runs whose events are joined, fail, and are undone.

use serde_json::Value;

/// All that was done is undone, the last first, once.
pub fn check(shown: &Value, events: &[Value]) -> Result<(), String> {
    if shown["status"] != "failed" || shown["error"]["code"] != "LOST_AT_SEA" {
        return Err("the saga did not fail as planned".to_owned());
    }
    let completed: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "step.completed")
        .filter_map(|event| match event["data"]["result"]["undid"].as_str() {
            Some(step) => Some(step),
            None => event["data"]["result"].as_str(),
        })
        .collect();
    match completed[..] {
        ["ordered", "packed", "pack", "order"] => Ok(()),
        // The end of the run came before that of the step whose event led there.
        ["ordered", "order"] => Ok(()),
        _ => Err(format!("the saga did and undid {completed:?}")),
    }
}
