//! Steps that processes run.
//!
//! A visit of a process's step is a job of the process's queue. Its attempt (`attempt`) is given the
//! visit's input and journal (`prepare`); what the handler asks for goes through its host (`host`), as
//! far as there is `room` for it; operations of its code that failed are tried again (`retries`).
//! Whatever comes of it is an input to the engine and is judged in the run's mailbox: the outcome, what
//! follows from it and the end of the job are one commit. Nobody holds the run meanwhile.
//!
//! Code that does not fit what it recorded before is parked (`fitting`).

mod attempt;
mod due;
mod fitting;
mod host;
mod log;
mod prepare;
mod retries;
mod room;
mod shown;

pub(crate) use fitting::release_fitting;

use std::sync::Arc;

use crate::{base::Base, flows::Flows, processes::Processes, queues::Queues, runs::Runs};

/// The steps that processes run; clones share what they stand on.
#[derive(Clone)]
pub struct Steps {
    inner: Arc<Inner>,
}

struct Inner {
    base: Base,
    processes: Arc<Processes>,
    flows: Flows,
    queues: Queues,
    runs: Runs,
}

impl Steps {
    pub(crate) fn new(
        base: Base,
        processes: Arc<Processes>,
        flows: Flows,
        queues: Queues,
        runs: Runs,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                base,
                processes,
                flows,
                queues,
                runs,
            }),
        }
    }

    fn base(&self) -> &Base {
        &self.inner.base
    }

    fn processes(&self) -> &Processes {
        &self.inner.processes
    }

    fn flows(&self) -> &Flows {
        &self.inner.flows
    }

    fn queues(&self) -> &Queues {
        &self.inner.queues
    }

    fn runs(&self) -> &Runs {
        &self.inner.runs
    }
}
