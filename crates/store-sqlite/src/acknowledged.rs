//! Checks, before SQLite opens a folder, that it still holds all acknowledged data.
//!
//! SQLite starts with whatever it finds: an empty database if the file is missing, and a shorter
//! log if a frame is damaged. [`crate::mark`] records how much was acknowledged. A power loss takes
//! only data that was not synced, and that was not acknowledged, so it is no loss.

use std::{
    fs::File,
    io::{ErrorKind, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use riverrun_store::{Error, Result, checksum};

use crate::{
    connection::{self, PAGE_BYTES},
    error::translate,
    lock::unusable,
    mark::{self, Mark},
    wal::{self, Generation, Header},
};

/// The missing data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss(pub(crate) String);

/// The state of the log.
enum Log {
    /// Missing or empty.
    Absent,
    /// It has bytes, and they are not the beginning of a log.
    Unreadable,
    Sound {
        generation: Generation,
        frames: u64,
    },
}

/// Compares a folder with its mark. A folder of an older version has none, and is accepted
/// unchanged.
pub(crate) fn check(folder: &Path) -> Result<Option<Loss>> {
    let database = folder.join(connection::FILE);
    let bytes = length(&database)?;
    let log = look(&folder.join(connection::LOG))?;
    let mark = mark::read(folder).map_err(|error| unusable(folder, &error))?;
    if bytes.unwrap_or(0) == 0 {
        let has_more = mark.is_some() || matches!(log, Log::Sound { frames: 1.., .. });
        let what = match bytes {
            None => "is missing",
            Some(_) => "is empty",
        };
        let loss = format!("{} {what}", connection::FILE);
        return Ok(has_more.then_some(Loss(loss)));
    }
    match mark {
        Some(mark) => judge(&database, bytes.unwrap_or(0), &log, &mark),
        None => Ok(None),
    }
}

fn judge(database: &Path, bytes: u64, log: &Log, mark: &Mark) -> Result<Option<Loss>> {
    if !mark.is_closed && bytes < mark.database_bytes {
        let had = mark.database_bytes;
        let loss = format!("{} has {bytes} of {had} bytes", connection::FILE);
        return Ok(Some(Loss(loss)));
    }
    let missing = match log {
        Log::Sound { generation, frames } if *generation == mark.generation => {
            let loss = format!(
                "{} can be read up to page {frames}, and {} were acknowledged",
                connection::LOG,
                mark.frames
            );
            return Ok((*frames < mark.frames).then_some(Loss(loss)));
        }
        // Before a log begins anew, all of it is in the database and synced.
        Log::Sound { generation, .. } if generation.is_after(&mark.generation) => return Ok(None),
        Log::Sound { .. } => "is another one",
        Log::Absent => "is missing",
        Log::Unreadable => "has no readable beginning",
    };
    // The log's content is in the database if riverrun or another program has closed the database.
    if page_sum(database, mark.page)? == Some(mark.page_sum) {
        return Ok(None);
    }
    let is_newer = match pulse(database)? {
        Some(pulse) if mark.is_closed => pulse >= mark.pulse,
        Some(pulse) => pulse > mark.pulse,
        None => false,
    };
    if is_newer {
        return Ok(None);
    }
    Ok(Some(Loss(format!(
        "{} {missing}, and {} does not hold what it held",
        connection::LOG,
        connection::FILE
    ))))
}

/// The error message for a folder with a loss.
pub(crate) fn refusal(folder: &Path, loss: &Loss) -> Error {
    let folder = folder.display();
    Error::Damaged(format!(
        "the data folder {folder} holds less than was acknowledged: {}. Nothing was changed. Put the \
         files back or restore a backup; or give up what is missing with \
         `riverrun verify --data {folder} --accept-loss`",
        loss.0
    ))
}

/// Lets a folder with a loss be opened with the remaining data. The original files are kept beside
/// it; returns their place.
pub(crate) fn accept(folder: &Path) -> Result<PathBuf> {
    let kept = (1..)
        .map(|at| folder.join(format!("before-loss-{at}")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("before-loss"));
    let keep = || -> std::io::Result<()> {
        crate::folder::make(&kept)?;
        for name in [connection::LOG, mark::FILE] {
            match std::fs::copy(folder.join(name), kept.join(name)) {
                Ok(_) => File::open(kept.join(name))?.sync_all()?,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        crate::folder::sync(&kept)?;
        // SQLite would not begin a new database beside the log of another one.
        if length(&folder.join(connection::FILE)).is_ok_and(|bytes| bytes.unwrap_or(0) == 0) {
            remove(&folder.join(connection::LOG))?;
        }
        remove(&folder.join(mark::FILE))?;
        crate::folder::sync(folder)
    };
    keep().map_err(|error| unusable(folder, &error))?;
    Ok(kept)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn length(path: &Path) -> Result<Option<u64>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn look(path: &Path) -> Result<Log> {
    let scan = || -> std::io::Result<Log> {
        let mut log = match File::open(path) {
            Ok(log) => log,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Log::Absent),
            Err(error) => return Err(error),
        };
        if log.seek(SeekFrom::End(0))? == 0 {
            return Ok(Log::Absent);
        }
        let Some(header) = Header::read(&log)? else {
            return Ok(Log::Unreadable);
        };
        let frames = wal::committed_frames(&mut log, &header)?;
        Ok(Log::Sound {
            generation: header.generation,
            frames,
        })
    };
    scan().map_err(|error| unusable(path, &error))
}

/// The checksum of a page of the database, if it has it.
fn page_sum(database: &Path, page: u32) -> Result<Option<u32>> {
    let Some(before) = page.checked_sub(1) else {
        return Ok(None);
    };
    let read = || -> std::io::Result<Option<u32>> {
        let mut file = File::open(database)?;
        let mut bytes = vec![0; PAGE_BYTES as usize];
        file.seek(SeekFrom::Start(u64::from(before) * PAGE_BYTES))?;
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(checksum::of(&[&bytes]))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    };
    read().map_err(|error| unusable(database, &error))
}

/// The pulse in the database; none if it is not readable.
fn pulse(database: &Path) -> Result<Option<u64>> {
    let conn = connection::reader(database)?;
    match conn.query_row(PULSE, [], |row| row.get(0)) {
        Ok(pulse) => Ok(Some(pulse)),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => match translate(error) {
            Error::Corrupt(_) | Error::Unavailable(_) => Ok(None),
            error => Err(error),
        },
    }
}

pub(crate) const PULSE: &str = "SELECT value FROM meta WHERE key = 'pulse'";
