//! The children of one language: chooses the child for an invocation, and replaces children that
//! ended.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use riverrun_contract::{Cancellation, Provider};
use riverrun_protocol::{CancelReason, Drained, WorkError};
use serde::Serialize;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{
    Language, RunnerOptions, apart, child::Child, failed::Failed, invoke::RunnerProvider, load,
    spared::Spared, start::Start,
};
use crate::failure;

/// A child that died is replaced at once; one that lived less than this only after a pause.
const HEALTHY: Duration = Duration::from_secs(5);
/// The longest pause before a child that worked and died is replaced. Short: it may have been one
/// bad job, and others wait.
const REPLACE_MAX: Duration = Duration::from_secs(1);
/// After this many failed starts in a row invocations no longer wait for the next.
const HOPELESS: u32 = 2;

/// A pool of runners of one language. Clones share it. Its processes start when they are needed
/// first, or with [`Runners::warm`].
#[derive(Clone)]
pub struct Runners {
    pub(super) pool: Arc<Pool>,
}

impl std::fmt::Debug for Runners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} runners", self.pool.language)
    }
}

/// A child of a pool as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunnerStatus {
    pub name: String,
    pub pid: u32,
    pub running: usize,
    /// It gets no more work and ends when it is done.
    pub is_leaving: bool,
}

impl Runners {
    pub fn new(language: Language, options: RunnerOptions) -> Self {
        let seats = (0..options.size.max(1)).map(|_| Seat::default()).collect();
        Self {
            pool: Arc::new(Pool {
                language,
                options: Arc::new(options),
                seats,
                found: Mutex::default(),
                children: Mutex::default(),
                count: AtomicU64::new(0),
                is_started: AtomicBool::new(false),
                changed: Notify::new(),
                alone: Semaphore::new(load::ALONE),
                apart: Semaphore::new(apart::PLACES),
                spared: Spared::default(),
                failed: Failed::default(),
                ending: CancellationToken::new(),
            }),
        }
    }

    pub fn language(&self) -> Language {
        self.pool.language
    }

    /// Starts the processes, if they are not started yet. Does not wait for them.
    pub fn warm(&self) {
        self.pool.start();
    }

    /// Runs the invocations of the process whose handler is this export of this file.
    pub fn provider(&self, file: &str, export: Option<&str>, revision: u64) -> Arc<dyn Provider> {
        Arc::new(RunnerProvider {
            pool: self.pool.clone(),
            file: file.to_owned(),
            export: export.map(str::to_owned),
            revision,
        })
    }

    pub fn status(&self) -> Vec<RunnerStatus> {
        let children = self.pool.children.lock();
        let status = |child: &Arc<Child>| RunnerStatus {
            name: child.link.name.clone(),
            pid: child.pid,
            running: child.link.running(),
            is_leaving: !child.is_open(),
        };
        children.iter().map(status).collect()
    }

    /// Takes no more invocations, gives those that run this long, and ends the processes. Says how
    /// many did not end.
    pub async fn drain(&self, grace: Duration) -> usize {
        self.pool.ending.cancel();
        self.pool.changed.notify_waiters();
        let children = self.pool.children.lock().clone();
        let ends = children.iter().map(|child| self.pool.drain(child, grace));
        futures::future::join_all(ends).await.into_iter().sum()
    }
}

pub(super) struct Pool {
    language: Language,
    pub options: Arc<RunnerOptions>,
    seats: Vec<Seat>,
    found: Mutex<Option<Start>>,
    /// Those in seats and those that end what they run.
    children: Mutex<Vec<Arc<Child>>>,
    count: AtomicU64,
    is_started: AtomicBool,
    /// Notified when a seat is taken or in trouble.
    changed: Notify,
    /// Places for modules that are loaded in children of their own.
    pub alone: Semaphore,
    /// Places for jobs that are run in children of their own.
    pub apart: Semaphore,
    pub spared: Spared,
    pub failed: Failed,
    ending: CancellationToken,
}

#[derive(Default)]
struct Seat(Mutex<Seated>);

#[derive(Default)]
struct Seated {
    child: Option<Arc<Child>>,
    trouble: Option<Trouble>,
}

/// The last starts have failed.
struct Trouble {
    error: WorkError,
    starts: u32,
    again: Instant,
}

impl Pool {
    pub fn size(&self) -> usize {
        self.seats.len()
    }

