//! Turns the output of a process into log lines, at a bounded rate.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use riverrun_protocol::{LogLevel, WorkError};
use riverrun_types::Json;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::lines::{Cut, Kept};

/// The most bytes of a log line.
pub(crate) const LINE_BYTES: usize = 8 << 10;
/// The most printed lines of a runner per second, where no other limit applies; the rest is counted
/// and reported.
pub(crate) const LINES_PER_SECOND: u32 = 1_000;

/// Where printed lines go.
pub(crate) type Printed = Arc<dyn Fn(LogLevel, String) + Send + Sync>;

/// Standard output or standard error of a process.
pub(crate) struct Output {
    pub level: LogLevel,
    pub printed: Printed,
    /// Remembers the last lines.
    pub tail: Tail,
    /// A longer line is cut.
    pub line_bytes: usize,
    /// Keeps the last line back if it is meant as JSON: it may be a result rather than a log.
    pub held: Option<HeldLine>,
    /// Lines that a second may bring; the rest is counted and said.
    pub per_second: u32,
}

/// A line that was kept back. Clones share it.
pub(crate) type HeldLine = Arc<Mutex<Option<Line>>>;

/// A line that says, or wants to say, a value.
pub(crate) enum Line {
    Json(Json),
    Broken {
        line: String,
        error: String,
    },
    /// It has more bytes than a line may have, and only its beginning was kept.
    Cut {
        line: String,
        bytes: usize,
    },
}

impl Line {
    /// None for a line that is only a line.
    fn read(kept: &Kept) -> Option<Self> {
        let line = kept.text.as_str();
        let error = match Json::parse_text(line.to_owned()) {
            Ok(json) if !kept.is_cut => return Some(Self::Json(json)),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        if kept.is_cut {
            // The beginning of a value is one to which nothing is wrong but that it ends.
            let is_value = error.as_ref().is_none_or(serde_json::Error::is_eof);
            return (is_value || looks_meant(line)).then(|| Self::Cut {
                line: line.to_owned(),
                bytes: kept.bytes,
            });
        }
        let error = error.filter(|_| looks_meant(line))?;
        Some(Self::Broken {
            line: line.to_owned(),
            error: error.to_string(),
        })
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Json(json) => json.as_str(),
            Self::Broken { line, .. } | Self::Cut { line, .. } => line,
        }
    }
}

/// `[info] ready` is a line of a log, `["a"` is not.
fn looks_meant(line: &str) -> bool {
    let mut chars = line.trim_start().chars();
    match chars.next() {
        Some('{') => true,
        Some('[') => chars.next().is_some_and(|next| "{[\"".contains(next)),
        _ => false,
    }
}

impl Output {
    /// Reads to the end.
    pub async fn read(self, mut stream: impl AsyncRead + Unpin) {
        let mut cut = Cut::new(self.line_bytes);
        let mut flood = Flood::new(self.per_second);
        let mut bytes = vec![0; 32 << 10];
        loop {
            match stream.read(&mut bytes).await {
                Ok(0) | Err(_) => break,
                Ok(count) => cut.push(&bytes[..count], |line| self.line(&mut flood, line)),
            }
        }
        cut.finish(|line| self.line(&mut flood, line));
        flood.say(&self.printed);
    }

    fn line(&self, flood: &mut Flood, line: Kept) {
        self.tail.push(&line.text);
        if let Some(held) = &self.held {
            if let Some(before) = held.lock().take() {
                self.show(flood, before.text().to_owned());
            }
            if let Some(read) = Line::read(&line) {
                return *held.lock() = Some(read);
            }
        }
        self.show(flood, line.shown());
    }

    fn show(&self, flood: &mut Flood, line: String) {
        if flood.takes(&self.printed) {
            (self.printed)(self.level, line);
        }
    }
}

/// Counts the lines of a second.
struct Flood {
    per_second: u32,
    since: Instant,
    taken: u32,
    dropped: u64,
}

