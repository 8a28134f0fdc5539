//! An event on one line: time, type, step, and the important part of its data.

use serde_json::Value;

use super::{event_stack, log_fields, paint, paint::paint, shorten, visible};
use crate::config::show_duration;

/// Prints events of one run, one line each.
pub struct EventLine {
    /// Characters that the data may take.
    room: usize,
    /// Whether a line begins with the event's id.
    has_ids: bool,
}

impl EventLine {
    const TYPE: usize = 20;
    const STEP: usize = 14;
    const ID: usize = 15;

    /// For stdout: as wide as the terminal, or without end where there is none.
    pub fn for_stdout() -> Self {
        // Time, two gaps and the two columns.
        let fixed = 12 + Self::TYPE + Self::STEP + 6;
        Self {
            room: super::width().map_or(500, |width| width.saturating_sub(fixed).max(20)),
            has_ids: false,
        }
    }

    /// With the ids that other commands take, such as `riverrun runs fork --at`.
    pub fn with_ids(mut self) -> Self {
        self.room = self.room.saturating_sub(Self::ID + 2).max(20);
        self.has_ids = true;
        self
    }

    /// The line, and below it the stack of the error in the event.
    pub fn show_all(&self, event: &Value) -> String {
        let stack = event_stack(event).into_iter();
        let stack = stack.map(|line| paint(paint::DIM, line));
        let lines: Vec<String> = std::iter::once(self.show(event)).chain(stack).collect();
        lines.join("\n")
    }

    pub fn show(&self, event: &Value) -> String {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let time = text("ts");
        let time = time.get(11..23).unwrap_or(time);
        let kind = &*visible(text("type"));
        let step = match event.get("attempt").and_then(Value::as_u64) {
            Some(attempt) if attempt > 1 => format!("{} ({attempt})", visible(text("stepName"))),
            _ => visible(text("stepName")).into_owned(),
        };
        let data = shorten(
            &gist(kind, event.get("data").unwrap_or(&Value::Null)),
            self.room,
        );
        // What ends a line is not filled up: the colours would keep the spaces from being cut.
        let type_width = if step.is_empty() && data.is_empty() {
            0
        } else {
            Self::TYPE
        };
        let step_width = if data.is_empty() { 0 } else { Self::STEP };
        let line = format!(
            "{}  {}  {}  {data}",
            paint(paint::DIM, time),
            paint(paint::event(kind), format_args!("{kind:<type_width$}")),
            paint(paint::NAME, format_args!("{step:<step_width$}")),
        );
        let line = line.trim_end();
        if !self.has_ids {
            return line.to_owned();
        }
        let (id, width) = (text("id"), Self::ID);
        format!(
            "{}  {line}",
            paint(paint::DIM, format_args!("{id:<width$}"))
        )
    }
}

