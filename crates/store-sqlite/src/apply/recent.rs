//! Rows of runs that were written lately: the next commit to one of them need not look for it. There
//! is one writer, and it forgets them all when a transaction fails.

use std::cell::RefCell;

use foldhash::HashMap;
use riverrun_store::judge::RunRow;
use riverrun_types::RunId;

/// More than are under way at a time; beyond them they are looked for again.
const MAX_RUNS: usize = 4_096;

/// Runs that have not ended: nobody writes to others any more, and those alone are removed.
#[derive(Default)]
pub(crate) struct Recent(RefCell<HashMap<RunId, RunRow>>);

impl Recent {
    pub(super) fn get(&self, run: &RunId) -> Option<RunRow> {
        self.0.borrow().get(run).copied()
    }

    /// The row is this from now on.
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
