//! Starts the worker threads and replaces those that are stuck.
//!
//! QuickJS checks the time between its own instructions, which a few built-ins can delay for very
//! long (`new Array(2 ** 32 - 1).join('')`). A thread cannot be killed, but its caller can be
//! answered and another thread can take its place. An abandoned thread ends when its built-in
//! returns.

use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::worker::{self, Desk, Job, Queue};
use crate::{Error, Limits};

/// Workers that may be stuck at once and still be replaced. Beyond that the sandbox has only the
/// threads that it has, and with none left it answers every job with [`Error::Unavailable`].
const MAX_LOST: usize = 8;

/// What the engine may take over its time limit, twice, before its thread counts as stuck.
const GRACE: Duration = Duration::from_millis(250);

/// How often running evaluations are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Wakes the watcher. It sleeps while nothing runs.
#[derive(Default)]
pub(super) struct Watch {
    thread: OnceLock<Thread>,
    asleep: AtomicBool,
    closed: AtomicBool,
    /// Whether every thread is stuck for good.
    exhausted: AtomicBool,
    abandoned: AtomicU64,
}

impl Watch {
    /// Called by a worker that starts on a job.
    pub(super) fn rouse(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.unpark();
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::SeqCst)
    }

    pub(super) fn abandoned(&self) -> u64 {
        self.abandoned.load(Ordering::Relaxed)
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.unpark();
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// Why nothing can be evaluated once no thread is left.
pub(super) fn exhausted() -> String {
    "every thread is stuck in an expression that cannot be interrupted".to_owned()
}

pub(super) fn start(
    limits: Limits,
    jobs: mpsc::Receiver<Job>,
    watch: Arc<Watch>,
) -> io::Result<JoinHandle<()>> {
    let mut watcher = Watcher {
        queue: Arc::new(Mutex::new(jobs)),
        overdue: 2 * (Duration::from_millis(limits.time_ms) + GRACE),
        limits,
        watch: Arc::clone(&watch),
        workers: Vec::new(),
        lost: Arc::default(),
    };
    for _ in 0..watcher.limits.threads.max(1) {
        watcher.hire()?;
    }
    let handle = thread::Builder::new()
        .name("expr-watch".into())
        .spawn(move || watcher.run())?;
    // A worker or a close may have come first; the watcher looks before its first sleep.
    let _ = watch.thread.set(handle.thread().clone());
    handle.thread().unpark();
    Ok(handle)
}

struct Watcher {
    limits: Limits,
    queue: Queue,
    watch: Arc<Watch>,
    workers: Vec<Worker>,
    /// Threads that were given up and are still running.
    lost: Arc<AtomicUsize>,
    overdue: Duration,
}

struct Worker {
    desk: Arc<Desk>,
    handle: JoinHandle<()>,
}

impl Watcher {
    fn run(mut self) {
        loop {
            self.replace_stuck();
            if self.watch.closed.load(Ordering::SeqCst) {
                self.join_finished();
                if self.workers.is_empty() {
                    return;
                }
                thread::park_timeout(Duration::from_millis(1));
            } else {
                self.sleep();
            }
        }
    }

    /// Sleeps for as long as nothing runs, then for one tick: a worker that is roused often must
    /// not pay for it each time. A close ends either.
    fn sleep(&self) {
        let busy = |worker: &Worker| worker.desk.busy_since().is_some();
        self.watch.asleep.store(true, Ordering::SeqCst);
        // Looked at after the flag is up: a worker that started before saw it down.
        let idle = !self.workers.is_empty() && !self.workers.iter().any(busy);
        if idle && !self.watch.closed.load(Ordering::SeqCst) {
            thread::park();
        }
        self.watch.asleep.store(false, Ordering::SeqCst);
        if !self.watch.closed.load(Ordering::SeqCst) {
            thread::park_timeout(TICK);
        }
    }

    fn replace_stuck(&mut self) {
        let now = Instant::now();
        let stuck = |worker: &Worker| {
            let since = worker.desk.busy_since();
            since.is_some_and(|since| now.duration_since(since) > self.overdue)
        };
        let timeout = Error::Timeout {
            ms: self.limits.time_ms,
        };
        for index in (0..self.workers.len()).rev() {
            let worker = &self.workers[index];
            if stuck(worker) && worker.desk.answer(Err(timeout.clone())) {
                self.lost.fetch_add(1, Ordering::SeqCst);
                self.watch.abandoned.fetch_add(1, Ordering::Relaxed);
                tracing::warn!("an expression that cannot be interrupted holds a thread");
                // Dropping the handle lets the thread run on by itself.
                drop(self.workers.swap_remove(index));
            }
        }
        let closed = self.watch.closed.load(Ordering::SeqCst);
        let wanted = self.limits.threads.max(1);
        while !closed
            && self.workers.len() < wanted
            && self.lost.load(Ordering::SeqCst) < MAX_LOST
            && self.hire().is_ok()
        {}
        let exhausted = self.workers.is_empty() && !closed;
        if exhausted != self.watch.exhausted.swap(exhausted, Ordering::SeqCst) && exhausted {
            tracing::error!("expressions are unavailable: {}", self::exhausted());
        }
        if self.workers.is_empty() {
            let reason = self::exhausted();
            let mut queue = self.queue.lock();
            while let Ok(job) = queue.try_recv() {
                let reason = reason.clone();
                let _ = job.reply.send(Err(Error::Unavailable { reason }));
            }
        }
    }

    fn hire(&mut self) -> io::Result<()> {
        let desk = Arc::new(Desk::default());
        let (limits, queue, watch) = (
            self.limits.clone(),
            Arc::clone(&self.queue),
            Arc::clone(&self.watch),
        );
        let (own_desk, lost) = (Arc::clone(&desk), Arc::clone(&self.lost));
        let handle = thread::Builder::new()
            .name("expr".into())
            // The engine counts its own stack; the rest is for the frames around it.
            .stack_size(self.limits.stack_bytes + (1 << 20))
            .spawn(move || {
                if worker::run(&limits, &queue, &own_desk, &watch) == worker::End::GivenUp {
                    lost.fetch_sub(1, Ordering::SeqCst);
                }
            })?;
        self.workers.push(Worker { desk, handle });
        Ok(())
    }

    fn join_finished(&mut self) {
        for index in (0..self.workers.len()).rev() {
            if self.workers[index].handle.is_finished() {
                // Workers catch what panics; a failed join has nothing more to say.
                let _ = self.workers.swap_remove(index).handle.join();
            }
        }
    }
}
