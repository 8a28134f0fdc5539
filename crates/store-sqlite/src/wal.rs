//! SQLite's log, read without SQLite.
//!
//! SQLite reads its log up to the first frame with a wrong checksum, and silently drops the rest.
//! That is right for an unsynced tail, and wrong for damage in the middle. So the store counts the
//! frames itself before SQLite opens the log. The format is documented at
//! <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::{
    fs::File,
    io::{BufReader, ErrorKind, Read, Seek, SeekFrom},
};

use crate::{connection::PAGE_BYTES, positioned};

pub(crate) const HEADER_BYTES: u64 = 32;
pub(crate) const FRAME_HEADER_BYTES: u64 = 24;
pub(crate) const FRAME_BYTES: u64 = FRAME_HEADER_BYTES + PAGE_BYTES;

const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

/// Distinguishes one generation of the log from the next one. Each checkpoint that is followed by a
/// commit begins a new one: the number and the first salt grow by one, the second salt is random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) number: u32,
    pub(crate) salts: [u32; 2],
}

impl Generation {
    /// Whether this one began after the other in the same file.
    pub(crate) fn is_after(&self, other: &Self) -> bool {
        let steps = self.number.wrapping_sub(other.number);
        steps != 0 && steps <= u32::MAX / 2 && self.salts[0].wrapping_sub(other.salts[0]) == steps
    }
}

/// The header of a log, if it is valid.
pub(crate) struct Header {
    pub(crate) generation: Generation,
    order: Order,
    sum: Sum,
}

/// How checksums read words.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

type Sum = [u32; 2];

impl Header {
    pub(crate) fn read(log: &File) -> std::io::Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        match positioned::read_exact(log, &mut bytes, 0) {
            Ok(()) => Ok(Self::parse(&bytes)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn parse(bytes: &[u8; HEADER_BYTES as usize]) -> Option<Self> {
        let order = match word(bytes, 0)? {
            MAGIC => Order::Little,
            big if big == MAGIC + 1 => Order::Big,
            _ => return None,
        };
        let sum = add([0, 0], order, &bytes[..24]);
        let is_sound = word(bytes, 4)? == VERSION
            && u64::from(word(bytes, 8)?) == PAGE_BYTES
            && sum == [word(bytes, 24)?, word(bytes, 28)?];
        let generation = Generation {
            number: word(bytes, 12)?,
            salts: [word(bytes, 16)?, word(bytes, 20)?],
        };
        is_sound.then_some(Self {
            generation,
            order,
            sum,
        })
    }
}

/// The header of a page.
pub(crate) struct FrameHeader {
    pub(crate) page: u32,
    /// Pages of the database after the commit that this frame ends; 0 within a commit.
    pub(crate) pages_after: u32,
    /// The salts of its generation.
    pub(crate) salts: [u32; 2],
    sum: Sum,
}

impl FrameHeader {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            page: word(bytes, 0)?,
            pages_after: word(bytes, 4)?,
            salts: [word(bytes, 8)?, word(bytes, 12)?],
            sum: [word(bytes, 16)?, word(bytes, 20)?],
        })
    }
}

/// The frames that SQLite will read: up to the last commit before the first invalid frame.
pub(crate) fn committed_frames(log: &mut File, header: &Header) -> std::io::Result<u64> {
    log.seek(SeekFrom::Start(HEADER_BYTES))?;
    let mut input = BufReader::with_capacity(1 << 20, log);
    let mut bytes = vec![0; FRAME_BYTES as usize];
    let (mut frames, mut committed, mut sum) = (0, 0, header.sum);
    loop {
        match input.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(committed),
            Err(error) => return Err(error),
        }
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES as usize);
        let Some(frame) = FrameHeader::parse(head) else {
            return Ok(committed);
        };
        if frame.page == 0 || frame.salts != header.generation.salts {
            return Ok(committed);
        }
        sum = add(add(sum, header.order, &head[..8]), header.order, page);
        if sum != frame.sum {
            return Ok(committed);
        }
        frames += 1;
        if frame.pages_after != 0 {
            committed = frames;
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*word))
}

fn add(sum: Sum, order: Order, bytes: &[u8]) -> Sum {
    let read = |word: [u8; 4]| match order {
        Order::Little => u32::from_le_bytes(word),
        Order::Big => u32::from_be_bytes(word),
    };
    let (pairs, _) = bytes.as_chunks::<8>();
    pairs.iter().fold(sum, |[first, second], pair| {
        let [a, b, c, d, e, f, g, h] = *pair;
        let first = first.wrapping_add(read([a, b, c, d])).wrapping_add(second);
        let second = second.wrapping_add(read([e, f, g, h])).wrapping_add(first);
        [first, second]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_as_sqlite_counts_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let conn = crate::connection::writer(Some(&path)).unwrap();
        conn.execute_batch("CREATE TABLE t (x)").unwrap();
        for _ in 0..5 {
            conn.execute("INSERT INTO t VALUES (randomblob(5000))", [])
                .unwrap();
        }
        let counted = || {
            let mut log = File::open(folder.path().join("x.db-wal")).unwrap();
            let header = Header::read(&log).unwrap().unwrap();
            let frames = committed_frames(&mut log, &header).unwrap();
            (header.generation, frames)
        };
        let known = |mode: &str| -> u64 {
            conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
                row.get(1)
            })
            .unwrap()
        };
        let (first, frames) = counted();
        assert!(frames > 10);
        assert_eq!(frames, known("PASSIVE"));
        // The next commit begins the log anew.
        conn.execute("INSERT INTO t VALUES (1)", []).unwrap();
        let (second, frames) = counted();
        assert!(second.is_after(&first) && !first.is_after(&second));
        assert!(!second.is_after(&second));
        assert_eq!(frames, known("PASSIVE"));
    }

    #[test]
    fn other_bytes_are_no_header() {
        assert!(Header::parse(&[0; 32]).is_none());
        assert!(Header::parse(&[0x37; 32]).is_none());
    }
}
