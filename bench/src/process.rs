//! What the kernel knows about processes and the machine, from `/proc`.

use std::{
    fs::read_to_string,
    time::{Duration, Instant},
};

/// The kernel counts processor time in hundredths of a second towards programs.
const TICK_MS: f64 = 10.0;

/// The share of the machine that others may use before figures mean little.
pub const DISTURBED: f64 = 0.1;

/// The processor time that a process has used, in milliseconds.
pub fn cpu_ms(pid: u32) -> f64 {
    ticks(&format!("/proc/{pid}/stat"), &[11, 12]) * TICK_MS
}

/// The memory that a process holds, in MB: its own data and the pages of its program.
pub fn resident_mb(pid: u32) -> f64 {
    status_mb(pid, "VmRSS:")
}

/// The part of it that is not backed by files, in MB.
pub fn own_mb(pid: u32) -> f64 {
    status_mb(pid, "RssAnon:")
}

fn status_mb(pid: u32, field: &str) -> f64 {
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() * 1_024.0 / 1e6
}

/// Processor time so far: of the whole machine, and of us with the children that have ended.
pub struct Usage {
    busy: f64,
    all: f64,
    ours: f64,
}

impl Usage {
    pub fn now() -> Self {
        let stat = read_to_string("/proc/stat").unwrap_or_default();
        let first = stat.lines().next().unwrap_or_default();
        let times = first.split_whitespace().skip(1);
        let times: Vec<f64> = times.filter_map(|time| time.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guests are counted in user.
        let all: f64 = times.iter().take(8).sum();
        let idle: f64 = times.iter().skip(3).take(2).sum();
        Self {
            busy: all - idle,
            all,
            ours: ticks("/proc/self/stat", &[11, 12, 13, 14]),
        }
    }

    /// The share of the machine that others have used since.
    pub fn others_since(&self) -> f64 {
        let now = Self::now();
        let others = (now.busy - self.busy) - (now.ours - self.ours);
        (others / (now.all - self.all).max(1.0)).max(0.0)
    }
}

/// Waits until others leave the machine alone, but no longer than `patience`.
pub async fn quiet(patience: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        let before = Usage::now();
        tokio::time::sleep(Duration::from_secs(1)).await;
        if before.others_since() < DISTURBED {
            return;
        }
    }
}

/// The sum of some fields of a `stat` file, counted from the one after the process's name.
fn ticks(path: &str, fields: &[usize]) -> f64 {
    let stat = read_to_string(path).unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let values: Vec<&str> = after_name.split(' ').collect();
    let value = |field: &usize| values.get(*field)?.parse::<f64>().ok();
    fields.iter().filter_map(value).sum()
}

/// The processor and the system, for people.
pub fn machine_name() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let release = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores of {model}, Linux {}", release.trim())
}
