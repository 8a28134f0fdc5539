//! Colours, by meaning. They are removed where there is no terminal or `NO_COLOR` is set, so no
//! information is in a colour alone.

use anstyle::{AnsiColor, Style};

use super::visible;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const WAIT: Style = AnsiColor::Blue.on_default();
pub const NAME: Style = AnsiColor::Cyan.on_default();

/// A text in a style, on one line.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{}{style:#}", visible(&text.to_string()))
}

/// The style of a run's, step's or job's status.
pub fn status(status: &str) -> Style {
    match status {
        "completed" => GOOD,
        "failed" | "timeout" => BAD,
        "cancelled" | "retrying" => WARN,
        "parked" | "waiting" | "delayed" | "paused" | "pending" => WAIT,
        _ => Style::new(),
    }
}

/// The style of an event's type.
pub fn event(kind: &str) -> Style {
    match kind {
        "flow.completed" | "step.completed" | "job.completed" => GOOD,
        "flow.failed" | "step.failed" | "job.failed" | "log.error" => BAD,
        "flow.cancelled" | "step.cancelled" | "job.cancelled" | "step.retry" | "step.parked"
        | "log.warn" => WARN,
        "job.waiting" => WAIT,
        kind if kind.starts_with("step.await") => WAIT,
        kind if kind.starts_with("log.") => NAME,
        kind if kind.starts_with("flow.") => BOLD,
        _ => Style::new(),
    }
}
