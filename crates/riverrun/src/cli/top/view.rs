//! The queues at one moment, for a screen, for lines and for programs.

use std::time::SystemTime;

use riverrun::Json;
use riverrun_types::time::iso;
use serde_json::{Value, json};

use crate::{
    cli::queues::{age, count, rate},
    failure::Failure,
    output::{self, Row, Table, paint, paint::paint},
};

const COUNTS: [&str; 4] = ["waiting", "delayed", "active", "failed"];
const RATES: [&str; 2] = ["completedPerS", "failedPerS"];

pub struct View {
    url: String,
    ts: String,
    /// As the server returned them.
    raw: Vec<Json>,
    /// The same, those with most to do first.
    queues: Vec<Value>,
    /// All of them together, in the shape of one.
    totals: Value,
}

impl View {
    pub fn new(url: String, raw: Vec<Json>) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let ms = i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        let mut queues: Vec<Value> = raw.iter().map(Json::value).collect();
        let busy = |queue: &Value| {
            let count = |state: &str| queue["counts"][state].as_u64().unwrap_or_default();
            count("active") + count("waiting")
        };
        queues.sort_by_key(|queue| std::cmp::Reverse(busy(queue)));
        Self {
            url,
            ts: iso(ms),
            totals: totals(&queues),
            raw,
            queues,
        }
    }

    pub fn json(&self) -> Value {
        json!({"ts": self.ts, "totals": self.totals, "queues": self.raw})
    }

    /// Once, below what is on the terminal already.
    pub fn print(&self) {
        output::data(&self.sum());
        if !self.queues.is_empty() {
            output::data("");
            self.table().print();
        }
    }

    /// The lines of a screen.
    pub fn screen(&self, trouble: Option<&Failure>) -> Vec<String> {
        let time = self.ts.get(11..19).unwrap_or_default();
        let mut lines = vec![
            format!(
                "{} {} {}",
                paint(paint::BOLD, "riverrun top"),
                output::visible(&self.url),
                paint(paint::DIM, format_args!("{time} UTC, q quits"))
            ),
            self.sum(),
            match trouble {
                None => String::new(),
                Some(failure) => paint(
                    paint::BAD,
                    format_args!("{}; trying again", failure.message),
                ),
            },
        ];
        if !self.queues.is_empty() {
            lines.extend(self.table().wide().lines().map(str::to_owned));
        }
        if !output::stdout_has_colour() {
            for line in &mut lines {
                *line = anstream::adapter::strip_str(line).to_string();
            }
        }
        lines
    }

    /// A line per queue, and one for all of them.
    pub fn lines(&self) -> Vec<String> {
        let time = self.ts.get(11..19).unwrap_or_default();
        let line = |name: &str, queue: &Value| {
            let counts = COUNTS.map(|state| format!("{state} {}", count(&queue["counts"][state])));
            let stats = &queue["stats"];
            let speed = format!(
                "done/s {}  failed/s {}  wait {}  total {}  oldest {}",
                rate(&stats["completedPerS"]),
                rate(&stats["failedPerS"]),
                age(&stats["waitMs"]["p50"]),
                age(&stats["totalMs"]["p50"]),
                age(&queue["oldestMs"]),
            );
            format!(
                "{time}  {}  {}  {speed}",
                output::visible(name),
                counts.join("  ")
            )
        };
        let mut lines: Vec<String> = self
            .queues
            .iter()
            .map(|queue| line(queue["name"].as_str().unwrap_or_default(), queue))
            .collect();
        lines.push(format!("{time}  {}", self.sum()));
        lines
    }

    /// All queues in a sentence.
    fn sum(&self) -> String {
        let counts =
            COUNTS.map(|state| format!("{} {state}", count(&self.totals["counts"][state])));
        let stats = &self.totals["stats"];
        let many = match self.queues.len() {
            1 => "1 queue".to_owned(),
            many => format!("{many} queues"),
        };
        format!(
            "{many}: {}; {} done/s, {} failed/s, oldest {}",
            counts.join(", "),
            rate(&stats["completedPerS"]),
            rate(&stats["failedPerS"]),
            age(&self.totals["oldestMs"]),
        )
    }

    fn table(&self) -> Table {
        let header = [
            "queue",
            "waiting",
            "delayed",
            "active",
            "failed",
            "done/s",
            "failed/s",
            "wait p50",
            "wait p99",
            "total p50",
            "total p99",
            "oldest",
            "process",
        ];
        let mut table = Table::new(header).numbers(1..12);
        self.queues.iter().for_each(|queue| table.push(row(queue)));
        table
    }
}

