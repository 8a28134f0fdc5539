//! Writing the mark after each commit.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use riverrun_store::{Result, checksum};
use rusqlite::{Connection, OptionalExtension};

use crate::{
    acknowledged::PULSE,
    connection::{self, PAGE_BYTES},
    error::translate,
    lock::unusable,
    mark::{Mark, MarkFile},
    positioned,
    wal::{FRAME_BYTES, FRAME_HEADER_BYTES, FrameHeader, Generation, HEADER_BYTES, Header},
};

/// How often the pulse grows while the store is written.
const PULSE_EVERY: Duration = Duration::from_secs(1);

/// The writer's side: the pulse, and the end.
pub(crate) struct Acknowledged {
    mark: Arc<Mutex<MarkFile>>,
    pulse: Arc<AtomicU64>,
    beaten: Option<Instant>,
}

impl Acknowledged {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let mark = MarkFile::open(folder).map_err(|error| unusable(folder, &error))?;
        Ok(Self {
            mark: Arc::new(Mutex::new(mark)),
            pulse: Arc::default(),
            beaten: None,
        })
    }

    /// Records the commits of a folder's log.
    pub(crate) fn noter(&self, folder: &Path) -> Noter {
        Noter {
            log: None,
            generation: None,
            folder: folder.to_owned(),
            mark: self.mark.clone(),
            pulse: self.pulse.clone(),
            is_failing: false,
        }
    }

    /// The pulse in the database: at the beginning, and after a rollback.
    pub(crate) fn load(&self, conn: &Connection) -> rusqlite::Result<()> {
        let pulse: Option<u64> = conn.query_row(PULSE, [], |row| row.get(0)).optional()?;
        self.pulse.store(pulse.unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }

    /// Increases the pulse now and then, in the open transaction.
    pub(crate) fn beat(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        match self.beaten {
            Some(beaten) if beaten.elapsed() < PULSE_EVERY => Ok(()),
            _ => self.beat_now(conn),
        }
    }

    fn beat_now(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let pulse = self.pulse.load(Ordering::Relaxed) + 1;
        conn.prepare_cached(
            "INSERT INTO meta (key, value) VALUES ('pulse', ?1)
             ON CONFLICT (key) DO UPDATE SET value = ?1",
        )?
        .execute([pulse])?;
        self.pulse.store(pulse, Ordering::Relaxed);
        self.beaten = Some(Instant::now());
        Ok(())
    }

    /// Records, durably, that the log may be gone from now on.
    pub(crate) fn close(&mut self, conn: &Connection) -> Result<()> {
        // Copies of the database that were made earlier have a smaller pulse.
        let beat = |acknowledged: &mut Self| -> rusqlite::Result<()> {
            conn.execute_batch("BEGIN IMMEDIATE")?;
            acknowledged.beat_now(conn)?;
            conn.execute_batch("COMMIT")
        };
        if let Err(error) = beat(self) {
            tracing::debug!(%error, "the last pulse was not stored");
            if !conn.is_autocommit() {
                conn.execute_batch("ROLLBACK").map_err(translate)?;
            }
            self.load(conn).map_err(translate)?;
        }
        let mut file = self.mark.lock();
        let mark = Mark {
            is_closed: true,
            pulse: self.pulse.load(Ordering::Relaxed),
            ..file.last()
        };
        let written = file.write(mark).and_then(|()| file.sync());
        written.map_err(|error| unusable(Path::new(crate::mark::FILE), &error))
    }
}

/// The log's side: records how long it is.
pub(crate) struct Noter {
    /// Opened with the first commit, which created it.
    log: Option<File>,
    /// Of the log, as its header said when a frame with these salts first appeared. Each frame has the
    /// salts, so the header is read only when the log begins anew.
    generation: Option<Generation>,
    folder: PathBuf,
    mark: Arc<Mutex<MarkFile>>,
    pulse: Arc<AtomicU64>,
    is_failing: bool,
}

impl Noter {
    /// A commit is durable, and the log has this many frames. Returns whether the log may be
    /// another one than at the commit before. A mark that cannot be written lags behind, which only
    /// means that it detects less.
    pub(crate) fn note(&mut self, frames: u64) -> bool {
        let before = self.generation;
        match self.try_note(frames) {
            Ok(()) => self.is_failing = false,
            Err(error) => {
                if !self.is_failing {
                    tracing::warn!(%error, "the mark of acknowledged data cannot be written");
                }
                self.is_failing = true;
            }
        }
        self.is_failing || self.generation != before
    }

    fn try_note(&mut self, frames: u64) -> io::Result<()> {
        let Some(last) = frames.checked_sub(1) else {
            return Ok(());
        };
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(open(&self.folder.join(connection::LOG))?),
        };
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "the log is not readable");
        let mut bytes = [0; (FRAME_HEADER_BYTES + PAGE_BYTES) as usize];
        positioned::read_exact(log, &mut bytes, HEADER_BYTES + last * FRAME_BYTES)?;
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES as usize);
        let frame = FrameHeader::parse(head).ok_or_else(invalid)?;
        let generation = match self.generation {
            Some(known) if known.salts == frame.salts => known,
            _ => {
                let header = Header::read(log)?.ok_or_else(invalid)?;
                *self.generation.insert(header.generation)
            }
        };
        let mut file = self.mark.lock();
        let before = file.last();
        let is_new = generation != before.generation || before.is_closed;
        let database_bytes = match is_new {
            true => std::fs::metadata(self.folder.join(connection::FILE))?.len(),
            false => before.database_bytes,
        };
        file.write(Mark {
            generation,
            frames,
            page: frame.page,
            page_sum: checksum::of(&[page]),
            database_bytes,
            pulse: self.pulse.load(Ordering::Relaxed),
            is_closed: false,
        })?;
        match is_new {
            true => file.sync(),
            false => Ok(()),
        }
    }
}

/// Opens the log for reading. That must not change the file's access time, which would be written
/// after every commit.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let mut quiet = options.clone();
        quiet.custom_flags(rustix::fs::OFlags::NOATIME.bits().cast_signed());
        if let Ok(file) = quiet.open(path) {
            return Ok(file);
        }
    }
    options.open(path)
}
