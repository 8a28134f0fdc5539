//! The processes that this instance knows, and their queues.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::RwLock;
use riverrun_contract::{Process, RunMode};
use riverrun_types::Name;
use tokio::sync::{Notify, watch};

use super::{broken::Broken, loaded::LoadedCode};

/// The most processes that are kept of the offers of remote workers.
const MAX_OFFERED: usize = 10_000;

/// The process of a queue; `None` ends the queue's worker.
pub(crate) type Current = watch::Receiver<Option<Arc<Process>>>;

/// The known processes.
#[derive(Default)]
pub struct Processes {
    known: RwLock<ProcessTable>,
    /// The ids of files that are about to be loaded.
    expected: RwLock<HashSet<String>>,
    pub(super) broken: Broken,
    /// The processes whose code was loaded since the last call.
    loaded: LoadedCode,
    /// Notified when this instance begins to take jobs of a queue.
    pub(crate) taken_up: Notify,
}

#[derive(Default)]
struct ProcessTable {
    by_id: HashMap<Name, Arc<Process>>,
    queues: HashMap<Name, watch::Sender<Option<Arc<Process>>>>,
    /// The processes of this instance itself.
    own: HashSet<Name>,
    /// The offers of remote workers, used if this instance has no such process of its own.
    offered: HashMap<Name, Arc<Process>>,
}

impl Processes {
    /// Sets the processes that are about to be loaded, by the ids of their files: definitions may
    /// already name them, and their exports.
    pub fn expect(&self, ids: impl IntoIterator<Item = String>) {
        *self.expected.write() = ids.into_iter().collect();
    }

    /// Whether a file of this id is about to be loaded, or one that may export it.
    fn is_expected(&self, id: &str) -> bool {
        let expected = self.expected.read();
        let file = id.rsplit_once('.').map_or(id, |(file, _)| file);
        expected.contains(id) || expected.contains(file)
    }

    /// Whether a process exists, is expected, or its file does not load.
    pub(crate) fn is_known(&self, id: &str) -> bool {
        self.get(id).is_some() || self.is_expected(id) || self.why_broken(id).is_some()
    }

    /// The processes whose code was loaded.
    pub(crate) fn loaded(&self) -> &LoadedCode {
        &self.loaded
    }

    pub fn get(&self, id: &str) -> Option<Arc<Process>> {
        self.known.read().by_id.get(id).cloned()
    }

    /// The process that takes the jobs of a queue.
    pub fn of_queue(&self, queue: &str) -> Option<Arc<Process>> {
        self.known.read().queues.get(queue)?.borrow().clone()
    }

    /// The processes that this instance can run, by id.
    pub fn all(&self) -> Vec<Arc<Process>> {
        let mut all: Vec<_> = self.known.read().by_id.values().cloned().collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    /// Those of this instance itself, without the offers of remote workers.
    pub fn own(&self) -> Vec<Arc<Process>> {
        let mut own = self.all();
        let known = self.known.read();
        own.retain(|process| known.own.contains(&process.id));
        own
    }

    /// Registers a process in place of an earlier one of the same id. For a queue without a worker
    /// here, the answer is the channel that its worker watches.
    pub(crate) fn put(&self, process: Process) -> Option<(Name, Current)> {
        let id = process.id.clone();
        let taken_up = {
            let mut known = self.known.write();
            known.own.insert(id.clone());
            known.put(Arc::new(process))
        };
        self.loaded.add(id);
        self.notify_if_taken_up(taken_up)
    }

    /// A queue with a new worker may have jobs that wait to be judged.
    fn notify_if_taken_up(&self, taken_up: Option<(Name, Current)>) -> Option<(Name, Current)> {
        if taken_up.is_some() {
            self.taken_up.notify_one();
        }
        taken_up
    }

    /// Records the offer of a remote worker; it is registered unless the id, or the queue, belongs
    /// to a process of this instance.
    pub(crate) fn offer(&self, process: Process) -> (bool, Option<(Name, Current)>) {
        let id = process.id.clone();
        let (is_taken_in, taken_up) = self.known.write().offer(Arc::new(process));
        self.loaded.add(id);
        (is_taken_in, self.notify_if_taken_up(taken_up))
    }

    /// An offer of workers under this id, or for its queue, replaces the removed process.
    pub(crate) fn remove(&self, id: &str) -> (bool, Option<(Name, Current)>) {
        let mut known = self.known.write();
        let Some(removed) = known.by_id.remove(id) else {
            return (false, None);
        };
        known.own.remove(id);
        known.leave(&removed);
        let stands_in = known.offered.values().find(|offered| {
            let same = offered.id == removed.id || offered.config.queue == removed.config.queue;
            same && !known.is_taken(offered)
        });
        let stands_in = stands_in.cloned();
        let taken_up = stands_in.and_then(|offered| known.put(offered));
        (true, self.notify_if_taken_up(taken_up))
    }
}

impl ProcessTable {
    fn offer(&mut self, process: Arc<Process>) -> (bool, Option<(Name, Current)>) {
        if self.offered.len() >= MAX_OFFERED && !self.offered.contains_key(&process.id) {
            return (false, None);
        }
        self.offered.insert(process.id.clone(), process.clone());
        match self.is_taken(&process) {
            true => (false, None),
            false => (true, self.put(process)),
        }
    }

    /// Whether the id or the queue of an offer belongs to a process that is not offered.
    fn is_taken(&self, offer: &Process) -> bool {
        let of_queue = self
            .queues
            .get(&offer.config.queue)
            .filter(|_| offer.config.run_mode != RunMode::Call)
            .and_then(|current| current.borrow().clone());
        self.own.contains(&offer.id) || of_queue.is_some_and(|own| self.own.contains(&own.id))
    }

    fn put(&mut self, process: Arc<Process>) -> Option<(Name, Current)> {
        let before = self.by_id.insert(process.id.clone(), process.clone());
        if let Some(before) = before
            && before.config.queue != process.config.queue
        {
            self.leave(&before);
        }
        if process.config.run_mode == RunMode::Call {
            return None;
        }
        let queue = process.config.queue.clone();
        if let Some(current) = self.queues.get(&queue) {
            current.send_replace(Some(process));
            return None;
        }
        let (sender, receiver) = watch::channel(Some(process));
        self.queues.insert(queue.clone(), sender);
        Some((queue, receiver))
    }

    /// The process's queue has no worker any more.
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