fn row(queue: &Value) -> Row {
    let stats = &queue["stats"];
    let mut row = Row::default().styled(queue["name"].as_str().unwrap_or_default(), paint::NAME);
    for state in COUNTS {
        let count = count(&queue["counts"][state]);
        row = match (state, count.as_str()) {
            (_, "0") => row.styled(count, paint::DIM),
            ("failed", _) => row.styled(count, paint::BAD),
            _ => row.cell(count),
        };
    }
    for key in RATES {
        row = row.cell(rate(&stats[key]));
    }
    for times in ["waitMs", "totalMs"] {
        row = row
            .cell(age(&stats[times]["p50"]))
            .cell(age(&stats[times]["p99"]));
    }
    row = row.cell(age(&queue["oldestMs"]));
    match (queue["paused"].as_bool(), queue["process"].as_str()) {
        (Some(true), _) => row.styled("paused", paint::WARN),
        (_, Some(process)) => row.cell(process),
        (_, None) => row.styled("none", paint::WARN),
    }
}

/// What the queues have together; latencies do not add up.
fn totals(queues: &[Value]) -> Value {
    let mut totals = json!({"counts": {}, "stats": {}, "oldestMs": null});
    for state in COUNTS {
        let counts = queues
            .iter()
            .filter_map(|queue| queue["counts"][state].as_u64());
        totals["counts"][state] = json!(counts.sum::<u64>());
    }
    for key in RATES {
        let rates = queues
            .iter()
            .filter_map(|queue| queue["stats"][key].as_f64());
        totals["stats"][key] = json!(rates.sum::<f64>());
    }
    let ages = queues.iter().filter_map(|queue| queue["oldestMs"].as_i64());
    totals["oldestMs"] = json!(ages.max());
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(name: &str, waiting: u64, oldest_ms: Option<i64>) -> Json {
        Json::of(&json!({
            "name": name, "paused": false, "process": "send",
            "counts": {"waiting": waiting, "delayed": 0, "active": 1, "completed": 9, "failed": 2, "cancelled": 0},
            "oldestMs": oldest_ms,
            "stats": {"completedPerS": 1.5, "failedPerS": 0.0, "waitMs": {"p50": 2.0, "p99": 30.0}, "totalMs": {"p50": 5.0, "p99": null}},
        }))
    }

    #[test]
    fn the_busiest_comes_first_and_all_are_added_up() {
        let view = View::new(
            "http://x".to_owned(),
            vec![
                queue("idle", 0, None),
                queue("busy\u{1b}[2J", 12, Some(90_000)),
            ],
        );
        assert_eq!(
            view.sum(),
            "2 queues: 12 waiting, 0 delayed, 2 active, 4 failed; 3.0 done/s, 0 failed/s, oldest 90s"
        );
        let lines = view.lines();
        assert!(
            lines[0].contains("  busy\\u001b[2J  waiting 12  "),
            "{lines:?}"
        );
        assert!(
            lines[1].ends_with("done/s 1.5  failed/s 0  wait 2.0ms  total 5.0ms  oldest -"),
            "{lines:?}"
        );
        let screen = view.screen(Some(&Failure::new("UNREACHABLE", "gone")));
        assert_eq!(screen.len(), 3 + 3);
        assert!(screen[2].contains("gone; trying again"), "{screen:?}");
        assert_eq!(view.json()["queues"][0]["name"], "idle");
    }
}
