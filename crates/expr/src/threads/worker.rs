//! A thread that evaluates jobs, one at a time, in a warm realm.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::watcher::Watch;
use crate::expr::{Arg, Evaluated, evaluated};
use crate::realm::Engine;
use crate::{Expr, Limits};

pub(super) struct Job {
    pub(super) expr: Expr,
    pub(super) args: Vec<OwnedArg>,
    pub(super) reply: oneshot::Sender<Evaluated>,
}

/// An argument on its way to another thread.
pub(super) struct OwnedArg {
    pub(super) name: Box<str>,
    pub(super) json: String,
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
    let mut engine = Engine::new(limits.clone());
    loop {
        let Some(job) = queue.lock().blocking_recv() else {
            return End::Closed;
        };
        if job.reply.is_closed() {
            continue;
        }
        desk.take_up(job.reply);
        watch.rouse();
        let args = job.args.iter().map(|arg| Arg::new(&arg.name, &arg.json));
        let answer = engine.eval(&job.expr, &args.collect::<Vec<_>>());
        if !desk.answer(evaluated(answer)) {
            return End::GivenUp;
        }
        // After the answer, so that no caller waits for the next one's engine.
        engine.renew_if_spent();
    }
}
