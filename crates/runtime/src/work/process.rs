//! The processes that this instance knows, and the queues that they take their jobs from.

use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use riverrun_types::Name;
use tokio::sync::{Notify, watch};

use super::{
    config::{ProcessConfig, RunMode},
    provider::Provider,
};

/// A process ready to be invoked.
pub struct Process {
    pub id: Name,
    pub config: ProcessConfig,
    pub provider: Arc<dyn Provider>,
    /// Where its code is, for runners.
    pub source: Source,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    pub file: Option<String>,
    pub export: Option<String>,
    pub revision: Option<u64>,
    /// `typescript`, `python`, `executable`, `rust`, `worker`, for people.
    pub language: Option<String>,
}

/// The process that takes the jobs of a queue; none any more ends the queue's worker.
pub(super) type Current = watch::Receiver<Option<Arc<Process>>>;

#[derive(Default)]
pub(crate) struct Processes {
    known: RwLock<Known>,
    /// Told when the jobs of a queue are taken up here that were not before.
    pub taken_up: Notify,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<Name, Arc<Process>>,
    queues: HashMap<Name, watch::Sender<Option<Arc<Process>>>>,
}

impl Processes {
    pub fn get(&self, id: &str) -> Option<Arc<Process>> {
        self.known.read().by_id.get(id).cloned()
    }

    /// The process that takes the jobs of a queue.
    pub fn of_queue(&self, queue: &str) -> Option<Arc<Process>> {
        self.known.read().queues.get(queue)?.borrow().clone()
    }

    pub fn all(&self) -> Vec<Arc<Process>> {
        let mut all: Vec<_> = self.known.read().by_id.values().cloned().collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    /// Takes a process in, in place of an earlier one of the same id. For a queue that nobody
    /// takes jobs from here yet, the answer is what its worker has to look at.
    pub fn put(&self, process: Process) -> Option<(Name, Current)> {
        let process = Arc::new(process);
        let mut known = self.known.write();
        let before = known.by_id.insert(process.id.clone(), process.clone());
        if let Some(before) = before
            && before.config.queue != process.config.queue
        {
            known.leave(&before);
        }
        if process.config.run_mode == RunMode::Call {
            return None;
        }
        let queue = process.config.queue.clone();
        if let Some(current) = known.queues.get(&queue) {
            current.send_replace(Some(process));
            return None;
        }
        let (sender, receiver) = watch::channel(Some(process));
        known.queues.insert(queue.clone(), sender);
        self.taken_up.notify_one();
        Some((queue, receiver))
    }

    pub fn remove(&self, id: &str) -> bool {
        let mut known = self.known.write();
        let removed = known.by_id.remove(id);
        if let Some(process) = &removed {
            known.leave(process);
        }
        removed.is_some()
    }
}

impl Known {
    /// Nobody takes the jobs of the process's queue any more.
    fn leave(&mut self, process: &Process) {
        let queue = &process.config.queue;
        let is_ours = |sender: &watch::Sender<Option<Arc<Process>>>| {
            sender
                .borrow()
                .as_ref()
                .is_some_and(|current| current.id == process.id)
        };
        if self.queues.get(queue).is_some_and(is_ours)
            && let Some(sender) = self.queues.remove(queue)
        {
            sender.send_replace(None);
        }
    }
}
