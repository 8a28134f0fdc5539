//! The mark: how far the store has acknowledged, in a small file beside the log.
//!
//! After each commit, once it is synced and before it is answered, the mark records how long the
//! log is. It is written without a sync of its own: it is exact after a process dies, and after a
//! power loss it may lag behind the log, which is harmless. It is never ahead. It is synced when
//! the log begins anew and when the store is closed. On the next start [`crate::acknowledged`]
//! compares it with the files.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::Path,
};

use riverrun_store::checksum;

use crate::{positioned, wal::Generation};

/// The name of the file in the data folder.
pub(crate) const FILE: &str = "mark";

const MAGIC: [u8; 8] = *b"rr-mark1";
/// Two slots take turns, so that a half-written one leaves the other.
const SLOT_BYTES: usize = 512;
const USED_BYTES: usize = 64;

/// The acknowledged position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The generation of the log, and how many frames of it are acknowledged.
    pub(crate) generation: Generation,
    pub(crate) frames: u64,
    /// The page of the last of these frames, and its checksum: once the log is gone, the page is in
    /// the database.
    pub(crate) page: u32,
    pub(crate) page_sum: u32,
    /// The database file has had at least this many bytes when this generation of the log began.
    pub(crate) database_bytes: u64,
    /// The value of the row `pulse` of the table `meta`. It grows every second in which the store
    /// is written.
    pub(crate) pulse: u64,
    /// The store was closed: the log may be gone.
    pub(crate) is_closed: bool,
}

impl Mark {
    fn encode(&self, turn: u64) -> [u8; USED_BYTES] {
        let Generation { number, salts } = self.generation;
        let mut slot = [0; USED_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            slot[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&MAGIC);
        put(&turn.to_le_bytes());
        put(&number.to_le_bytes());
        put(&salts[0].to_le_bytes());
        put(&salts[1].to_le_bytes());
        put(&self.page.to_le_bytes());
        put(&self.page_sum.to_le_bytes());
        put(&u32::from(self.is_closed).to_le_bytes());
        // Files have fewer bytes and logs fewer frames than 48 bits hold.
        put(&self.frames.to_le_bytes()[..6]);
        put(&self.database_bytes.to_le_bytes()[..6]);
        put(&self.pulse.to_le_bytes());
        if let Some((body, sum)) = slot.split_last_chunk_mut::<4>() {
            *sum = checksum::of(&[body]).to_le_bytes();
        }
        slot
    }

    fn decode(slot: &[u8]) -> Option<(u64, Self)> {
        let slot = slot.first_chunk::<USED_BYTES>()?;
        let (body, sum) = slot.split_last_chunk::<4>()?;
        let is_sound = body.starts_with(&MAGIC) && checksum::of(&[body]).to_le_bytes() == *sum;
        is_sound.then_some(())?;
        let u32_at = |at: usize| Some(u32::from_le_bytes(*slot.get(at..)?.first_chunk()?));
        let u64_at = |at: usize| Some(u64::from_le_bytes(*slot.get(at..)?.first_chunk()?));
        let u48_at = |at: usize| Some(u64_at(at)? & ((1 << 48) - 1));
        let mark = Self {
            generation: Generation {
                number: u32_at(16)?,
                salts: [u32_at(20)?, u32_at(24)?],
            },
            page: u32_at(28)?,
            page_sum: u32_at(32)?,
            is_closed: u32_at(36)? != 0,
            frames: u48_at(40)?,
            database_bytes: u48_at(46)?,
            pulse: u64_at(52)?,
        };
        Some((u64_at(8)?, mark))
    }
}

/// The mark of a folder; none if it never had one, or if it is not readable.
pub(crate) fn read(folder: &Path) -> std::io::Result<Option<Mark>> {
    let mut bytes = Vec::new();
    match File::open(folder.join(FILE)) {
        Ok(file) => file.take(1 << 16).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let latest = bytes
        .chunks(SLOT_BYTES)
        .filter_map(Mark::decode)
        .max_by_key(|(turn, _)| *turn);
    if latest.is_none() && !bytes.is_empty() {
        tracing::warn!(folder = %folder.display(), "the mark is not readable; it is written anew");
    }
    Ok(latest.map(|(_, mark)| mark))
}

/// The mark file of an open store.
pub(crate) struct MarkFile {
    file: File,
    turn: u64,
    last: Mark,
}

impl MarkFile {
    /// Opens the file, and begins with its content.
    pub(crate) fn open(folder: &Path) -> std::io::Result<Self> {
        let last = read(folder)?.unwrap_or_default();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(folder.join(FILE))?;
        let mut turn = 0;
        let mut bytes = vec![0; SLOT_BYTES * 2];
        let there = file.seek(SeekFrom::End(0))?;
        if there < bytes.len() as u64 {
            // It has its size from the beginning, so that later writes change only content.
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&bytes)?;
            file.sync_all()?;
        } else {
            file.seek(SeekFrom::Start(0))?;
            file.read_exact(&mut bytes)?;
            let turns = bytes.chunks(SLOT_BYTES).filter_map(Mark::decode);
            turn = turns.map(|(turn, _)| turn).max().unwrap_or(0);
        }
        Ok(Self { file, turn, last })
    }

    pub(crate) fn last(&self) -> Mark {
        self.last
    }

    pub(crate) fn write(&mut self, mark: Mark) -> std::io::Result<()> {
        self.turn += 1;
        let at = (self.turn % 2) * SLOT_BYTES as u64;
        positioned::write_all(&self.file, &mark.encode(self.turn), at)?;
        self.last = mark;
        Ok(())
    }

    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_sound_slot_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mut file = MarkFile::open(folder.path()).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mark = |frames: u64| Mark {
            generation: Generation {
                number: 3,
                salts: [u32::MAX, 5],
            },
            frames,
            page: 9,
            page_sum: 10,
            database_bytes: (1 << 47) + 1,
            pulse: u64::MAX,
            is_closed: frames > 2,
        };
        for frames in 1..=3 {
            file.write(mark(frames)).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(mark(frames)));
        }
        drop(file);
        // Any damaged bit of the latest slot leaves the one before it.
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        for bit in 0..USED_BYTES * 8 {
            let mut bytes = whole.clone();
            bytes[SLOT_BYTES + bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(mark(2)), "bit {bit}");
        }
        std::fs::write(&path, &whole).unwrap();
        let mut file = MarkFile::open(folder.path()).unwrap();
        assert_eq!(file.last(), mark(3));
        file.write(mark(4)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(mark(4)));
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
    }
}