impl Flood {
    fn new(per_second: u32) -> Self {
        Self {
            per_second,
            since: Instant::now(),
            taken: 0,
            dropped: 0,
        }
    }

    fn takes(&mut self, printed: &Printed) -> bool {
        if self.taken < self.per_second {
            self.taken += 1;
            return true;
        }
        if self.since.elapsed() >= Duration::from_secs(1) {
            self.say(printed);
            (self.since, self.taken) = (Instant::now(), 1);
            return true;
        }
        self.dropped += 1;
        false
    }

    fn say(&mut self, printed: &Printed) {
        if self.dropped > 0 {
            let message = format!("{} more lines were printed and dropped", self.dropped);
            printed(LogLevel::Warn, message);
        }
        self.dropped = 0;
    }
}

/// The last lines that a process printed, for the error when it dies. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    const LINES: usize = 12;
    const CHARS: usize = 500;

    fn push(&self, line: &str) {
        let mut lines = self.0.lock();
        if lines.len() == Self::LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(Self::CHARS).collect());
    }

    /// Adds to the error of a process what it said last: the line that says it, and all of them as
    /// its stack.
    pub fn tell(&self, mut error: WorkError) -> WorkError {
        let lines = self.0.lock();
        if let Some(line) = telling(&lines) {
            error.message.push_str("; it said last: ");
            error.message.push_str(line);
            if lines.len() > 1 {
                let all = Vec::from_iter(lines.iter().map(String::as_str));
                error.stack = Some(all.join("\n").into());
            }
        }
        error
    }
}

/// The last line, but for what stands below an error: frames, which are indented, and the version
/// of Node.
fn telling(lines: &VecDeque<String>) -> Option<&str> {
    let said = || lines.iter().rev().map(|line| line.trim_end());
    let is_error = |line: &&str| {
        !line.is_empty() && !line.starts_with([' ', '\t']) && !line.starts_with("Node.js v")
    };
    let error_line = said().find(is_error);
    error_line.or_else(|| said().map(str::trim).find(|line| !line.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_is_counted_instead_of_shown() {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let output = Output {
            level: LogLevel::Info,
            printed: Arc::new({
                let lines = lines.clone();
                move |_, line| lines.lock().push(line)
            }),
            tail: Tail::default(),
            line_bytes: LINE_BYTES,
            held: None,
            per_second: LINES_PER_SECOND,
        };
        let tail = output.tail.clone();
        let text: String = (0..5_000).map(|n| format!("{n}\n")).collect();
        output.read(text.as_bytes()).await;
        let lines = lines.lock();
        assert_eq!(lines.len(), 1_001);
        assert_eq!(lines[1_000], "4000 more lines were printed and dropped");
        let error = tail.tell(WorkError::new("X", "it ended"));
        assert_eq!(error.message, "it ended; it said last: 4999");
        assert!(error.stack.unwrap().ends_with("4998\n4999"));
    }

    #[test]
    fn the_line_is_quoted_that_says_what_happened() {
        for (lines, quoted) in [
            (
                "Traceback:\n  File \"a.py\", line 1\n    f()\n    ^^^\nValueError: no\n",
                "ValueError: no",
            ),
            (
                "a.mjs:1\nthrow x\n^\n\nError: no\n    at a.mjs:1:7\n\nNode.js v20.20.2\n",
                "Error: no",
            ),
            ("  only frames\n\n", "only frames"),
        ] {
            let tail = Tail::default();
            lines.lines().for_each(|line| tail.push(line));
            let error = tail.tell(WorkError::new("X", "it ended"));
            assert_eq!(error.message, format!("it ended; it said last: {quoted}"));
            assert_eq!(error.stack.as_deref(), lines.strip_suffix('\n'));
        }
        let silent = Tail::default().tell(WorkError::new("X", "it ended"));
        assert_eq!(silent, WorkError::new("X", "it ended"));
    }
}
