//! The interface to the runtime or worker that executes found processes.

use std::sync::Arc;

use riverrun::Riverrun;
use riverrun_runtime::{BrokenProcess, Process};

/// Where found processes are registered: the runtime of a server, or a worker.
pub trait Register: Send + Sync {
    /// In place of an earlier one of the same id.
    fn put(&self, process: Process);
    fn remove(&self, id: &str);
    /// By id.
    fn known(&self) -> Vec<Arc<Process>>;
    /// Takes note of one that cannot be run.
    fn put_broken(&self, process: BrokenProcess) {
        let _ = process;
    }
    /// It is mended, or gone.
    fn forget_broken(&self, id: &str) {
        let _ = id;
    }
}

impl Register for Riverrun {
    fn put(&self, process: Process) {
        self.runtime().queues().put_process(process);
    }

    fn remove(&self, id: &str) {
        self.runtime().queues().remove_process(id);
    }

    fn known(&self) -> Vec<Arc<Process>> {
        self.runtime().processes().all()
    }

    fn put_broken(&self, process: BrokenProcess) {
        self.runtime().processes().put_broken(process);
    }

    fn forget_broken(&self, id: &str) {
        self.runtime().processes().forget_broken(id);
    }
}
