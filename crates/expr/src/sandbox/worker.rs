//! A thread that evaluates jobs, one at a time, in a warm realm.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::watcher::Watch;
use crate::expr::Evaluated;
use crate::realm::{OwnedArg, Realm};
use crate::{Error, Expr, Limits};

pub(super) struct Job {
    pub(super) expr: Expr,
    pub(super) args: Vec<OwnedArg>,
    pub(super) reply: oneshot::Sender<Evaluated>,
}

/// Shared by the threads; the one that waits for a job holds the lock meanwhile.
pub(super) type Queue = Arc<Mutex<mpsc::Receiver<Job>>>;

/// What a worker is doing, as its watcher sees it.
#[derive(Default)]
pub(super) struct Desk(Mutex<Option<Task>>);

struct Task {
    since: Instant,
    reply: oneshot::Sender<Evaluated>,
}

impl Desk {
    pub(super) fn busy_since(&self) -> Option<Instant> {
        self.0.lock().as_ref().map(|task| task.since)
    }

    /// Answers the caller, unless the other side already did. The worker that comes too late was
    /// given up and replaced.
    pub(super) fn answer(&self, answer: Evaluated) -> bool {
        match self.0.lock().take() {
            Some(task) => {
                // A caller that went away needs no answer.
                let _ = task.reply.send(answer);
                true
            }
            None => false,
        }
    }

    fn take_up(&self, reply: oneshot::Sender<Evaluated>) {
        let since = Instant::now();
        *self.0.lock() = Some(Task { since, reply });
    }
}

/// Why a worker ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The sandbox was dropped.
    Closed,
    /// The watcher answered in this worker's place.
    GivenUp,
}

pub(super) fn run(limits: &Limits, queue: &Queue, desk: &Desk, watch: &Watch) -> End {
    // An idle thread holds no engine: the first job brings it.
    let mut realm: Option<Result<Realm, Error>> = None;
    loop {
        let Some(job) = queue.lock().blocking_recv() else {
            return End::Closed;
        };
        if job.reply.is_closed() {
            continue;
        }
        let realm = realm.get_or_insert_with(|| Realm::new(limits));
        desk.take_up(job.reply);
        watch.rouse();
        // The engine's bindings assert; a realm that panicked is dropped with its evaluation.
        let evaluate = || evaluate(realm, limits, &job.expr, &job.args);
        let answer = catch_unwind(AssertUnwindSafe(evaluate)).unwrap_or_else(|_| {
            *realm = Err(Error::Closed);
            Err(Error::thrown("InternalError: the engine panicked"))
        });
        if !desk.answer(answer) {
            return End::GivenUp;
        }
        // After the answer, so that no caller waits for the next one's engine.
        if realm.as_ref().map_or(true, Realm::is_spent) {
            *realm = renew(std::mem::replace(realm, Err(Error::Closed)), limits);
        }
    }
}

/// Memory can be short because of what earlier evaluations left, and expressions have no effects:
/// one that ran out is tried again in a fresh realm, and only then is it the expression's fault.
fn evaluate(
    realm: &mut Result<Realm, Error>,
    limits: &Limits,
    expr: &Expr,
    args: &[OwnedArg],
) -> Evaluated {
    let used = realm.as_mut().map_err(|error| error.clone())?;
    let fresh = used.is_fresh();
    let answer = used.eval(expr, args);
    if fresh || !matches!(answer, Err(Error::Memory { .. })) {
        return answer;
    }
    *realm = renew(std::mem::replace(realm, Err(Error::Closed)), limits);
    realm
        .as_mut()
        .map_err(|error| error.clone())?
        .eval(expr, args)
}

fn renew(old: Result<Realm, Error>, limits: &Limits) -> Result<Realm, Error> {
    drop(old);
    Realm::new(limits)
}
