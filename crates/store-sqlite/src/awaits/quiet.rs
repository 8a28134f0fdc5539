//! Kinds of events that are known to have no await and no listener. Most events concern their own
//! run alone, and for those the tables need not be read.

use std::{cell::RefCell, collections::HashSet};

use riverrun_types::Name;

/// More kinds than most stores have; beyond them the tables are read again.
const MAX_KINDS: usize = 1_024;

/// Only one writer exists, and every await and listener is added through it.
#[derive(Default)]
pub(crate) struct Quiet(RefCell<HashSet<Name>>);

impl Quiet {
    pub(super) fn knows(&self, kind: &str) -> bool {
        self.0.borrow().contains(kind)
    }

    /// The kind has no await and no listener.
    pub(super) fn learn(&self, kind: &Name) {
        let mut kinds = self.0.borrow_mut();
        if kinds.len() >= MAX_KINDS {
            kinds.clear();
        }
        kinds.insert(kind.clone());
    }

    /// The kind may have an await or a listener.
    pub(super) fn unlearn(&self, kind: &str) {
        self.0.borrow_mut().remove(kind);
    }

    /// A rollback may have undone the known state.
    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
