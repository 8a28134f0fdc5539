//! Reduced runs in memory. Commits keep them current; what is not here is read from the store.

use std::sync::Arc;

use moka::sync::Cache;
use riverrun_engine::RunState;
use riverrun_types::RunId;

pub(crate) struct RunCache {
    runs: Cache<RunId, Arc<RunState>>,
}

/// A run of this size counts as one; larger ones count more, so that a few large states cannot
/// fill the memory.
const UNIT_BYTES: usize = 64 << 10;

impl RunCache {
    pub fn new(capacity: u64) -> Self {
        let weigh = |_: &RunId, state: &Arc<RunState>| {
            u32::try_from(state.state.bytes() / UNIT_BYTES + 1).unwrap_or(u32::MAX)
        };
        Self {
            runs: Cache::builder()
                .max_capacity(capacity)
                .weigher(weigh)
                .build(),
        }
    }

    pub fn get(&self, run: &RunId) -> Option<Arc<RunState>> {
        self.runs.get(run)
    }

    /// Keeps the longer of two states: commits may be answered out of order.
    pub fn put(&self, run: &RunId, state: Arc<RunState>) {
        if self
            .runs
            .get(run)
            .is_none_or(|known| known.len <= state.len)
        {
            self.runs.insert(run.clone(), state);
        }
    }

    pub fn forget(&self, run: &RunId) {
        self.runs.invalidate(run);
    }
}
