//! Copies of a store, made while it is in use or not, and folders made of them.
//!
//! A backup is one file: the database at one moment. Its pages are copied inside one read
//! transaction, so that writers go on and the copy never has to start over. Their writes stay in
//! the log until the copy is done, so the copy must end before the log is too long: at half of the
//! allowed growth the copy is not throttled any more, and at the full growth it is aborted.

use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use riverrun_store::{Error, Result};
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use crate::{
    acknowledged,
    connection::{self, PAGE_BYTES},
    error::translate,
    folder as folders,
    lock::{self, unusable},
    reserve,
    verify::{Inspector, Report, verify_file},
};

/// Pages that are copied at a time: 1 MiB.
const STEP_PAGES: i32 = 256;
/// How long to wait for another holder of a page.
const BUSY: Duration = Duration::from_millis(20);

/// Bytes that are done, and bytes in all.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// How fast a backup is made.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Bytes a second at most. Default 100 MB; None does not limit it.
    pub rate: Option<u64>,
    /// Bytes by which the store's log may grow meanwhile; never by more than half of the disk's free
    /// bytes. Default 1 GB; None sets no other limit.
    pub max_log_bytes: Option<u64>,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            rate: Some(100_000_000),
            max_log_bytes: Some(1_000_000_000),
        }
    }
}

/// Copies the store of a folder into a file. Returns its size in bytes. The file appears once it is
/// complete and synced, and replaces an earlier one.
pub fn backup(folder: &Path, to: &Path, pace: Pace, progress: OnProgress<'_>) -> Result<u64> {
    let database = folder.join(connection::FILE);
    let found = std::fs::metadata(&database).map_err(|error| unusable(&database, &error))?;
    // Without a server the backup owns the folder meanwhile, and can check that it is complete.
    let _lock = match lock::lock(folder) {
        Ok(lock) => {
            if let Some(loss) = acknowledged::check(folder)? {
                return Err(acknowledged::refusal(folder, &loss));
            }
            Some(lock)
        }
        Err(Error::Locked(_)) if found.len() > 0 => None,
        Err(error) => return Err(error),
    };
    let partial = Partial::beside(to)?;
    copy(folder, &partial.0, pace, progress)?;
    partial.finish(to)
}

fn copy(folder: &Path, to: &Path, pace: Pace, progress: OnProgress<'_>) -> Result<()> {
    let source = connection::reader(&folder.join(connection::FILE))?;
    let log = folder.join(connection::LOG);
    let log_bytes = || std::fs::metadata(&log).map_or(0, |log| log.len());
    // The first read determines the moment.
    let moment = source.unchecked_transaction().map_err(translate)?;
    moment
        .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .map_err(translate)?;
    let mut target = Connection::open(to).map_err(translate)?;
    for (setting, value) in [("journal_mode", "OFF"), ("synchronous", "OFF")] {
        target
            .pragma_update(None, setting, value)
            .map_err(translate)?;
    }
    let (begun, log_before) = (Instant::now(), log_bytes());
    // The growth of the log has to fit into the database afterwards.
    let most = pace.max_log_bytes.unwrap_or(u64::MAX);
    let most = most.min(reserve::free_bytes(folder) / 2);
    let backup = Backup::new(&moment, &mut target).map_err(translate)?;
    loop {
        match backup.step(STEP_PAGES).map_err(translate)? {
            StepResult::Done => break,
            StepResult::Busy | StepResult::Locked => std::thread::sleep(BUSY),
            _ => {}
        }
        let pages = backup.progress();
        let total = u64::try_from(pages.pagecount).unwrap_or(0) * PAGE_BYTES;
        let left = u64::try_from(pages.remaining).unwrap_or(0) * PAGE_BYTES;
        let done = total.saturating_sub(left);
        progress(done, total);
        let grown = log_bytes().saturating_sub(log_before);
        if grown > most {
            return Err(Error::Unavailable(too_long(grown, most, done, total)));
        }
        if let Some(rate) = pace.rate.filter(|rate| *rate > 0 && grown <= most / 2) {
            let due = Duration::from_secs_f64(done as f64 / rate as f64);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
        }
    }
    drop(backup);
    // One file, without a log beside it.
    target
        .pragma_update(None, "journal_mode", "DELETE")
        .map_err(translate)?;
    target.close().map_err(|(_, error)| translate(error))
}

fn too_long(grown: u64, most: u64, done: u64, total: u64) -> String {
    format!(
        "the backup was given up after {done} of {total} bytes: the log grew by {grown} bytes meanwhile, and may grow by {most}. Nothing was written; back up when the server writes less, or let the log grow further (--max-log)"
    )
}

/// Creates a folder from a backup, if the backup is complete. The folder must be empty or missing.
pub fn restore(
    file: &Path,
    folder: &Path,
    inspector: &mut dyn Inspector,
    progress: OnProgress<'_>,
) -> Result<Report> {
    let report = verify_file(file, inspector)?;
    if !report.is_well() {
        return Ok(report);
    }
    folders::prepare(folder)?;
    let _lock = lock::lock(folder)?;
    let others = || -> std::io::Result<bool> {
        let mut entries = std::fs::read_dir(folder)?;
        Ok(entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != lock::FILE)))
    };
    if others().map_err(|error| unusable(folder, &error))? {
        let text = format!("the folder {} is not empty", folder.display());
        return Err(Error::Unavailable(text));
    }
    let database = folder.join(connection::FILE);
    let partial = Partial::beside(&database)?;
    let mut copy = || -> std::io::Result<()> {
        let mut from = File::open(file)?;
        let total = from.metadata()?.len();
        let mut to = File::options().write(true).open(&partial.0)?;
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            to.write_all(&buffer[..read])?;
            done += read as u64;
            progress(done, total);
        }
    };
    copy().map_err(|error| unusable(&partial.0, &error))?;
    partial.finish(&database)?;
    Ok(report)
}

/// A file under a temporary name until it is complete and synced; removed if it never is.
struct Partial(PathBuf);

impl Partial {
    fn beside(to: &Path) -> Result<Self> {
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let path = to.with_file_name(name);
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        options
            .open(&path)
            .map_err(|error| unusable(&path, &error))?;
        Ok(Self(path))
    }

    /// Renames it, durably. Returns its size in bytes.
    fn finish(self, to: &Path) -> Result<u64> {
        let finish = || -> std::io::Result<u64> {
            let file = File::options().read(true).write(true).open(&self.0)?;
            file.sync_all()?;
            std::fs::rename(&self.0, to)?;
            let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
            folders::sync(parent.unwrap_or(Path::new(".")))?;
            Ok(file.metadata()?.len())
        };
        finish().map_err(|error| unusable(to, &error))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
