//! Processes whose code was loaded, for tasks that retry visits which wait for it.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use riverrun_types::Name;
use tokio::sync::Notify;

/// Processes whose code was loaded, and whose parked visits were not looked at since.
#[derive(Default)]
pub(crate) struct LoadedCode {
    processes: Mutex<BTreeSet<Name>>,
    pub changed: Notify,
}

impl LoadedCode {
    pub fn add(&self, process: Name) {
        self.processes.lock().insert(process);
        self.changed.notify_one();
    }

    /// All that were loaded since the last call.
    pub fn take(&self) -> BTreeSet<Name> {
        std::mem::take(&mut *self.processes.lock())
    }
}
