//! Runs whose events are joined, fail, and are undone.

use serde_json::Value;

/// All that was done is undone, the last first, once.
pub fn check(shown: &Value, events: &[Value]) -> Result<(), String> {
    if shown["status"] != "failed" || shown["error"]["code"] != "LOST_AT_SEA" {
        return Err("the saga did not fail as planned".to_owned());
    }
    let completed = events
        .iter()
        .filter(|event| event["type"] == "step.completed");
    let (mut did, mut undid) = (Vec::new(), Vec::new());
    for event in completed {
        let result = &event["data"]["result"];
        match (result.as_str(), result["undid"].as_str()) {
            (Some("ordered"), _) => did.push("order"),
            (Some("packed"), _) => did.push("pack"),
            (_, Some(step)) => undid.push(step),
            _ => {}
        }
    }
    // A step whose event led to the failure may end after it, or after the steps that it led to.
    let mut expected = did.clone();
    expected.reverse();
    match undid == expected && !did.is_empty() {
        true => Ok(()),
        false => Err(format!("the saga did {did:?} and undid {undid:?}")),
    }
}
