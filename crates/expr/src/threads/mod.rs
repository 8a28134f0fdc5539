//! Evaluation on threads of this process.
//!
//! Callers hand over a job and wait; threads take jobs from one bounded queue. A watcher replaces
//! a thread that a built-in keeps from noticing its time limit. A thread cannot be killed, so only a
//! few can be replaced: a server uses [processes](crate::processes) instead.

mod watcher;
mod worker;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::expr::{Arg, Evaluated};
use crate::{Error, Expr, Limits};
use watcher::Watch;
use worker::{Job, OwnedArg};

/// Dropping it waits for the evaluations under way, which their time limit bounds.
pub(crate) struct Threads {
    queue: Option<mpsc::Sender<Job>>,
    watch: Arc<Watch>,
    watcher: Option<JoinHandle<()>>,
}

impl Threads {
    /// Starts the threads; fails only if the system refuses one.
    pub(crate) fn start(limits: Limits) -> io::Result<Threads> {
        let (queue, jobs) = mpsc::channel(limits.queue_len.max(1));
        let watch = Arc::new(Watch::default());
        let watcher = watcher::start(limits, jobs, Arc::clone(&watch))?;
        Ok(Threads {
            queue: Some(queue),
            watch,
            watcher: Some(watcher),
        })
    }

    pub(crate) async fn eval(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        let (job, answer) = job(expr, args);
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(job).await.map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Why nothing can be evaluated any more, if that is so.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.watch.is_exhausted().then(watcher::exhausted)
    }

    /// Threads that were given up since the start.
    pub(crate) fn abandoned(&self) -> u64 {
        self.watch.abandoned()
    }

    /// Evaluations that no thread has taken yet.
    #[cfg(test)]
    pub(crate) fn queued(&self) -> usize {
        let queue = self.queue.as_ref();
        queue.map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue = None;
        self.watch.close();
        if let Some(watcher) = self.watcher.take() {
            // A panic of it is ignored, because the sandbox is being dropped.
            let _ = watcher.join();
        }
    }
}

fn job(expr: &Expr, args: &[Arg<'_>]) -> (Job, oneshot::Receiver<Evaluated>) {
    let (reply, answer) = oneshot::channel();
    let args = args.iter().map(|arg| OwnedArg {
        name: arg.name.into(),
        json: arg.json.to_owned(),
    });
    let job = Job {
        expr: expr.clone(),
        args: args.collect(),
        reply,
    };
    (job, answer)
}
