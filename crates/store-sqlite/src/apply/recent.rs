//! Rows of recently written runs: the next commit to one of them need not read it. Only one writer
//! exists, and it drops them all when a transaction fails.

use std::cell::RefCell;

use foldhash::HashMap;
use riverrun_store::judge::RunRow;
use riverrun_types::RunId;

/// More than are active at a time; beyond them they are read again.
const MAX_RUNS: usize = 4_096;

/// Runs that have not ended: others are not written any more, and are only removed.
#[derive(Default)]
pub(crate) struct Recent(RefCell<HashMap<RunId, RunRow>>);

impl Recent {
    pub(super) fn get(&self, run: &RunId) -> Option<RunRow> {
        self.0.borrow().get(run).copied()
    }

    /// Replaces the cached row.
    pub(super) fn put(&self, run: &RunId, row: RunRow) {
        let mut rows = self.0.borrow_mut();
        if row.status.is_ended() {
            rows.remove(run);
            return;
        }
        if rows.len() >= MAX_RUNS && !rows.contains_key(run) {
            rows.clear();
        }
        rows.insert(run.clone(), row);
    }

    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
