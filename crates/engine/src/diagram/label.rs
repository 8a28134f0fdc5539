//! The words on an edge, and texts of a definition made fit for a drawing.

use serde_json::Value;

/// What a target's place in the config means: a condition, a case, a branch. Then, for a
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
