//! Jobs that begin where they are added.
//!
//! A job whose queue has room here and no waiting jobs need not be stored as waiting, found and
//! claimed: it is added as active, under a lease that this instance holds in advance. The store
//! judges that in the commit that adds the job.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use riverrun_contract::Process;
use riverrun_store::{Change, Commit, NewJob, QueueRoom, Receipt, TakeJobs, Then};
use riverrun_types::{Millis, Name, RunId};

use super::{Queues, room::ReservedRoom, worker::launch_in};

/// A lease for jobs that begin where they are added.
#[derive(Default)]
pub(crate) struct Stock {
    lease: Mutex<Option<(u64, Millis)>>,
    is_asking: AtomicBool,
}

/// Room that is reserved for the jobs of a commit.
struct Reserved(Vec<(Name, Arc<Process>, ReservedRoom)>);

/// Commits changes that start jobs. A run starts its jobs through this.
#[derive(Clone)]
pub(crate) struct Dispatcher(Queues);

impl Dispatcher {
    /// Commits, and calls a function once the commit is durable. The jobs that it adds begin then,
    /// if there is room for them.
    pub async fn commit<F>(&self, commit: Commit, then: Option<F>) -> Committed
    where
        F: FnOnce(&Receipt) + Send + 'static,
    {
        self.0.commit_then(commit, then).await
    }

    /// The queue of a process.
    pub fn queue_of(&self, process: &Name) -> Name {
        let known = self.0.processes().get(process);
        known.map_or_else(|| process.clone(), |known| known.config.queue.clone())
    }

    /// Stops an obsolete job, if it runs here.
    pub fn stop(&self, job: &RunId) {
        self.0.keeper().cancel(job, None);
    }
}

type Committed = riverrun_store::Result<Receipt>;

impl Queues {
    /// Starts the jobs of commits.
    pub(crate) fn dispatcher(&self) -> Dispatcher {
        Dispatcher(self.clone())
    }

    /// Commits added jobs, and begins those for which there is room.
    pub(super) async fn commit(&self, commit: Commit) -> Committed {
        self.commit_then(commit, None::<fn(&Receipt)>).await
    }

    async fn commit_then<F>(&self, mut commit: Commit, then: Option<F>) -> Committed
    where
        F: FnOnce(&Receipt) + Send + 'static,
    {
        let then: Option<Then> = match (self.reserve(&mut commit), then) {
            (None, None) => None,
            (None, Some(then)) => Some(Box::new(then)),
            (Some(reserved), then) => {
                let queues = self.clone();
                Some(Box::new(move |receipt: &Receipt| {
                    // Before jobs begin: they read the state that is cached then.
                    if let Some(then) = then {
                        then(receipt);
                    }
                    queues.begin(reserved, receipt);
                }))
            }
        };
        self.base().commit_then(commit, then).await
    }

    /// Reserves room for the jobs that a commit adds.
    fn reserve(&self, commit: &mut Commit) -> Option<Reserved> {
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
        if wanted.is_empty() || self.base().is_stopping() || !self.alone().is_over() {
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
            now_ms: self.base().now_ms(),
            rooms: rooms.iter().map(rooms_of).collect(),
        });
        Some(Reserved(rooms))
    }

    /// Begins the active jobs; the room of the others is released.
    fn begin(&self, mut reserved: Reserved, receipt: &Receipt) {
        for job in &receipt.taken {
            let mut rooms = reserved.0.iter_mut();
            let room = rooms.find(|(queue, _, taken)| *queue == job.lease.queue && taken.count > 0);
            let Some((queue, process, taken)) = room else {
                tracing::error!(job = %job.lease.id, "a job was taken without room");
                continue;
            };
            // A new job gets the newest code.
            let newest = self.processes().of_queue(queue);
            let process = newest.as_ref().unwrap_or(process);
            if let Some(taken) = taken.split_one() {
                launch_in(self, process, taken, vec![job.clone()]);
            }
        }
    }

    fn room_for(&self, queue: &Name, count: usize) -> Option<(Name, Arc<Process>, ReservedRoom)> {
        let process = self.processes().of_queue(queue)?;
        let is_simple = !process.config.limits.start_rules().by_claim_only
            && process.config.batch.is_none()
            && process.provider.places().is_none();
        let room = self.rooms().get(queue).filter(|_| is_simple)?;
        let taken = room.take_free(&process, count);
        (taken.count > 0).then_some((queue.clone(), process, taken))
    }

    /// A lease that is valid for a while. The next one is requested after half of its duration.
    fn leased(&self) -> Option<u64> {
        let stock = self.stock();
        let now = self.base().now_ms();
        let lease = *stock.lease.lock();
        let left = lease.map_or(0, |(_, until_ms)| until_ms - now);
        if left < self.base().lease_ms() / 2 && !stock.is_asking.swap(true, Ordering::AcqRel) {
            let queues = self.clone();
            self.base().spawn(async move { queues.restock().await });
        }
        lease
            .filter(|_| left > self.base().lease_ms() / 3)
            .map(|(token, _)| token)
    }

    async fn restock(&self) {
        let until_ms = self.base().now_ms().saturating_add(self.base().lease_ms());
        let owner = &self.base().options().owner;
        match self.base().store().lease_jobs(owner, until_ms).await {
            Ok(token) => *self.stock().lease.lock() = Some((token, until_ms)),
            Err(error) => tracing::warn!(%error, "no lease for jobs that begin at once"),
        }
        self.stock().is_asking.store(false, Ordering::Release);
    }
}
