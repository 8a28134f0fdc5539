//! What an await says of the values that its `match` names.

use serde_json::Value;

use super::Check;

/// What an event has when awaits are held against it.
const ENVELOPE: [&str; 12] = [
    "data",
    "type",
    "kind",
    "runId",
    "flowName",
    "stepName",
    "stepId",
    "attempt",
    "correlationId",
    "causationId",
    "tenantId",
    "chain",
];

impl Check<'_> {
    pub(super) fn awaits(&mut self, at: &str, awaits: &Value) {
        let equal = awaits.get("match").and_then(Value::as_object);
        for (path, from) in equal.into_iter().flatten() {
            self.matched(&format!("{at}.match.{path}"), path, from);
        }
    }

    /// A part of the event, and what it must equal.
    fn matched(&mut self, at: &str, path: &str, from: &Value) {
        let head = path.split('.').next().unwrap_or_default();
        if !ENVELOPE.contains(&head) {
            let message = format!(
                "no event has {head:?}: what was emitted stands below data, as in \"data.{path}\""
            );
            self.error(at.to_owned(), "match", message);
        }
        let is_path = |text: &str| {
            text == "input" || text.starts_with("input.") || text.starts_with("state.")
        };
        if let Some(text) = from.as_str().filter(|text| !is_path(text)) {
            let message = format!(
                "{text:?} is no path into input or state, such as \"input.{text}\": for the text itself write {{\"value\": {text:?}}}"
            );
            self.error(at.to_owned(), "match", message);
        }
    }
}
