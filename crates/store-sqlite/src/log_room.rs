//! Room in SQLite's log, taken before it is needed.
//!
//! Whoever syncs a file that has grown waits for its new size to be written as well, which takes
//! about as long as the data. So the log grows ahead of what is written to it, in steps: a commit
//! overwrites what is there, and its sync writes that alone. SQLite reads its log up to the first
//! frame that is none, and zeros are none.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use riverrun_store::Result;
use rusqlite::{Connection, hooks::Wal};

use crate::{connection::PAGE_BYTES, error::translate, lock::unusable};

/// Pages after which the log is brought into the file. Rare checkpoints: p99 of a commit is 4 ms
/// instead of 12.
const CHECKPOINT_PAGES: u64 = 16_000;

/// What stands before each page in the log.
const FRAME_BYTES: u64 = 24;

/// The log grows when less than this is left.
const LEAST_BYTES: u64 = 64 << 10;

/// It grows by this much: the one commit in a dozen that waits for it waits no longer than all of
/// them would without.
const STEP_BYTES: usize = 512 << 10;

struct LogRoom {
    log: File,
    /// The disk had no room when the log was this long: it is not asked again until a new log has
    /// begun.
    refused_at: Option<u64>,
}

/// Sees to the log of a connection from now on: its room, and its checkpoints.
pub(crate) fn keep(conn: &mut Connection, path: &Path) -> Result<()> {
    let open = OpenOptions::new().read(true).write(true).open(path);
    let log = open.map_err(|error| unusable(path, &error))?;
    let mut room = LogRoom {
        log,
        refused_at: None,
    };
    let committed = move |wal: &mut Wal, pages: std::ffi::c_int| {
        let pages = u64::try_from(pages).unwrap_or_default();
        room.see_to(pages);
        if pages >= CHECKPOINT_PAGES {
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
    fn see_to(&mut self, pages: u64) {
        let used = pages * (PAGE_BYTES + FRAME_BYTES);
        // Not by its metadata: whoever has seen a file's times is owed a new one with the next
        // write, and each sync would write that too.
        let Ok(bytes) = self.log.seek(SeekFrom::End(0)) else {
            return;
        };
        if pages >= CHECKPOINT_PAGES || used + LEAST_BYTES < bytes {
            return;
        }
        if self.refused_at.is_some_and(|refused| refused <= used) {
            return;
        }
        self.refused_at = None;
        // The zeros reach the disk with the next commit.
        if let Err(error) = self.log.write_all(&vec![0; STEP_BYTES]) {
            tracing::debug!(%error, "no room for a longer log");
            self.refused_at = Some(used);
            // Whatever is there of it is of more use to others.
            let _ = self.log.set_len(bytes);
        }
    }
}
