//! A progress line, on a terminal only.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

pub struct Progress {
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub fn new() -> Self {
        Self {
            shown: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    pub fn show(&mut self, what: &str, done: u64, total: u64) {
        let is_early = self.shown.is_some_and(|shown| shown.elapsed() < EVERY);
        if !self.is_terminal || is_early {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
        let mut stderr = std::io::stderr().lock();
        // An error is ignored: the progress is not part of the output.
        let _ = write!(stderr, "\r\x1b[2K{what} {}%", percent.min(100));
        let _ = stderr.flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
        }
    }
}
