//! A thread that serves one child: starts it, sends evaluations, reads answers, kills it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::engine_process::{EngineProcess, Fault};
use super::line::Added;
use super::{Job, Shared};
use crate::Error;
use crate::expr::evaluated;

/// Between two tries to start a child, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Puts an evaluation into the line, and starts a supervisor if one is needed and allowed.
pub(super) fn submit(shared: &Arc<Shared>, job: Job) {
    if shared.line.add(job) == Added::Taken {
        return;
    }
    let supervised = Arc::clone(shared);
    let started = std::thread::Builder::new()
        .name("expr".into())
        .spawn(move || Supervisor::new(supervised).run());
    if let Err(error) = started {
        let reason = format!("a thread could not be started: {error}");
        tracing::error!("expressions are unavailable: {reason}");
        for job in shared.line.give_up() {
            job.answer(Err(shared.unavailable(&reason)));
        }
    }
}

struct Supervisor {
    shared: Arc<Shared>,
    child: Option<EngineProcess>,
    pause: Duration,
}

impl Supervisor {
    fn new(shared: Arc<Shared>) -> Supervisor {
        Supervisor {
            shared,
            child: None,
            pause: FIRST_PAUSE,
        }
    }

    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while let Some(batch) = shared.line.take() {
            let (late, batch): (Vec<_>, Vec<_>) = batch.into_iter().partition(Job::is_late);
            self.refuse(late, "all engines are busy");
            if batch.is_empty() {
                continue;
            }
            match self.child() {
                Ok(child) => {
                    if let Some(fault) = evaluate(child, batch, &shared) {
                        self.replace(&fault);
                    }
                }
                Err(error) => self.wait_for_better(&error, batch),
            }
        }
        self.end_child();
    }

    fn child(&mut self) -> std::io::Result<&mut EngineProcess> {
        if self.child.is_none() {
            let child = EngineProcess::start(&self.shared.program, &self.shared.limits)?;
            self.shared.counts.started.fetch_add(1, Ordering::Relaxed);
            self.shared.counts.processes.fetch_add(1, Ordering::Relaxed);
            self.child = Some(child);
            self.pause = FIRST_PAUSE;
            if self.shared.broken.lock().take().is_some() {
                tracing::info!("expressions are available again");
            }
        }
        // It was just put there.
        self.child
            .as_mut()
            .ok_or_else(|| std::io::ErrorKind::Other.into())
    }

    /// The child cannot be started now: says so, answers those who have waited for too long, and
    /// tries again later.
    fn wait_for_better(&mut self, error: &std::io::Error, batch: Vec<Job>) {
        let reason = format!("a process for expressions could not be started: {error}");
        if self.shared.broken.lock().replace(reason.clone()).is_none() {
            tracing::error!("expressions are unavailable: {reason}");
        }
        self.shared.line.put_back(batch.into_iter());
        self.refuse(self.shared.line.late(), &reason);
        self.shared.line.pause(self.pause);
        self.pause = (self.pause * 2).min(LAST_PAUSE);
    }

    fn refuse(&self, jobs: Vec<Job>, reason: &str) {
        if !jobs.is_empty() {
            tracing::warn!(
                count = jobs.len(),
                "expressions were not evaluated: {reason}"
            );
        }
        for job in jobs {
            job.answer(Err(self.shared.unavailable(reason)));
        }
    }

    fn replace(&mut self, fault: &Fault) {
        match fault {
            Fault::Overdue => {
                self.shared.counts.killed.fetch_add(1, Ordering::Relaxed);
                tracing::warn!("an expression could not be interrupted; its process was killed");
            }
            Fault::Died(error) => {
                self.shared.counts.crashed.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%error, "a process for expressions ended by itself");
            }
        }
        self.end_child();
    }

    fn end_child(&mut self) {
        if self.child.take().is_some() {
            self.shared.counts.processes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Has the child make the evaluations, and answers their callers. Those that the child did not come
/// to are put back into the line.
fn evaluate(child: &mut EngineProcess, batch: Vec<Job>, shared: &Shared) -> Option<Fault> {
    let mut fault = child.send(&batch).err();
    let mut jobs = batch.into_iter();
    while fault.is_none() {
        let mut job = jobs.next()?;
        match child.receive() {
            Ok(answer) => {
                job.answer(evaluated(answer));
                continue;
            }
            Err(Fault::Overdue) => {
                let ms = shared.limits.time_ms;
                job.answer(Err(Error::Timeout { ms }));
                fault = Some(Fault::Overdue);
            }
            Err(died) if job.suspect => {
                job.answer(Err(Error::Crashed));
                fault = Some(died);
            }
            Err(died) => {
                job.suspect = true;
                shared.line.put_back([job].into_iter());
                fault = Some(died);
            }
        }
    }
    shared.line.put_back(jobs);
    fault
}
