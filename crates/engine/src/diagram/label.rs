//! The words on an edge, and texts of a definition made fit for a drawing.

use serde_json::Value;

use super::{EdgeKind, FlowEdge};

/// The words on an edge in a drawing: an event with what must hold, a wait with its length.
pub fn shown(edge: &FlowEdge) -> String {
    let mut label = visible(&edge.label);
    if let Some(timeout) = edge.timeout {
        label.push_str(&format!(" {}", duration(timeout)));
    }
    let condition = edge.condition.as_deref();
    match (edge.kind, condition) {
        (EdgeKind::Emit | EdgeKind::Await, Some(condition)) => {
            label.push_str(&format!(" if {}", shorten(condition, 40)));
        }
        (EdgeKind::Compensation, Some(kinds)) => {
            label.push_str(&format!(" on {}", shorten(kinds, 40)));
        }
        _ => {}
    }
    label
}

/// Milliseconds as people say them: `24h`, `1h 30m`, `250ms`.
pub fn duration(ms: u64) -> String {
    if ms == 0 {
        return "0ms".to_owned();
    }
    let mut left = ms;
    let mut parts = Vec::new();
    for (unit, length) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
        if left >= length {
            parts.push(format!("{}{unit}", left / length));
        }
        left %= length;
    }
    parts.join(" ")
}

/// The meaning of a target's place in the config: a condition, a case, a branch. Then, for a
/// condition, all of it.
pub fn choice(config: &Value, path: &str, handler: &str) -> (String, Option<String>) {
    let parts: Vec<&str> = path.split('.').collect();
    let label = match parts.as_slice() {
        ["default"] => "otherwise".to_owned(),
        ["conditions", index, ..] => {
            let condition = condition(
                index
                    .parse()
                    .map_or(&Value::Null, |index: usize| &config["conditions"][index]),
            );
            return (shorten(&condition, 40), Some(condition));
        }
        ["cases", case @ ..] => shorten(&case.join("."), 40),
        ["branches", ..] => "branch".to_owned(),
        ["step"] if handler == "map" => "each".to_owned(),
        _ => shorten(path, 40),
    };
    (label, None)
}

fn condition(condition: &Value) -> String {
    let text = |key: &str| condition[key].as_str().unwrap_or_default();
    // `{path, eq: 7}` says the same as `{path, op: eq, value: 7}`.
    if condition.get("op").is_none() && condition.get("when").is_none() {
        let members = condition.as_object().into_iter().flatten();
        let mut members = members.filter(|(key, _)| !matches!(key.as_str(), "path" | "goto"));
        if let Some((op, value)) = members.next() {
            return match op.as_str() {
                "exists" | "notExists" => format!("{} {op}", text("path")),
                op => format!("{} {op} {value}", text("path")),
            };
        }
    }
    match (
        condition.get("when").and_then(Value::as_str),
        condition.get("value"),
    ) {
        (Some(when), _) => when.to_owned(),
        (None, Some(value)) => format!("{} {} {value}", text("path"), text("op")),
        (None, None) => format!("{} {}", text("path"), text("op")),
    }
}

/// The beginning of a text that fits into so many characters.
pub fn shorten(text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return visible(text);
    }
    let mut cut: String = visible(text)
        .chars()
        .take(width.saturating_sub(1))
        .collect();
    cut.push('…');
    cut
}

/// A text without control characters, which would move the cursor or end the line.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
