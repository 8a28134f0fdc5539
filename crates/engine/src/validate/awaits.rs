//! Validation of an await: the fields of its type, the values that its `match` names, how far it
//! looks back.

use riverrun_types::Delay;
use serde::Deserialize;
use serde_json::Value;

use super::Check;

/// The fields that an await of a type ignores. The schema rejects unknown ones.
const STRANGE: [(&str, &[&str]); 3] = [
    ("event", &["delay", "triggerType", "payload"]),
    (
        "trigger",
        &["delay", "eventKind", "where", "match", "lookback"],
    ),
    (
        "time",
        &[
            "eventKind",
            "where",
            "match",
            "lookback",
            "triggerType",
            "payload",
        ],
    ),
];

/// The members of an event that awaits are compared with.
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
        let kind = awaits.get("type").and_then(Value::as_str);
        let strange = STRANGE.iter().filter(|(of, _)| kind == Some(of));
        for (kind, fields) in strange {
            for field in *fields {
                let is_said = awaits.get(field).is_some_and(|value| !value.is_null());
                if is_said {
                    let message = format!("an await of the type {kind} has no {field}");
                    self.error(format!("{at}.{field}"), "await", message);
                }
            }
        }
        let equal = awaits.get("match").and_then(Value::as_object);
        for (path, from) in equal.into_iter().flatten() {
            self.matched(&format!("{at}.match.{path}"), path, from);
        }
        self.lookback(at, awaits);
    }

    /// A part of the event, and its required value.
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

    /// Events that are not kept any more cannot be found.
    fn lookback(&mut self, at: &str, awaits: &Value) {
        let far = awaits.get("lookback").map(Delay::deserialize);
        let far_ms = far.and_then(|far| far.ok()?.ms());
        if let (Some(far_ms), Some(kept_ms)) = (far_ms, self.catalog.kept_ms())
            && far_ms > kept_ms
        {
            let message = format!(
                "emitted events are kept for {kept_ms} ms, and this looks back {far_ms} ms: look back less far, or keep them for longer (retention.emitted)"
            );
            self.error(format!("{at}.lookback"), "lookback", message);
        }
    }
}
