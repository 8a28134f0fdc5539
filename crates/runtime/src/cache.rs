//! Reduced runs in memory. Commits keep them current; what is not here is read from the store.

use std::sync::Arc;

use moka::sync::Cache;
use riverrun_engine::RunState;
use riverrun_types::{RunId, event::EventContext};

pub(crate) struct RunCache {
    runs: Cache<RunId, Arc<RunState>>,
    /// What never changes about the runs that events are appended to from outside: it spares each
    /// append a read of the store.
    contexts: Cache<RunId, EventContext>,
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
            contexts: Cache::new(capacity),
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

    pub fn context(&self, run: &RunId) -> Option<EventContext> {
        self.contexts.get(run)
    }

    pub fn put_context(&self, run: &RunId, context: EventContext) {
        self.contexts.insert(run.clone(), context);
    }

    pub fn forget(&self, run: &RunId) {
        self.runs.invalidate(run);
        self.contexts.invalidate(run);
    }
}
