//! Disk space that is reserved for deletes on a full disk.
//!
//! A file of a fixed size holds the space. When a write finds the disk full, the file is emptied,
//! so that deletes, cancels and checkpoints have room to write, and every commit that adds data is
//! rejected. Once the disk or the database has room again, the reserve is allocated anew.

use std::{
    cell::{Cell, RefCell},
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use riverrun_store::{Change, Commit, Error, Settled, Steer};
use riverrun_types::RunStatus;
use rusqlite::Connection;

use crate::connection::PAGE_BYTES;

/// The name of the file in the data folder.
pub(crate) const FILE: &str = "reserve";

/// A reserve takes at most this part of the disk. It is allocated if as much remains beside it:
/// that is room for the log, so that the next commits do not find the disk full at once.
const PART: u64 = 16;

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// No reserve is configured, or the file system cannot hold one.
    Absent,
    Held,
    /// The disk was found full, or had no room for the reserve, and has had none since.
    Released,
}

pub(crate) struct Reserve {
    folder: PathBuf,
    bytes: u64,
    file: RefCell<Option<File>>,
    state: Cell<State>,
    /// Commits that add data are rejected.
    is_full: Cell<bool>,
}

impl Reserve {
    /// Allocates up to this many bytes; 0 for none. Errors of the disk are ignored: a store without
    /// a reserve works.
    pub(crate) fn open(folder: &Path, wanted: u64) -> Self {
        let reserve = Self {
            folder: folder.to_owned(),
            bytes: size(folder, wanted),
            file: RefCell::new(None),
            state: Cell::new(State::Absent),
            is_full: Cell::new(false),
        };
        match reserve.bytes {
            0 => drop(std::fs::remove_file(folder.join(FILE))),
            bytes => {
                if let Err(error) = reserve.hold() {
                    tracing::warn!(bytes, %error, "no disk space could be reserved");
                    if error.kind() == io::ErrorKind::StorageFull {
                        reserve.state.set(State::Released);
                    }
                }
            }
        }
        reserve
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// The reason of the rejection.
    pub(crate) fn refusal(&self) -> Error {
        let folder = self.folder.display();
        Error::Full(format!(
            "{folder} has no room; only deletes, cancels and purges are let through until it has"
        ))
    }

    /// The disk was found full: releases the reserve.
    pub(crate) fn release(&self) {
        if self.bytes == 0 {
            return;
        }
        self.state.set(State::Released);
        if !self.is_full.replace(true) {
            tracing::error!("the disk is full; the reserve is released for deletes");
        }
        if let Some(file) = &*self.file.borrow()
            && let Err(error) = file.set_len(0)
        {
            tracing::warn!(%error, "the reserve could not be released");
        }
    }

    /// Looks for room if none was found before: on the disk for a new reserve, or in the database.
    pub(crate) fn look(&self, conn: &Connection) {
        if self.state.get() != State::Released {
            return;
        }
        let is_held = self.hold().is_ok();
        let has_pages = || {
            let pages = conn.pragma_query_value(None, "freelist_count", |row| row.get::<_, u64>(0));
            pages.is_ok_and(|pages| pages * PAGE_BYTES >= self.bytes / 4)
        };
        if self.is_full.get() && (is_held || has_pages()) {
            self.is_full.set(false);
            tracing::info!("the disk has room again");
        }
    }

    /// Whether the log must be kept short, because the disk has no room for a long one.
    pub(crate) fn is_tight(&self) -> bool {
        self.state.get() == State::Released
    }

    fn hold(&self) -> io::Result<()> {
        let mut slot = self.file.borrow_mut();
        let file = match &mut *slot {
            Some(file) => file,
            None => slot.insert(open(&self.folder.join(FILE))?),
        };
        // The file of an earlier owner serves as well.
        if file.seek(SeekFrom::End(0))? != self.bytes {
            file.set_len(0)?;
            if disk(&self.folder)?.free < 2 * self.bytes {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if let Err(error) = fill(file, self.bytes) {
                file.set_len(0)?;
                return Err(error);
            }
        }
        self.state.set(State::Held);
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// The size of a reserve for which this many bytes are configured.
pub(crate) fn size(folder: &Path, wanted: u64) -> u64 {
    disk(folder).map_or(0, |disk| wanted.min(disk.total / PART))
}

/// The bytes that are free on the disk of a folder.
pub(crate) fn free_bytes(folder: &Path) -> u64 {
    disk(folder).map_or(u64::MAX, |disk| disk.free)
}

struct Disk {
    free: u64,
    total: u64,
}

#[cfg(unix)]
fn disk(folder: &Path) -> io::Result<Disk> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(Disk {
        free: found.f_bavail.saturating_mul(found.f_frsize),
        total: found.f_blocks.saturating_mul(found.f_frsize),
    })
}

/// If the system does not report it, filling the file finds out.
#[cfg(not(unix))]
fn disk(_folder: &Path) -> io::Result<Disk> {
    Ok(Disk {
        free: u64::MAX,
        total: u64::MAX,
    })
}

/// Allocates real blocks for this many bytes of a file.
fn fill(file: &mut File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let flags = rustix::fs::FallocateFlags::empty();
        match rustix::fs::fallocate(&*file, flags, 0, bytes) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    file.seek(SeekFrom::Start(0))?;
    let zeros = vec![0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_data()
}

/// Whether a commit deletes more than it adds, so that it is accepted on a full disk.
pub(crate) fn relieves(commit: &Commit) -> bool {
    let takes_away = |change: &Change| match change {
        Change::Delete(_)
        | Change::Abandon { .. }
        | Change::Untrigger { .. }
        | Change::Trim { .. }
        | Change::Steer {
            steer: Steer::Remove | Steer::Cancel { .. },
            ..
        } => true,
        Change::Advance(advance) => advance.projection.status == RunStatus::Cancelled,
        Change::Settle(settle) => {
            matches!(settle.outcome, Settled::Cancelled { .. } | Settled::Dropped)
        }
        _ => false,
    };
    let adds = |change: &Change| match change {
        Change::Create(_)
        | Change::Enqueue(_)
        | Change::Register(_)
        | Change::Trigger(_)
        | Change::Await(_)
        | Change::Fired(_) => true,
        Change::Advance(advance) => !advance.projection.status.is_ended(),
        _ => false,
    };
    let changes = &commit.changes;
    changes.iter().any(takes_away) && !changes.iter().any(adds)
}
