//! The processes below a server, as the kernel knows them.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// How long what a killed server leaves may live: its guard ends it softly, and by force two
/// seconds later. The rest is for a busy machine.
const LINGER: Duration = Duration::from_secs(15);

/// A process; by its beginning too, since ids are used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: i32,
    began: u64,
    command: String,
}

/// The fields of `/proc/<id>/stat` that matter here.
struct Stat {
    state: char,
    parent: u32,
    began: u64,
}

pub fn children(parent: u32) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id: i32| {
        let stat = stat(id).filter(|stat| stat.parent == parent && stat.state != 'Z')?;
        let command = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        Some(Process {
            id,
            began: stat.began,
            command: String::from_utf8_lossy(&command).replace('\0', " "),
        })
    })
    .collect()
}

fn stat(id: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The second field is a name in brackets, which may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        began: fields.get(19)?.parse().ok()?,
    })
}

impl Process {
    /// Whether it runs handlers, or is one. Other children guard those that do, or are asked for their version.
    pub fn is_runner(&self) -> bool {
        ["runner.mjs", "riverrun.runner", "torture-tool"]
            .iter()
            .any(|name| self.command.contains(name))
    }

    /// SIGKILL. One that is gone already is as good.
    pub fn kill(&self) {
        if let Some(id) = Pid::from_raw(self.id).filter(|_| self.is_alive()) {
            let _ = kill_process(id, Signal::KILL);
        }
    }

    pub fn is_alive(&self) -> bool {
        stat(self.id).is_some_and(|stat| stat.began == self.began && stat.state != 'Z')
    }
}

/// Waits until none of them lives, and says how long that took.
pub async fn all_gone(orphans: Vec<Process>) -> Result<Duration, String> {
    let begun = Instant::now();
    loop {
        let left: Vec<&Process> = orphans.iter().filter(|orphan| orphan.is_alive()).collect();
        if left.is_empty() {
            return Ok(begun.elapsed());
        }
        if begun.elapsed() > LINGER {
            return Err(format!(
                "a killed server left processes that still run after {LINGER:?}: {left:?}"
            ));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
