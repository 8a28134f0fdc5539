//! The number of jobs of a queue that run here, and the room for more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use dashmap::DashMap;
use riverrun_contract::Process;
use riverrun_types::Name;
use tokio::sync::Notify;

/// The rooms of the queues that have a worker here.
#[derive(Default)]
pub(super) struct Rooms(DashMap<Name, Arc<Room>>);

impl Rooms {
    pub(super) fn of(&self, queue: &Name, work: impl FnOnce() -> Arc<Notify>) -> Arc<Room> {
        let room = self.0.entry(queue.clone());
        room.or_insert_with(|| Arc::new(Room::new(work()))).clone()
    }

    pub(super) fn get(&self, queue: &str) -> Option<Arc<Room>> {
        Some(self.0.get(queue)?.clone())
    }
}

pub(super) struct Room {
    used: AtomicUsize,
    /// Of the queue: the end of a job makes room, as an added job makes work.
    work: Arc<Notify>,
    /// The worker waits for jobs to end. A worker that waits for new jobs is not woken by ends.
    wants_ends: AtomicBool,
}

impl Room {
    fn new(work: Arc<Notify>) -> Self {
        Self {
            used: AtomicUsize::new(0),
            work,
            wants_ends: AtomicBool::new(true),
        }
    }

    /// Resolves when jobs may have arrived or, on request, ended.
    pub async fn news(&self) {
        self.work.notified().await;
    }

    /// How many more jobs may run here.
    pub fn free(&self, process: &Process) -> usize {
        let most = process.config.concurrency as usize;
        most.saturating_sub(self.used.load(Ordering::SeqCst))
    }

    pub fn wants_ends(&self, wants: bool) {
        self.wants_ends.store(wants, Ordering::SeqCst);
    }

    pub fn take(self: &Arc<Self>, count: usize) -> ReservedRoom {
        self.used.fetch_add(count, Ordering::SeqCst);
        ReservedRoom {
            room: self.clone(),
            count,
        }
    }

    /// Takes as much of the requested room as is free.
    pub fn take_free(self: &Arc<Self>, process: &Process, wanted: usize) -> ReservedRoom {
        let most = process.config.concurrency as usize;
        let mut count = 0;
        let more = |used: usize| {
            count = most.saturating_sub(used).min(wanted);
            Some(used + count)
        };
        let order = Ordering::SeqCst;
        let _ = self.used.fetch_update(order, order, more);
        ReservedRoom {
            room: self.clone(),
            count,
        }
    }
}

/// Room of running jobs; released when they have ended.
pub(crate) struct ReservedRoom {
    room: Arc<Room>,
    pub count: usize,
}

impl ReservedRoom {
    /// The room of one of its jobs.
    pub fn split_one(&mut self) -> Option<Self> {
        self.count = self.count.checked_sub(1)?;
        Some(Self {
            room: self.room.clone(),
            count: 1,
        })
    }
}

impl Drop for ReservedRoom {
    fn drop(&mut self) {
        if self.count == 0 {
            return;
        }
        self.room.used.fetch_sub(self.count, Ordering::SeqCst);
        if self.room.wants_ends.load(Ordering::SeqCst) {
            self.room.work.notify_one();
        }
    }
}