    /// The child with the least to do, as soon as there is one.
    pub async fn pick(self: &Arc<Self>, cancel: &Cancellation) -> Result<Arc<Child>, WorkError> {
        if let Some(child) = self.ready() {
            return Ok(child);
        }
        self.start();
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.ending.is_cancelled() {
                return Err(failure::cancelled(CancelReason::Shutdown));
            }
            if let Some(child) = self.ready() {
                return Ok(child);
            }
            if let Some(error) = self.hopeless() {
                return Err(error);
            }
            tokio::select! {
                () = changed => {}
                reason = cancel.cancelled() => return Err(failure::cancelled(reason)),
            }
        }
    }

    fn ready(&self) -> Option<Arc<Child>> {
        if self.ending.is_cancelled() {
            return None;
        }
        let open = |seat: &Seat| seat.0.lock().child.clone().filter(|child| child.is_open());
        if let [seat] = self.seats.as_slice() {
            return open(seat);
        }
        let children = self.seats.iter().filter_map(open);
        children.min_by_key(|child| child.link.running())
    }

    /// Why no child will be there soon.
    fn hopeless(&self) -> Option<WorkError> {
        let mut found = None;
        for seat in &self.seats {
            let seated = seat.0.lock();
            let trouble = seated
                .trouble
                .as_ref()
                .filter(|trouble| trouble.starts >= HOPELESS)?;
            let again = trouble.again.saturating_duration_since(Instant::now());
            let mut error = trouble.error.clone();
            error.retry_after_ms = u64::try_from(again.as_millis()).ok();
            found = Some(error);
        }
        found
    }

    fn start(self: &Arc<Self>) {
        if self.ending.is_cancelled() || self.is_started.swap(true, Ordering::AcqRel) {
            return;
        }
        for seat in 0..self.seats.len() {
            tokio::spawn(keep(Arc::downgrade(self), seat));
        }
    }

    async fn seat(self: &Arc<Self>, seat: usize) -> Result<Arc<Child>, WorkError> {
        let child = self.child().await?;
        *self.seats[seat].0.lock() = Seated {
            child: Some(child.clone()),
            trouble: None,
        };
        self.changed.notify_waiters();
        Ok(child)
    }

    /// A new child, which ends with the pool.
    pub async fn child(self: &Arc<Self>) -> Result<Arc<Child>, WorkError> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{} runner {number}", self.language);
        let start = self.find().await?;
        let child = match start.start(name, &self.options).await {
            Ok(child) => child,
            Err(error) => {
                // What was found may have been moved or replaced since.
                *self.found.lock() = None;
                return Err(error);
            }
        };
        self.children.lock().push(child.clone());
        if self.ending.is_cancelled() {
            child.retire();
        }
        tokio::spawn({
            let (pool, child) = (Arc::downgrade(self), child.clone());
            async move {
                child.gone.cancelled().await;
                if let Some(pool) = pool.upgrade() {
                    pool.children
                        .lock()
                        .retain(|other| !Arc::ptr_eq(other, &child));
                }
            }
        });
        Ok(child)
    }

    /// What is to be started. It is looked for once, until a start fails.
    async fn find(&self) -> Result<Start, WorkError> {
        let found = self.found.lock().clone();
        if let Some(found) = found {
            return Ok(found);
        }
        let found = Start::find(self.language, &self.options).await?;
        *self.found.lock() = Some(found.clone());
        Ok(found)
    }

    fn in_trouble(&self, seat: usize, error: WorkError, starts: u32, pause: Duration) {
        let pause_ms = pause.as_millis();
        tracing::error!(
            language = %self.language,
            error.code = error.code.as_str(),
            starts,
            pause_ms,
            "a runner could not be started: {}",
            error.message
        );
        self.seats[seat].0.lock().trouble = Some(Trouble {
            error,
            starts,
            again: Instant::now() + pause,
        });
        self.changed.notify_waiters();
    }

    /// None, then doubling.
    fn backoff(&self, failures: u32) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else {
            return Duration::ZERO;
        };
        let factor = 2u32.saturating_pow(doublings.min(16));
        self.options
            .backoff_min
            .saturating_mul(factor)
            .min(self.options.backoff_max)
    }

    async fn drain(&self, child: &Child, grace: Duration) -> usize {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let params = serde_json::json!({ "graceMs": grace_ms });
        let ask = child.link.request("drain", &params);
        let patience = grace + self.options.probe;
        let answer = tokio::time::timeout(patience, ask).await;
        let drained = answer.ok().and_then(Result::ok);
        let said: Option<Drained> = drained.and_then(|answer| answer.read().ok());
        let unfinished = said.map_or_else(|| child.link.running(), |said| said.unfinished as usize);
        match unfinished {
            0 => child.retire(),
            _ => child.condemn(failure::cancelled(CancelReason::Shutdown)),
        }
        child.gone.cancelled().await;
        unfinished
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.ending.cancel();
        for child in self.children.get_mut() {
            child.retire();
        }
    }
}

/// Keeps a child in a seat for as long as the pool is there.
async fn keep(pool: Weak<Pool>, seat: usize) {
    let (mut starts, mut deaths) = (0, 0);
    loop {
        let Some(own) = pool.upgrade().filter(|pool| !pool.ending.is_cancelled()) else {
            return;
        };
        let ending = own.ending.clone();
        let begun = Instant::now();
        let pause = match own.seat(seat).await {
            Ok(child) => {
                drop(own);
                starts = 0;
                child.leaving.cancelled().await;
                let is_early = child.has_died() && begun.elapsed() < HEALTHY;
                deaths = if is_early { deaths + 1 } else { 0 };
                let Some(own) = pool.upgrade() else {
                    return;
                };
                own.backoff(deaths).min(REPLACE_MAX)
            }
            Err(error) => {
                starts += 1;
                let pause = own.backoff(starts);
                own.in_trouble(seat, error, starts, pause);
                pause
            }
        };
        tokio::select! {
            () = ending.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
