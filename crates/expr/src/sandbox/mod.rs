//! The threads that evaluate what is not native, and the way to them.
//!
//! Callers hand over a job and wait; threads take jobs from one bounded queue. A watcher replaces
//! a thread that a built-in keeps from noticing its time limit, so that no expression can wedge
//! the sandbox. Never runs JavaScript on the caller's thread.

mod watcher;
mod worker;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::expr::{Arg, Evaluated};
use crate::realm::OwnedArg;
use crate::{Error, Expr, Limits};
use watcher::Watch;
use worker::Job;

/// Evaluates expressions within [`Limits`]. Dropping it waits for the evaluations under way,
/// which their time limit bounds.
pub struct Sandbox {
    queue: Option<mpsc::Sender<Job>>,
    watch: Arc<Watch>,
    watcher: Option<JoinHandle<()>>,
}

impl Sandbox {
    /// Starts the threads; fails only if the system refuses one.
    pub fn new(limits: Limits) -> io::Result<Sandbox> {
        let (queue, jobs) = mpsc::channel(limits.queue_len.max(1));
        let watch = Arc::new(Watch::default());
        let watcher = watcher::start(limits, jobs, Arc::clone(&watch))?;
        Ok(Sandbox {
            queue: Some(queue),
            watch,
            watcher: Some(watcher),
        })
    }

    /// Evaluates; `Ok(None)` is `undefined`. Native expressions are answered without waiting.
    /// Dropping the future gives the evaluation up.
    pub async fn eval(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        if let Some(answer) = expr.eval_native(args) {
            return answer;
        }
        let (job, answer) = job(expr, args);
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(job).await.map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// As [`Sandbox::eval`], for threads outside an async runtime; panics inside one unless the
    /// expression is native.
    pub fn eval_blocking(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        if let Some(answer) = expr.eval_native(args) {
            return answer;
        }
        let (job, answer) = job(expr, args);
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.blocking_send(job).map_err(|_| Error::Closed)?;
        answer.blocking_recv().unwrap_or(Err(Error::Closed))
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.queue = None;
        self.watch.close();
        if let Some(watcher) = self.watcher.take() {
            // Its panic would be ours to report elsewhere; there is nobody left to tell.
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

#[cfg(test)]
mod tests;
