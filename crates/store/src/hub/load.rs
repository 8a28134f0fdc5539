//! The batches that the hub holds for slow readers.
//!
//! A batch is held until the slowest reader of its stream has it, or has fallen so far behind that
//! it must read the store. With many streams that is a lot of memory, so all batches together are
//! bounded: beyond that limit readers only get a signal to read the store.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use riverrun_types::{Draft, Json};

/// The most bytes of a single batch.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// The approximate overhead of an event beside its payload.
const ENVELOPE_BYTES: usize = 512;

/// The bytes of all held batches.
#[derive(Clone, Debug)]
pub(crate) struct Loads {
    max_bytes: usize,
    bytes: Arc<AtomicUsize>,
}

impl Loads {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: Arc::default(),
        }
    }

    /// Counts a batch of these events; `None` if there is no room for it.
    pub fn take<'a>(&self, drafts: impl IntoIterator<Item = &'a Draft>) -> Option<Load> {
        let one = |draft: &Draft| ENVELOPE_BYTES + draft.data.as_ref().map_or(0, Json::bytes);
        // Once as events, once as the text that readers are sent.
        let bytes = 2 * drafts.into_iter().map(one).sum::<usize>();
        if bytes > 2 * MAX_BATCH_BYTES {
            return None;
        }
        let before = self.bytes.fetch_add(bytes, Ordering::AcqRel);
        let load = Load {
            bytes,
            all: self.bytes.clone(),
        };
        (before + bytes <= self.max_bytes).then_some(load)
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }
}

/// The bytes of one batch, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Load {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::EventType;

    use super::*;

    fn drafts(bytes: usize) -> Vec<Draft> {
        let data = Json::from("x".repeat(bytes).as_str());
        vec![Draft::new(0, EventType::parse("n")).data(data)]
    }

    #[test]
    fn batches_are_counted_while_somebody_holds_them() {
        let loads = Loads::new(100_000);
        let first = loads.take(&drafts(30_000)).unwrap();
        assert!(loads.take(&drafts(30_000)).is_none(), "there is no room");
        drop(first);
        assert_eq!(loads.bytes(), 0);
        assert!(loads.take(&drafts(30_000)).is_some());
        let roomy = Loads::new(usize::MAX);
        assert!(roomy.take(&drafts(MAX_BATCH_BYTES)).is_none());
    }
}
