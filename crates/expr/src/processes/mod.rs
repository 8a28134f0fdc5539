//! Evaluation in child processes that can be killed.
//!
//! QuickJS looks at the clock between its own instructions, which some built-ins put off for ever
//! (`[].reverse.call({length: 2 ** 53 - 1})`). A process that does so is killed and replaced, and
//! nothing of it stays behind.
//!
//! Each child has a thread here (`supervisor`), which takes evaluations from one bounded line
//! (`line`), sends several at once where several wait, and reads the answers. Children start with the
//! first evaluation that needs one and end when they were idle for a while, when the sandbox is
//! dropped, and when this process ends in whatever way: their standard input is closed then.
//!
//! The child is this same program (see [`Isolation::processes`](crate::Isolation::processes));
//! `child` is its main loop and `wire` what both say to each other.

mod child;
mod engine_process;
mod line;
mod supervisor;
mod wire;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

pub(crate) use child::{is_child, serve};

use crate::expr::{Arg, Evaluated};
use crate::sandbox::block_on;
use crate::{Error, Expr, Limits, Stats};
use line::Line;

/// How long an evaluation may wait for an engine before its caller gets an error that says to try
/// again later.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A line that is longer than this, in time, counts as trouble.
const SLOW: Duration = Duration::from_secs(2);

/// The children that parse long sources, wherever in this program they are compiled: an expression is
/// compiled without a sandbox at hand.
static CHECKERS: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

/// Has a child parse a source; waits for it. `None` if no child is to be had.
pub(crate) fn check(source: &str) -> Option<Result<(), Error>> {
    let shared = CHECKERS.lock().upgrade()?;
    let expr = Expr::unchecked(source);
    let request = wire::check_request(expr.id());
    match block_on(shared.ask(expr, Ok(request))) {
        Err(error) if error.is_retriable() => None,
        answer => Some(answer.map(drop)),
    }
}

/// Dropping it ends the children.
pub(crate) struct Processes {
    shared: Arc<Shared>,
}

/// What the supervisors share.
struct Shared {
    limits: Limits,
    program: PathBuf,
    line: Line,
    /// One permit for each evaluation that waits or is under way.
    places: Arc<Semaphore>,
    counts: Counts,
    /// Why the last child could not be started.
    broken: Mutex<Option<String>>,
}

#[derive(Default)]
struct Counts {
    processes: AtomicU64,
    started: AtomicU64,
    killed: AtomicU64,
    crashed: AtomicU64,
    unavailable: AtomicU64,
}

/// An evaluation on its way.
struct Job {
    expr: Expr,
    /// The evaluation as the child reads it.
    request: Vec<u8>,
    reply: oneshot::Sender<Evaluated>,
    asked_at: Instant,
    /// Whether a child has died under it.
    suspect: bool,
    _place: OwnedSemaphorePermit,
}

impl Job {
    fn answer(self, answer: Evaluated) {
        // A caller that went away needs no answer.
        let _ = self.reply.send(answer);
    }

    fn is_late(&self) -> bool {
        self.asked_at.elapsed() > MAX_WAIT
    }
}

impl Processes {
    pub(crate) fn new(limits: Limits, program: PathBuf) -> Processes {
        let threads = limits.threads.max(1);
        let places = limits.queue_len.max(1).saturating_add(threads);
        let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        let shared = Arc::new(Shared {
            line: Line::new(threads),
            limits,
            program,
            places,
            counts: Counts::default(),
            broken: Mutex::default(),
        });
        *CHECKERS.lock() = Arc::downgrade(&shared);
        Processes { shared }
    }

    pub(crate) async fn eval(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        let request = wire::eval_request(expr.id(), args);
        self.shared.ask(expr.clone(), request).await
    }

    /// Why evaluations fail or wait for long, if they do.
    pub(crate) fn trouble(&self) -> Option<String> {
        if let Some(reason) = &*self.shared.broken.lock() {
            return Some(reason.clone());
        }
        let waited = self.shared.line.oldest()?.elapsed();
        (waited > SLOW).then(|| {
            let ms = waited.as_millis();
            format!("all engines are busy, and an expression has waited for {ms} ms")
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        let counts = &self.shared.counts;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Stats {
            processes: get(&counts.processes),
            started: get(&counts.started),
            killed: get(&counts.killed),
            crashed: get(&counts.crashed),
            unavailable: get(&counts.unavailable),
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.shared.line.close();
    }
}

impl Shared {
    async fn ask(self: &Arc<Self>, expr: Expr, request: Result<Vec<u8>, Error>) -> Evaluated {
        let asked_at = Instant::now();
        let places = Arc::clone(&self.places);
        let place = places.acquire_owned().await.map_err(|_| Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        let job = Job {
            request: request?,
            expr,
            reply,
            asked_at,
            suspect: false,
            _place: place,
        };
        if job.is_late() {
            return Err(self.unavailable("all engines are busy"));
        }
        supervisor::submit(self, job);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Counts an evaluation that no child accepted.
    fn unavailable(&self, reason: &str) -> Error {
        self.counts.unavailable.fetch_add(1, Ordering::Relaxed);
        Error::Unavailable {
            reason: reason.to_owned(),
        }
    }
}
