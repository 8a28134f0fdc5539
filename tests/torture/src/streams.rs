//! What holds for every stream.

use serde_json::Value;

/// Ids grow by one, and time never goes back.
pub fn in_order(of: &str, events: &[Value]) -> Result<(), String> {
    let mut before = (0, 0);
    for (at, event) in events.iter().enumerate() {
        let id = event["id"].as_str().unwrap_or_default();
        let (ms, seq) = id.split_once('-').unwrap_or_default();
        let id = (
            ms.parse::<i64>().unwrap_or(-1),
            seq.parse::<usize>().unwrap_or(usize::MAX),
        );
        if id.1 != at || id.0 < before.0 {
            return Err(format!(
                "promise 3: {of} has event {id:?} at {at} after {before:?}"
            ));
        }
        before = id;
    }
    Ok(())
}