/// What a reader wants to see of an event's data.
fn gist(kind: &str, data: &Value) -> String {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let span = |key: &str| {
        let ms = data.get(key).and_then(Value::as_u64)?;
        Some(show_duration(std::time::Duration::from_millis(ms)))
    };
    let error = || {
        let error = data.get("error")?;
        let part = |key: &str| error.get(key).and_then(Value::as_str);
        Some(format!(
            "{}: {}",
            part("code").unwrap_or("ERROR"),
            part("message").unwrap_or("")
        ))
    };
    let found = match kind {
        "flow.started" => data.get("input").map(|input| format!("input {input}")),
        "flow.completed" => span("duration").map(|time| format!("after {time}")),
        "flow.failed" => error(),
        "flow.cancelled" | "flow.paused" | "step.cancelled" => text("reason").map(str::to_owned),
        "step.completed" => match (data.get("result"), text("next")) {
            (Some(result), _) => Some(result.to_string()),
            (None, Some(next)) => Some(format!("goes to {next}")),
            (None, None) => None,
        },
        "step.failed" => error().map(|error| match data.get("willRetry") {
            Some(Value::Bool(true)) => format!("{error} (will be tried again)"),
            _ => error,
        }),
        "step.retry" => {
            span("delayMs").map(|time| format!("after {time}: {}", text("reason").unwrap_or("")))
        }
        "step.parked" => text("message")
            .map(|message| format!("{}: {message}", text("code").unwrap_or("PARKED"))),
        "step.released" => span("parkedDuration").map(|time| format!("after {time}")),
        "step.resumed" => span("awaitDuration").map(|time| format!("after {time}")),
        "step.await.time" => {
            text("resumeAt").map(|at| format!("until {}", at.get(11..23).unwrap_or(at)))
        }
        "step.await.run" => {
            text("runId").map(|run| format!("for run {run} of {}", text("flow").unwrap_or("")))
        }
        "step.await.branches" => data
            .get("branches")
            .and_then(Value::as_array)
            .map(|branches| format!("for {} branches", branches.len())),
        "job.added" => Some(text("name").unwrap_or_default().to_owned()),
        "job.active" => data
            .get("attempt")
            .map(|attempt| format!("attempt {attempt}")),
        "job.waiting" => {
            let at = text("retryAt").map(|at| format!(" at {}", at.get(11..23).unwrap_or(at)));
            let reason = format!(
                "{}{}",
                text("reason").unwrap_or_default(),
                at.unwrap_or_default()
            );
            Some(error().map_or(reason.clone(), |error| format!("{reason}: {error}")))
        }
        "job.completed" => Some(data.get("result").map(Value::to_string).unwrap_or_default()),
        "job.failed" | "job.cancelled" => Some(error().unwrap_or_default()),
        "job.progress" => data.get("progress").map(Value::to_string),
        "job.removed" => Some(String::new()),
        kind if kind.starts_with("log.") => text("message").map(|message| {
            let fields = data.get("meta").map(log_fields).unwrap_or_default();
            format!("{message}  {fields}").trim_end().to_owned()
        }),
        _ => None,
    };
    match (found, data) {
        (Some(found), _) => found,
        (None, Value::Null) => String::new(),
        (None, Value::Object(data)) if data.is_empty() => String::new(),
        (None, data) => data.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(event: Value, expected: &str) {
        let shown = EventLine {
            room: 40,
            has_ids: false,
        }
        .show(&event);
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string().trim_end(),
            expected
        );
    }

    #[test]
    fn a_line_says_what_matters() {
        let ts = "2025-10-29T16:15:54.834Z";
        check(
            json!({"ts": ts, "type": "step.completed", "stepName": "greet", "attempt": 1, "data": {"result": "Hello", "next": "x"}}),
            "16:15:54.834  step.completed        greet           \"Hello\"",
        );
        check(
            json!({"ts": ts, "type": "step.failed", "stepName": "call", "attempt": 2, "data": {"error": {"code": "HTTP_ERROR", "message": "a\nb"}, "willRetry": false}}),
            "16:15:54.834  step.failed           call (2)        HTTP_ERROR: a b",
        );
        check(
            json!({"ts": ts, "type": "flow.completed", "data": {"result": {}, "duration": 6021}}),
            "16:15:54.834  flow.completed                        after 6s21ms",
        );
        check(
            json!({"ts": "\u{1b}c", "type": "a\nb", "stepName": "\u{1b}[2J", "attempt": 1, "data": "\u{1b}]0;x\u{7}"}),
            "\\u001bc  a b                   \\u001b[2J       \"\\u001b]0;x\\u0007\"",
        );
        check(
            json!({"ts": ts, "type": "flow.resumed"}),
            "16:15:54.834  flow.resumed",
        );
        check(
            json!({"ts": ts, "type": "step.started", "stepName": "who", "attempt": 1}),
            "16:15:54.834  step.started          who",
        );
        check(
            json!({"ts": ts, "type": "x.y", "data": {"a": "0123456789012345678901234567890123456789"}}),
            "16:15:54.834  x.y                                   {\"a\":\"012345678901234567890123456789012…",
        );
    }
}
