//! Limits the memory of the readers of live streams, each and all together.
//!
//! A reader that does not read keeps data in memory: the rest of the page that was read for it, and
//! the bytes that wait in its connection. Each piece is counted while it exists. When all readers
//! together exceed the limit, those that have not read for the longest time are disconnected. They
//! reconnect and continue after the last event that they saw.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// All live readers of a server.
pub(crate) struct LiveReaders {
    /// What they may hold together.
    max_bytes: usize,
    bytes: AtomicUsize,
    began: Instant,
    next: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Counted>>>,
}

struct Counted {
    bytes: AtomicUsize,
    /// When it was last seen to read, in milliseconds since the list began.
    moved_ms: AtomicU64,
    /// Disconnects it.
    end: CancellationToken,
}

impl LiveReaders {
    pub fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            max_bytes,
            bytes: AtomicUsize::new(0),
            began: Instant::now(),
            next: AtomicU64::new(0),
            open: Mutex::default(),
        })
    }

    /// Counts a reader from now on; `end` disconnects it.
    pub fn join(self: &Arc<Self>, end: CancellationToken) -> LiveReader {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let counted = Arc::new(Counted {
            bytes: AtomicUsize::new(0),
            moved_ms: AtomicU64::new(self.now_ms()),
            end,
        });
        self.open.lock().insert(id, counted.clone());
        LiveReader {
            id,
            counted,
            all: self.clone(),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Disconnects those that have not read for the longest time, until the rest may hold what it
    /// holds.
    fn make_room(&self) {
        let mut excess = self
            .bytes
            .load(Ordering::Acquire)
            .saturating_sub(self.max_bytes);
        if excess == 0 {
            return;
        }
        let open = self.open.lock();
        let mut holding: Vec<_> = open
            .values()
            .filter(|reader| reader.bytes.load(Ordering::Acquire) > 0)
            .collect();
        // Each is asked once: they go on reading meanwhile.
        holding.sort_by_cached_key(|reader| reader.moved_ms.load(Ordering::Acquire));
        for reader in holding {
            let bytes = reader.bytes.load(Ordering::Acquire);
            if !reader.end.is_cancelled() {
                tracing::info!(bytes, "a live reader that does not read is disconnected");
                reader.end.cancel();
            }
            // What was disconnected before is about to let go of what it holds.
            excess = excess.saturating_sub(bytes);
            if excess == 0 {
                return;
            }
        }
    }
}

/// A live reader, counted until it is dropped.
pub(crate) struct LiveReader {
    id: u64,
    counted: Arc<Counted>,
    all: Arc<LiveReaders>,
}

impl LiveReader {
    /// Fires when the reader is disconnected because it does not read.
    pub fn end(&self) -> &CancellationToken {
        &self.counted.end
    }

    /// Counts something that it holds, until the answer is dropped.
    pub fn hold(&self, bytes: usize) -> HeldBytes {
        self.counted.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.all.bytes.fetch_add(bytes, Ordering::AcqRel);
        let held = HeldBytes {
            bytes,
            counted: self.counted.clone(),
            all: self.all.clone(),
        };
        self.all.make_room();
        held
    }

    /// A text on its way to the reader, counted until it has left.
    pub fn bytes(&self, text: String) -> Bytes {
        let held = self.hold(text.capacity());
        Bytes::from_owner(Outgoing { text, _held: held })
    }
}

impl Drop for LiveReader {
    fn drop(&mut self) {
        self.all.open.lock().remove(&self.id);
    }
}

/// Something that a reader holds.
pub(crate) struct HeldBytes {
    bytes: usize,
    counted: Arc<Counted>,
    all: Arc<LiveReaders>,
}

impl HeldBytes {
    /// The reader has taken a part of it.
    pub fn moved(&self) {
        let now = self.all.now_ms();
        self.counted.moved_ms.store(now, Ordering::Release);
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.counted.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.all.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.moved();
    }
}

struct Outgoing {
    text: String,
    _held: HeldBytes,
}

impl AsRef<[u8]> for Outgoing {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_have_not_read_for_the_longest_time_make_room() {
        let all = LiveReaders::new(100);
        let readers: Vec<LiveReader> = (0..3).map(|_| all.join(CancellationToken::new())).collect();
        for (reader, ms) in readers.iter().zip([20, 10, 30]) {
            reader.counted.moved_ms.store(ms, Ordering::Release);
        }
        let held: Vec<HeldBytes> = readers.iter().map(|reader| reader.hold(33)).collect();
        let ended = || readers.iter().map(|reader| reader.end().is_cancelled());
        assert_eq!(ended().collect::<Vec<_>>(), [false, false, false]);
        let more = readers[2].hold(30);
        assert_eq!(ended().collect::<Vec<_>>(), [false, true, false]);
        drop((held, more));
        assert_eq!(all.bytes.load(Ordering::Acquire), 0);
        drop(readers);
        assert!(all.open.lock().is_empty());
    }

    #[test]
    fn a_text_counts_until_it_has_left() {
        let all = LiveReaders::new(1_000);
        let reader = all.join(CancellationToken::new());
        let text = reader.bytes("x".repeat(100));
        let part = text.slice(10..20);
        drop((text, reader));
        assert!(all.bytes.load(Ordering::Acquire) >= 100);
        drop(part);
        assert_eq!(all.bytes.load(Ordering::Acquire), 0);
    }
}
