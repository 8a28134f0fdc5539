//! Space in SQLite's log, allocated before it is needed.
//!
//! A sync of a file that has grown also writes its new size, which takes about as long as the data.
//! So the log grows ahead of its content, in steps: a commit overwrites allocated space, and its
//! sync writes the data alone. SQLite reads its log up to the first invalid frame, and zeros are
//! invalid.

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

/// The most pages before a checkpoint. Rare checkpoints: p99 of a commit is 4 ms instead of 12.
const CHECKPOINT_PAGES: u64 = 16_000;

/// The fewest, on the smallest of disks.
const LEAST_PAGES: u64 = 64;

/// The log grows when less than this remains.
const LEAST_BYTES: u64 = 64 << 10;

/// The size of a growth step: the one commit in a dozen that waits for it waits no longer than all
/// of them would without.
const STEP_BYTES: u64 = 512 << 10;

/// Written several times for each step, so that the buffer of zeros is smaller than a step.
const ZEROS: &[u8] = &[0; 64 << 10];

struct LogRoom {
    path: PathBuf,
    /// Opened with the first commit, which created it.
    log: Option<File>,
    /// The log's length. Nothing but this changes it until a new log begins.
    bytes: Option<u64>,
    /// The disk had no room when the log was this long: it is not tried again until a new log has
    /// begun.
    refused_at: Option<u64>,
    checkpoint_pages: u64,
}

/// How many pages the log may have before a checkpoint. All of them may be new pages of the
/// database, and the disk may be full by then: they have to fit into the reserve, with a quarter of
/// it to spare.
fn checkpoint_pages(reserve_bytes: u64) -> u64 {
    match reserve_bytes {
        0 => CHECKPOINT_PAGES,
        bytes => (bytes / 4 * 3 / FRAME_BYTES).clamp(LEAST_PAGES, CHECKPOINT_PAGES),
    }
}

/// Manages the log of a connection from now on: the mark of acknowledged data, its space, and its
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
        // Pages that a reader still needs stay in the log; the next commit tries again.
        if pages >= room.checkpoint_pages
            && let Err(error) = wal.checkpoint()
            && error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        {
            found_full.store(true, Ordering::Release);
        }
        // The commit is done, whatever the result here.
        Ok(())
    };
    conn.wal_hook(Some(committed)).map_err(translate)
}

impl LogRoom {
    /// Allocates more space if little remains behind this many pages.
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
            // SQLite lengthens the log itself if it was given no space.
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
            // Other files can make better use of the space.
            let _ = log.set_len(bytes);
        }
        written
    }
}
