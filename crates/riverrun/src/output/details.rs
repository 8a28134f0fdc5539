//! Details that do not fit on the line of an event: the fields of a log, the stack of an error.

use serde_json::Value;

use super::visible;

/// More of a stack is not shown.
const STACK_LINES: usize = 50;

/// `key=value` of each field, in their order.
pub fn log_fields(meta: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) if !text.is_empty() && !text.contains([' ', '"', '=']) => text.clone(),
        other => other.to_string(),
    };
    let text = match meta {
        Value::Null => String::new(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, value)| format!("{key}={}", shown(value)));
            fields.collect::<Vec<_>>().join(" ")
        }
        other => shown(other),
    };
    visible(&text).into_owned()
}

/// The lines of a stack, without the one that repeats the message.
pub fn stack_lines(stack: Option<&str>, message: &str) -> Vec<String> {
    let first = message.lines().next().unwrap_or_default().trim();
    let repeats = |line: &str| {
        let said = line.split_once(": ").map_or(line, |(_, said)| said);
        !first.is_empty() && (said.trim() == first || line.trim() == first)
    };
    let lines = stack.unwrap_or_default().lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !repeats(line));
    let shown = lines.take(STACK_LINES).map(|line| {
        let space = if line.starts_with([' ', '\t']) {
            ""
        } else {
            "    "
        };
        format!("{space}{}", visible(line))
    });
    shown.collect()
}

/// The stack of the error in an event.
pub fn event_stack(event: &Value) -> Vec<String> {
    let error = &event["data"]["error"];
    let message = error["message"].as_str().unwrap_or_default();
    stack_lines(error["stack"].as_str(), message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_pairs_and_stacks_do_not_repeat_the_message() {
        assert_eq!(
            log_fields(&json!({"a": 1, "b": "two", "c": "x y", "d": {"e": []}})),
            "a=1 b=two c=\"x y\" d={\"e\":[]}"
        );
        assert_eq!(log_fields(&Value::Null), "");
        let stack = "Error: no\n    at f (file:///p/a.ts:3:9)\n    at \u{1b}[2J";
        assert_eq!(
            stack_lines(Some(stack), "no"),
            ["    at f (file:///p/a.ts:3:9)", "    at \\u001b[2J"]
        );
        assert!(stack_lines(None, "no").is_empty());
    }
}
