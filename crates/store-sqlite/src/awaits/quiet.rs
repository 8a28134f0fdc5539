//! Kinds of events that nobody waits for or listens to, as far as the writer has found out. Most
//! events are their own run's business alone, and for those the tables need not be asked.

use std::{cell::RefCell, collections::HashSet};

use riverrun_types::Name;

/// More kinds than most have; beyond them it is found out anew.
const MAX_KINDS: usize = 1_024;

/// There is one writer, and whoever waits or listens comes through it.
#[derive(Default)]
pub(crate) struct Quiet(RefCell<HashSet<Name>>);

impl Quiet {
    pub(super) fn knows(&self, kind: &str) -> bool {
        self.0.borrow().contains(kind)
    }

    /// Nobody wants to hear of the kind.
    pub(super) fn learn(&self, kind: &Name) {
        let mut kinds = self.0.borrow_mut();
        if kinds.len() >= MAX_KINDS {
            kinds.clear();
        }
        kinds.insert(kind.clone());
    }

    /// Somebody may want to.
    pub(super) fn unlearn(&self, kind: &str) {
        self.0.borrow_mut().remove(kind);
    }

    /// What was found out may have been taken back.
    pub(crate) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
