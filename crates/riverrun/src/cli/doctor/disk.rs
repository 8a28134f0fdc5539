//! Checks the data folder: permissions, lock, free space, speed of a sync.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::Check;
use crate::{
    cli::verify::{self, Reducer},
    config::Config,
};

/// Less room than this and a busy server runs out within hours.
const ROOM: u64 = 1 << 30;
/// A sync slower than this makes every acknowledged write slow.
const SLOW: Duration = Duration::from_millis(50);
const SYNCS: u32 = 20;

pub fn checks(config: &Config) -> Vec<Check> {
    if config.store.starts_with("memory") {
        return vec![Check::good("data", "in memory")];
    }
    let there = nearest(&config.data);
    let mut checks = vec![writable(&config.data, &there), lock(&config.data)];
    checks.extend(room(&there));
    checks.extend(sync(&there));
    checks.extend(sdks(&config.data));
    checks
}

/// The files that runners load, if a server has written them.
fn sdks(data: &Path) -> Option<Check> {
    let folder = data.join("sdk");
    if !folder.is_dir() {
        return None;
    }
    let damaged = riverrun_providers::damaged_sdks(&folder);
    Some(match damaged.first() {
        None => Check::good("sdk", "the files that runners load are whole"),
        Some(place) => Check::bad(
            "sdk",
            format!("{} is damaged", place.display()),
            "restart the server: it writes them again",
        ),
    })
}

/// Everything that is stored.
pub fn deep(config: &Config) -> Option<Check> {
    let folder = verify::folder_of(config).ok()?;
    let next = format!("riverrun verify --data {}", folder.display());
    let found = riverrun_store_sqlite::verify(&folder, &mut Reducer::new());
    Some(match found {
        Err(error) => Check::bad("stored", error.to_string(), next),
        Ok(report) => match report.findings.first() {
            None => Check::good(
                "stored",
                format!(
                    "{} runs and {} events are intact",
                    report.runs, report.events
                ),
            ),
            Some(first) => {
                let count = report.findings.len() as u64 + report.more;
                let id = first.id.as_deref().unwrap_or_default();
                let found = format!("{count} damaged: {} {id}: {}", first.place, first.problem);
                Check::bad("stored", found, next)
            }
        },
    })
}

/// The folder itself, or the one in which it would be made.
fn nearest(folder: &Path) -> PathBuf {
    let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let found = full.ancestors().find(|path| path.is_dir());
    found.map_or(full.clone(), Path::to_owned)
}

fn writable(data: &Path, there: &Path) -> Check {
    match tempfile_in(there) {
        Ok(_) if data.is_dir() => Check::good("data", format!("{} can be written", data.display())),
        Ok(_) => Check::good("data", format!("{} will be made", data.display())),
        Err(error) => Check::bad(
            "data",
            format!("{} cannot be written: {error}", there.display()),
            "--data <a folder that this user may write>",
        ),
    }
}

/// A file that is gone when it is dropped.
struct Scratch(PathBuf, File);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn tempfile_in(folder: &Path) -> std::io::Result<Scratch> {
    let path = folder.join(format!(".riverrun-doctor-{}", std::process::id()));
    let file = File::create(&path)?;
    Ok(Scratch(path, file))
}

/// Looks at the lock as a server would, and lets go at once.
fn lock(data: &Path) -> Check {
    let path = data.join("lock");
    let Ok(file) = File::options().read(true).write(true).open(&path) else {
        return Check::good("lock", "no server uses the data folder");
    };
    match file.try_lock() {
        Ok(()) => Check::good("lock", "no server uses the data folder"),
        Err(_) => {
            let pid = std::fs::read_to_string(&path).unwrap_or_default();
            // In use is how it should be while a server runs.
            Check::good(
                "lock",
                format!("process {} uses the data folder", pid.trim()),
            )
        }
    }
}

#[cfg(unix)]
fn room(folder: &Path) -> Option<Check> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let shown = format!("{:.1} GiB free", free as f64 / f64::from(1u32 << 30));
    Some(if free >= ROOM {
        Check::good("disk", shown)
    } else {
        Check::bad(
            "disk",
            shown,
            "make room, or --data <a folder on a larger disk>",
        )
    })
}

#[cfg(not(unix))]
fn room(_folder: &Path) -> Option<Check> {
    None
}

fn sync(folder: &Path) -> Option<Check> {
    let mut scratch = tempfile_in(folder).ok()?;
    let begun = Instant::now();
    for _ in 0..SYNCS {
        scratch
            .1
            .write_all(&[0; 4096])
            .and_then(|()| scratch.1.sync_data())
            .ok()?;
    }
    let each = begun.elapsed() / SYNCS;
    let shown = format!(
        "{:.2} ms for 4 KiB to be on disk",
        each.as_secs_f64() * 1_000.0
    );
    Some(if each <= SLOW {
        Check::good("sync", shown)
    } else {
        Check::bad(
            "sync",
            shown,
            "--data <a folder on a faster disk>: every acknowledged write waits for one",
        )
    })
}
