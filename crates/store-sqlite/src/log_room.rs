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
};

use riverrun_store::Result;
use rusqlite::{Connection, hooks::Wal};

use crate::{
    connection,
    error::translate,
    log_marks::Noter,
    positioned, reserve,
    wal::{FRAME_BYTES, HEADER_BYTES},
};

/// Pages after which the log is brought into the file. Rare checkpoints: p99 of a commit is 4 ms
/// instead of 12.
const CHECKPOINT_PAGES: u64 = 16_000;

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
}

/// Sees to the log of a connection from now on: the mark of what is acknowledged, its room, and its
/// checkpoints.
///
/// `reserve_bytes`: what is kept for a full disk. The log has to fit into it once the disk has little
/// room, since all of it may be new pages of the database.
pub(crate) fn keep(
    conn: &mut Connection,
    folder: &Path,
    mut noter: Noter,
    reserve_bytes: u64,
) -> Result<()> {
    let short_pages = (reserve_bytes / 2 / FRAME_BYTES).clamp(64, CHECKPOINT_PAGES);
    let mut looked_at = 0;
    let place = folder.to_owned();
    let mut room = LogRoom {
        path: folder.join(connection::LOG),
        log: None,
        bytes: None,
        refused_at: None,
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
        // Looked at now and then, once the log is as long as that.
        let is_short = pages >= short_pages
            && pages.abs_diff(looked_at) >= short_pages / 2
            && reserve_bytes > 0;
        let is_low = is_short && reserve::is_low(&place);
        if is_short && !is_low {
            looked_at = pages;
        }
        if pages >= CHECKPOINT_PAGES || is_low {
            // What somebody still reads stays in the log; the next commit tries again.
            let _ = wal.checkpoint();
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
        if pages >= CHECKPOINT_PAGES || used + LEAST_BYTES < bytes {
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
