//! Steps that processes run.
//!
//! A visit of a process's step is a job of the process's queue. Its attempt (`attempt`) gets the
//! visit's input and journal (`prepare`); the handler's requests go through its host (`host`),
//! within the journal's size limit (`room`); failed operations of its code are tried again
//! (`retries`). Every outcome is an input to the engine and is judged in the run's mailbox: the
//! outcome, its effects and the end of the job are one commit. The run's lease is not held
//! meanwhile.
//!
//! Code that does not match its journal is parked (`fitting`).

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

/// The steps that processes run; clones share their state.
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
