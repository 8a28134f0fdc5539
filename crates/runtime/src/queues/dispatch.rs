//! Jobs that begin where they are added.
//!
//! A job whose queue has room here and nothing that waits need not be stored as waiting, found and
//! claimed: it is born active, under a lease that this instance has in stock. Whether it may be is
//! judged by the store, in the commit that adds it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use riverrun_contract::Process;
use riverrun_store::{Change, Commit, NewJob, QueueRoom, Receipt, TakeJobs};
use riverrun_types::{Millis, Name};

use super::{room::ReservedRoom, worker::launch_in};
use crate::{runs::lease_ms, runtime::Runtime};

/// A lease that jobs may be born under.
#[derive(Default)]
pub(crate) struct Stock {
    lease: Mutex<Option<(u64, Millis)>>,
    is_asking: AtomicBool,
}

/// Room that was taken for the jobs of a commit.
pub(crate) struct Reserved(Vec<(Name, Arc<Process>, ReservedRoom)>);

impl Runtime {
    /// Takes room for the jobs that a commit adds.
    pub(crate) fn reserve(&self, commit: &mut Commit) -> Option<Reserved> {
        let mut wanted: Vec<(&Name, usize)> = Vec::new();
        for change in &commit.changes {
            let Change::Enqueue(jobs) = change else {
                continue;
            };
            for NewJob { queue, at_ms, .. } in jobs.iter() {
                match wanted.last_mut() {
                    _ if at_ms.is_some() => {}
                    Some((last, count)) if *last == queue => *count += 1,
                    _ => wanted.push((queue, 1)),
                }
            }
        }
        if wanted.is_empty() || self.is_stopping() || !self.alone().is_over() {
            return None;
        }
        let token = self.leased()?;
        let rooms = wanted.into_iter();
        let rooms = rooms.filter_map(|(queue, count)| self.room_for(queue, count));
        let rooms: Vec<(Name, Arc<Process>, ReservedRoom)> = rooms.collect();
        if rooms.is_empty() {
            return None;
        }
        let rooms_of = |(queue, process, taken): &(Name, Arc<Process>, ReservedRoom)| QueueRoom {
            queue: queue.clone(),
            jobs: taken.count,
            concurrency: process.config.limits.concurrency,
        };
        commit.take = Some(TakeJobs {
            token,
            now_ms: self.now_ms(),
            rooms: rooms.iter().map(rooms_of).collect(),
        });
        Some(Reserved(rooms))
    }

    /// Begins the jobs that were taken; the room of the others is free again.
    pub(crate) fn begin(&self, mut reserved: Reserved, receipt: &Receipt) {
        for job in &receipt.taken {
            let mut rooms = reserved.0.iter_mut();
            let room = rooms.find(|(queue, _, taken)| *queue == job.lease.queue && taken.count > 0);
            let Some((queue, process, taken)) = room else {
                tracing::error!(job = %job.lease.id, "a job was taken without room");
                continue;
            };
            // What starts gets the newest code.
            let newest = self.processes().of_queue(queue);
            let process = newest.as_ref().unwrap_or(process);
            if let Some(taken) = taken.split_one() {
                launch_in(self, process, taken, vec![job.clone()]);
            }
        }
    }

    fn room_for(&self, queue: &Name, count: usize) -> Option<(Name, Arc<Process>, ReservedRoom)> {
        let process = self.processes().of_queue(queue)?;
        let limits = &process.config.limits;
        let is_simple = limits.rate.is_none()
            && limits.per_key.is_none()
            && limits.gather.is_none()
            && process.config.batch.is_none()
            && process.provider.places().is_none();
        let room = self.rooms().get(queue).filter(|_| is_simple)?;
        let taken = room.take_free(&process, count);
        (taken.count > 0).then_some((queue.clone(), process, taken))
    }

    /// A lease that is good for a while. The next one is asked for when half of its time is over.
    fn leased(&self) -> Option<u64> {
        let stock = self.stock();
        let now = self.now_ms();
        let lease = *stock.lease.lock();
        let left = lease.map_or(0, |(_, until_ms)| until_ms - now);
        if left < lease_ms(self) / 2 && !stock.is_asking.swap(true, Ordering::AcqRel) {
            let runtime = self.clone();
            self.spawn(async move { runtime.restock().await });
        }
        lease
            .filter(|_| left > lease_ms(self) / 3)
            .map(|(token, _)| token)
    }

    async fn restock(&self) {
        let until_ms = self.now_ms().saturating_add(lease_ms(self));
        let owner = &self.options().owner;
        match self.store().lease_jobs(owner, until_ms).await {
            Ok(token) => *self.stock().lease.lock() = Some((token, until_ms)),
            Err(error) => tracing::warn!(%error, "no lease for jobs that begin at once"),
        }
        self.stock().is_asking.store(false, Ordering::Release);
    }
}
