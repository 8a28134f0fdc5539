//! Reduced runs in memory. Commits keep them current; runs that are not here are read from the
//! store.
//!
//! An id may be reused once its run was deleted, while a task that read the old run may still be
//! about to put it here. So every entry is put for a certain [`Era`] of its id, and forgetting an
//! id begins a new era.

use std::{hash::BuildHasher, sync::Arc};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use quick_cache::{OptionsBuilder, UnitWeighter, Weighter, sync::Cache};
use riverrun_engine::RunState;
use riverrun_store::{Receipt, RunRecord};
use riverrun_types::{Name, RunId, event::EventContext};

use super::mailbox::Reader;

/// A run as this server last saw it. Other servers may have moved it since: a decision names the
/// position it was made on, and the store rejects a decision made on an old one.
#[derive(Clone)]
pub(crate) struct CachedRun {
    pub state: Arc<RunState>,
    pub context: EventContext,
    pub version: Name,
    /// An earlier record of the run, for its fields that never change, if known.
    pub record: Option<Arc<RunRecord>>,
}

/// The run after a commit, if the commit is accepted: where its first change lands at this length.
pub(crate) struct News {
    pub run: RunId,
    pub known: CachedRun,
    /// None if the commit creates the run.
    pub era: Option<Era>,
    /// No run ever had the id before: no entry has to be forgotten.
    pub is_fresh: bool,
    /// The reader of the run's mailbox, which leaves it if the mailbox is empty by then.
    pub reader: Option<Reader>,
}

pub(crate) struct RunCache {
    runs: Cache<RunId, CachedRun, Size>,
    /// The fields that never change of the runs to which events are appended from outside: they
    /// spare each append a read of the store.
    contexts: Cache<RunId, EventContext>,
    /// The era of each id. Ids that share an era lose at most cache entries.
    eras: Box<[Mutex<Era>]>,
    hasher: RandomState,
}

/// A period during which an id is known to mean the same run. Taken before the run is read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Era(u64);

/// A run of this size counts as one; larger ones count more, so that a few large states cannot
/// fill the memory.
const UNIT_BYTES: usize = 64 << 10;

const ERAS: usize = 1_024;

impl RunCache {
    pub fn new(capacity: u64) -> Self {
        Self {
            runs: cache(capacity, Size),
            contexts: cache(capacity, UnitWeighter),
            eras: (0..ERAS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::default(),
        }
    }

    pub fn get(&self, run: &RunId) -> Option<CachedRun> {
        self.runs.get(run)
    }

    pub fn era(&self, run: &RunId) -> Era {
        *self.place(run).lock()
    }

    /// Keeps the state of a run that this server has just created.
    /// If no other write came in between, the state is the predicted one.
    pub fn learn(&self, news: News, receipt: &Receipt) {
        let News {
            run, known, era, ..
        } = news;
        let placed = receipt.placed.first();
        if placed.is_some_and(|placed| placed.len == known.state.len) {
            let era = era.unwrap_or_else(|| self.era(&run));
            self.put_since(era, &run, known);
        }
    }

    pub fn put(&self, run: &RunId, known: CachedRun) {
        self.put_since(self.era(run), run, known);
    }

    /// Keeps a run that was read in an era, unless the id has been forgotten since. The longer one
    /// of two states wins: commits may be answered out of order.
    pub fn put_since(&self, era: Era, run: &RunId, new: CachedRun) {
        let now = self.place(run).lock();
        let age = |known: &CachedRun| (known.state.created_ms, known.state.len);
        let newer = |known: CachedRun| age(&known) <= age(&new);
        if *now == era && self.runs.get(run).is_none_or(newer) {
            self.runs.insert(run.clone(), new);
        }
    }

    pub fn context(&self, run: &RunId) -> Option<EventContext> {
        self.contexts.get(run)
    }

    pub fn put_context(&self, era: Era, run: &RunId, context: EventContext) {
        let now = self.place(run).lock();
        if *now == era {
            self.contexts.insert(run.clone(), context);
        }
    }

    /// From here on the id means another run, or none.
    pub fn forget(&self, run: &RunId) {
        let mut era = self.place(run).lock();
        era.0 += 1;
        self.runs.remove(run);
        self.contexts.remove(run);
    }

    fn place(&self, run: &RunId) -> &Mutex<Era> {
        let hash = usize::try_from(self.hasher.hash_one(run) % ERAS as u64);
        &self.eras[hash.unwrap_or_default()]
    }
}

/// A cache that keeps the newest entries, which are read most.
fn cache<V: Clone, W: Weighter<RunId, V> + Clone>(
    capacity: u64,
    weighter: W,
) -> Cache<RunId, V, W> {
    let items = usize::try_from(capacity).unwrap_or(usize::MAX);
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(capacity)
        .hot_allocation(0.5)
        .build();
    match options {
        Ok(options) => {
            Cache::with_options(options, weighter, Default::default(), Default::default())
        }
        Err(_) => Cache::with_weighter(items, capacity, weighter),
    }
}

#[derive(Clone)]
struct Size;

impl Weighter<RunId, CachedRun> for Size {
    fn weight(&self, _: &RunId, known: &CachedRun) -> u64 {
        (known.state.state.bytes() / UNIT_BYTES + 1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(created_ms: i64, len: u64) -> CachedRun {
        CachedRun {
            state: Arc::new(RunState {
                created_ms,
                len,
                ..RunState::new()
            }),
            context: EventContext {
                run_id: "r".into(),
                flow_name: "f".into(),
                tenant_id: None,
            },
            version: "1".into(),
            record: None,
        }
    }

    #[test]
    fn the_longer_state_is_kept_but_none_of_an_earlier_run() {
        let cache = RunCache::new(10);
        let run = RunId::new("r");
        let kept = || {
            cache
                .get(&run)
                .map(|known| (known.state.created_ms, known.state.len))
        };
        let before = cache.era(&run);
        cache.put_since(before, &run, state(1, 5));
        cache.put_since(before, &run, state(1, 4));
        assert_eq!(kept(), Some((1, 5)));
        cache.forget(&run);
        assert_eq!(kept(), None);
        cache.put_since(before, &run, state(1, 6));
        assert_eq!(kept(), None, "it was learnt before the run was deleted");
        cache.put(&run, state(2, 3));
        cache.put(&run, state(1, 9));
        assert_eq!(kept(), Some((2, 3)));
        cache.put(&run, state(2, 4));
        assert_eq!(kept(), Some((2, 4)));
    }
}
