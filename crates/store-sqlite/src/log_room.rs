//! Room in SQLite's log, taken before it is needed.
//!
//! Whoever syncs a file that has grown waits for its new size to be written as well, which takes
//! about as long as the data. So the log grows ahead of what is written to it, in steps: a commit
//! overwrites what is there, and its sync writes that alone. SQLite reads its log up to the first
//! frame that is none, and zeros are none.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use riverrun_store::Result;
use rusqlite::{Connection, ErrorCode, hooks::Wal};

use crate::{
    connection,
    error::translate,
    log_marks::Noter,
    positioned,
    wal::{FRAME_BYTES, HEADER_BYTES},
};

/// Pages after which the log is brought into the file, at most. Rare checkpoints: p99 of a commit is
/// 4 ms instead of 12.
const CHECKPOINT_PAGES: u64 = 16_000;

/// And at least, on the smallest of disks.
const LEAST_PAGES: u64 = 64;

/// The log grows when less than this is left.
const LEAST_BYTES: u64 = 64 << 10;

/// It grows by this much: the one commit in a dozen that waits for it waits no longer than all of
/// them would without.
const STEP_BYTES: u64 = 512 << 10;

/// Written several times for each step: as many zeros as a step has would have to be made for each.
const ZEROS: &[u8] = &[0; 64 << 10];

struct LogRoom {
    path: PathBuf,
    /// Opened with the first commit, which made it.
    log: Option<File>,
    /// How long it is. Nothing but this changes that until a new log begins.
    bytes: Option<u64>,
    /// The disk had no room when the log was this long: it is not asked again until a new log has
    /// begun.
    refused_at: Option<u64>,
    checkpoint_pages: u64,
}

/// How many pages the log may have before it is brought into the file. All of them may be new pages
/// of the database, and the disk may be full by then: they have to fit into the reserve, with a quarter
/// of it to spare.
fn checkpoint_pages(reserve_bytes: u64) -> u64 {
    match reserve_bytes {
        0 => CHECKPOINT_PAGES,
        bytes => (bytes / 4 * 3 / FRAME_BYTES).clamp(LEAST_PAGES, CHECKPOINT_PAGES),
    }
}

/// Sees to the log of a connection from now on: the mark of what is acknowledged, its room, and its
/// checkpoints.
///
/// `found_full` is set when the disk has no room for a checkpoint.
pub(crate) fn keep(
    conn: &mut Connection,
    folder: &Path,
    mut noter: Noter,
    reserve_bytes: u64,
    found_full: Arc<AtomicBool>,
) -> Result<()> {
    let mut room = LogRoom {
        path: folder.join(connection::LOG),
        log: None,
        bytes: None,
        refused_at: None,
        checkpoint_pages: checkpoint_pages(reserve_bytes),
    };
    let committed = move |wal: &mut Wal, pages: std::ffi::c_int| {
        let pages = u64::try_from(pages).unwrap_or_default();
        // First: a checkpoint lets the next commit begin the log anew.
        if noter.note(pages) {
            room.bytes = None;
        }
        if let Err(error) = room.see_to(pages) {
            tracing::debug!(%error, "no room for a longer log");
        }
        // What somebody still reads stays in the log; the next commit tries again.
        if pages >= room.checkpoint_pages
            && let Err(error) = wal.checkpoint()
            && error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        {
            found_full.store(true, Ordering::Release);
        }
        // The commit is done, whatever becomes of this.
        Ok(())
    };
    conn.wal_hook(Some(committed)).map_err(translate)
}

impl LogRoom {
    /// Takes more room if little is left behind so many pages.
    fn see_to(&mut self, pages: u64) -> std::io::Result<()> {
        let log = match &mut self.log {
            Some(log) => log,
            None => {
                let open = OpenOptions::new().read(true).write(true).open(&self.path);
                self.log.insert(open?)
            }
        };
        let used = HEADER_BYTES + pages * FRAME_BYTES;
        let bytes = match self.bytes {
            // SQLite lengthens it itself where it was given no room.
            Some(known) => known.max(used),
            // Not by its metadata: reading a file's times forces an extra metadata write on the next
            // sync.
            None => log.seek(SeekFrom::End(0))?,
        };
        self.bytes = Some(bytes);
        if pages >= self.checkpoint_pages || used + LEAST_BYTES < bytes {
            return Ok(());
        }
        if self.refused_at.is_some_and(|refused| refused <= used) {
            return Ok(());
        }
        self.refused_at = None;
        self.bytes = None;
        // The zeros reach the disk with the next commit.
        let mut places = (bytes..bytes + STEP_BYTES).step_by(ZEROS.len());
        let written = places.try_for_each(|place| positioned::write_all(log, ZEROS, place));
        if written.is_err() {
            self.refused_at = Some(used);
            // Whatever is there of it is of more use to others.
            let _ = log.set_len(bytes);
        }
        written
    }
}
