//! Validation of a step's events and times: its subscriptions, the events that it emits, its awaits
//! and its compensation.

use riverrun_types::{EventType, time};
use serde_json::{Map, Value};

use super::{Check, Severity};
use crate::{PROCESS, Template};

/// Whether a text is a function's: `ctx => …`, `(ctx) => …` or `function (ctx) …`.
pub fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    let head = text.split_once("=>").map(|(head, _)| head.trim());
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let is_name = |head: &str| !head.is_empty() && head.chars().all(is_of_name);
    let is_list = |head: &str| head.starts_with('(') && head.ends_with(')');
    let is_arrow = head.is_some_and(|head| is_name(head) || is_list(head));
    is_arrow || text.starts_with("function ") || text.starts_with("function(")
}

/// The handlers whose result comes from branches or from another run.
const LATER: [&str; 3] = ["parallel", "map", "sub-flow"];

impl Check<'_> {
    /// The events of a step.
    pub(super) fn events(&mut self, at: &str, step: &Value, steps: &Map<String, Value>) {
        let subscriptions = step.get("subscriptions").and_then(Value::as_array);
        for (number, subscription) in subscriptions.into_iter().flatten().enumerate() {
            for field in ["when", "map"] {
                let path = format!("{at}.subscriptions.{number}.{field}");
                self.expression(path, subscription.get(field));
            }
            let path = format!("{at}.subscriptions.{number}.eventKind");
            self.emitted(path, subscription.get("eventKind"));
        }
        self.emits(at, step);
        self.pause(at, step);
        if let Some(awaits) = step.get("await") {
            self.emitted(format!("{at}.await.eventKind"), awaits.get("eventKind"));
            self.expression(format!("{at}.await.where"), awaits.get("where"));
            self.payload(format!("{at}.await.payload"), awaits.get("payload"));
            self.timeout(at, awaits);
            self.signed(at, awaits);
            self.awaits(&format!("{at}.await"), awaits);
            if let Some(target) = awaits.get("onTimeout").and_then(Value::as_str) {
                self.target(&format!("{at}.await.onTimeout"), target, steps);
            }
            for field in ["timeout", "lookback", "delay"] {
                let text = awaits.get(field).and_then(Value::as_str);
                if let Some(text) = text.filter(|text| (field, *text) != ("lookback", "run")) {
                    self.duration(format!("{at}.await.{field}"), text, field == "delay");
                }
            }
        }
        let undo = step.get("compensation").and_then(|undo| undo.get("step"));
        if let Some(target) = undo.and_then(Value::as_str) {
            self.target(&format!("{at}.compensation.step"), target, steps);
        }
        match step.get("compensation").and_then(|undo| undo.get("on")) {
            Some(Value::Array(kinds)) => {
                for (number, kind) in kinds.iter().enumerate() {
                    self.emitted(format!("{at}.compensation.on.{number}"), Some(kind));
                }
            }
            one => self.emitted(format!("{at}.compensation.on"), one),
        }
    }

    /// The content of a callback's page: a function, or JSON with parts of the input and the state.
    fn payload(&mut self, at: String, payload: Option<&Value>) {
        match payload {
            None => {}
            Some(Value::String(source)) if is_function(source) => self.expression(at, payload),
            Some(payload) => {
                if let Err(error) = Template::parse(payload) {
                    self.error(at, "template", error.to_string());
                }
            }
        }
    }

    /// The callback's page sends no signature, so its link could never be used.
    fn signed(&mut self, at: &str, awaits: &Value) {
        let is_user = awaits.get("triggerType").is_some_and(|kind| kind == "user");
        let is_signed = awaits.get("secretEnv").is_some_and(|name| !name.is_null());
        if is_user && is_signed {
            let message = "a person who answers on a page signs nothing: take triggerType webhook or api where bodies must be signed, or leave the secret out";
            self.error(format!("{at}.await.secretEnv"), "secret", message);
        }
    }

    /// Reports a timeout that has no effect.
    fn timeout(&mut self, at: &str, awaits: &Value) {
        let has = |field: &str| awaits.get(field).is_some_and(|value| !value.is_null());
        let is_time = awaits.get("type").is_some_and(|kind| kind == "time");
        let (field, message) = if is_time && (has("timeout") || has("onTimeout")) {
            let field = if has("timeout") {
                "timeout"
            } else {
                "onTimeout"
            };
            (field, "a time is over by itself: nothing comes of this")
        } else if has("onTimeout") && !has("timeout") {
            ("onTimeout", "without a timeout it is never entered")
        } else {
            return;
        };
        let at = format!("{at}.await.{field}");
        self.say(at, "timeout", message, Severity::Warning);
    }

    /// A handler that leaves its result to others has no result from which to compute a delay.
    fn pause(&mut self, at: &str, step: &Value) {
        let handler = step.get("type").and_then(Value::as_str);
        let delay = step.get("await").and_then(|awaits| awaits.get("delay"));
        let delay = delay.and_then(Value::as_str);
        if let (Some(handler), Some(delay)) = (handler.filter(|h| LATER.contains(h)), delay)
            && time::duration_ms(delay).is_none()
        {
            let message = format!(
                "a step of the type {handler} takes a duration, not a function: its result comes from other steps"
            );
            self.error(format!("{at}.await.delay"), "duration", message);
        }
    }

    /// A built-in handler emits exactly the declared kinds. The events of a process are judged when
    /// it emits them.
    fn emits(&mut self, at: &str, step: &Value) {
        let kinds = step.get("emits").and_then(Value::as_array);
        let handler = step.get("type").and_then(Value::as_str);
        let is_process = |handler: &str| handler == PROCESS || !self.catalog.is_known(handler);
        let kinds = kinds.filter(|_| !handler.is_some_and(is_process));
        for (number, kind) in kinds.into_iter().flatten().enumerate() {
            let kind = kind.as_str().and_then(EventType::checked);
            if let Some(kind) = kind.filter(|kind| !kind.is_free()) {
                let message = format!("only the server writes events of the type {kind}");
                self.error(format!("{at}.emits.{number}"), "reserved", message);
            }
        }
    }

    /// A kind of event that can be emitted: riverrun's own records enter no step and end no wait.
    fn emitted(&mut self, at: String, kind: Option<&Value>) {
        let kind = kind.and_then(Value::as_str).map(EventType::parse);
        if let Some(kind) = kind.filter(|kind| !kind.is_emitted()) {
            let message = format!(
                "{kind} is written by riverrun itself, and never comes to a step: emit an event of your own, or have a trigger on it start a flow"
            );
            self.error(at, "kind", message);
        }
    }

    /// A duration within what a run can wait, or where it may be one an expression.
    fn duration(&mut self, at: String, text: &str, or_expression: bool) {
        match time::duration_ms(text) {
            Some(ms) if (0.0..=time::MAX_WAIT_MS as f64).contains(&ms) => {}
            Some(_) => {
                let message = format!("{text:?} is not between 0 and ten years");
                self.error(at, "duration", message);
            }
            None if or_expression => {
                if let Some(message) = self.catalog.expression_issue(text) {
                    let message = format!(
                        "{text:?} is neither a duration such as \"90s\" nor an expression: {message}"
                    );
                    self.error(at, "duration", message);
                }
            }
            None => {
                let message = format!("{text:?} is not a duration such as \"90s\" or \"1h 30m\"");
                self.error(at, "duration", message);
            }
        }
    }

    fn expression(&mut self, at: String, source: Option<&Value>) {
        let source = source.and_then(Value::as_str);
        if let Some(message) = source.and_then(|source| self.catalog.expression_issue(source)) {
            self.error(at, "expression", message);
        }
    }
}
