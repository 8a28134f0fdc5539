//! Awaits, the log of emitted events and the outbox.
//!
//! Only the kinds without awaits are cached in memory (`quiet`): everything else is one look-up
//! away.

mod add;
mod end;
mod fire;
mod lookback;
mod quiet;
mod record;
mod shapes;
mod signal;
mod trim;
mod unjudged;

use std::collections::HashSet;

use riverrun_types::RunId;

pub(crate) use add::add;
pub(crate) use end::{end, forget};
pub(crate) use fire::fire;
pub(crate) use lookback::each as each_emitted;
pub(crate) use quiet::Quiet;
pub(crate) use record::{COLUMNS, TABLES, load, record, shape_of, state_code};
pub(crate) use shapes::of_kind;
pub(crate) use signal::{listen, remove_signal, signal};
pub(crate) use trim::trim;
pub(crate) use unjudged::{UNJUDGED, has_unjudged};

pub(crate) const OPEN: i64 = 0;
pub(crate) const FIRED: i64 = 1;
pub(crate) const CLOSED: i64 = 2;

/// The shape of all callbacks.
pub(crate) const CALLBACKS: i64 = 0;

/// The runs to wake, for the receipt.
#[derive(Default)]
pub(crate) struct Wakes {
    /// The runs that are due now, once per wake.
    pub(crate) woken: Vec<RunId>,
    pub(crate) signalled: bool,
}

impl Wakes {
    /// Each run once, in the order of their first wakes.
    pub(crate) fn runs(self) -> Vec<RunId> {
        let mut seen = HashSet::new();
        let mut runs = self.woken;
        if runs.len() > 1 {
            runs.retain(|run| seen.insert(run.clone()));
        }
        runs
    }
}
