//! Queues and calls: jobs are claimed, run where their process lives, and settled.
//!
//! A [`Process`] says how its work is run and which [`Provider`] runs it. Its queue has a worker
//! (`worker`) that claims jobs and begins an attempt (`attempt`) for each; the attempt's host
//! (`host`) handles the handler's frames and requests. A job that is added while the queue has room
//! begins at once (`dispatch`). The keeper (`keeper`) renews leases, and the reaper (`reaper`)
//! retries jobs whose holder has died.
//!
//! Steps of runs are jobs too. Queues know neither steps nor runs: the code that wires a runtime
//! passes an implementation of `asks`.

mod actions;
mod asks;
mod attempt;
mod call;
mod dead_letters;
mod dispatch;
mod host;
mod keeper;
mod place;
mod reaper;
mod record;
mod request;
mod room;
mod stats;
mod tries;
mod worker;

pub use actions::{Drained, QueueView};
pub(crate) use asks::{HandlerRuns, RunWish, StartedRun, StepAttempts};
pub(crate) use attempt::{LOGGED, checked, is_loss, is_released, silent, to_job, waiting_event};
pub use call::CallRequest;
pub use dead_letters::{Redrive, Redriven};
pub(crate) use dispatch::Dispatcher;
pub(crate) use host::{
    BatchParams, EmitParams, GATHER, Gathered, GatheredBatch, JobHost, KeyParams, StateRead,
    emitted, params, path, too_large,
};
pub(crate) use keeper::{Keeper, Stop, keep};
pub(crate) use place::{StepPlace, job_id};
pub(crate) use reaper::reap;
pub(crate) use record::frame_event;
pub use request::{
    Debounce, Dedupe, IdempotencyOptions, JobOptions, JobRequest, KeptOptions, Throttle,
};
pub(crate) use room::ReservedRoom;
pub(crate) use stats::JobStats;
pub use stats::{Percentiles, QueueStats};
pub(crate) use tries::{FailedTry, Next, Tried, Tries, failure_of, final_answer};

use std::sync::{Arc, Weak};

use riverrun_types::{Millis, RunId};

use call::Calls;
use dead_letters::Redrives;
use dispatch::Stock;
use room::Rooms;

use crate::{base::Base, crashes::Alone, processes::Processes, streams::Streams};

/// The queues, and the jobs and calls that run here; clones share them.
#[derive(Clone)]
pub struct Queues {
    inner: Arc<Inner>,
}

struct Inner {
    base: Base,
    processes: Arc<Processes>,
    alone: Arc<Alone>,
    streams: Streams,
    /// Weak, because they hold the queues.
    steps: Weak<dyn StepAttempts>,
    runs: Weak<dyn HandlerRuns>,
    keeper: Keeper,
    rooms: Rooms,
    stock: Stock,
    redrives: Arc<Redrives>,
    calls: Calls,
    job_stats: JobStats,
}

impl Queues {
    pub(crate) fn new(
        base: Base,
        processes: Arc<Processes>,
        alone: Arc<Alone>,
        streams: Streams,
        steps: Weak<dyn StepAttempts>,
        runs: Weak<dyn HandlerRuns>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                base,
                processes,
                alone,
                streams,
                steps,
                runs,
                keeper: Keeper::default(),
                rooms: Rooms::default(),
                stock: Stock::default(),
                redrives: Arc::default(),
                calls: Calls::default(),
                job_stats: JobStats::default(),
            }),
        }
    }

    /// When a call that runs here began.
    pub(crate) fn call_began(&self, id: &RunId) -> Option<Millis> {
        self.calls().began(id)
    }

    /// The leases of the jobs that run here.
    pub(crate) fn keeper(&self) -> &Keeper {
        &self.inner.keeper
    }

    pub(crate) fn job_stats(&self) -> &JobStats {
        &self.inner.job_stats
    }

    fn base(&self) -> &Base {
        &self.inner.base
    }

    fn processes(&self) -> &Processes {
        &self.inner.processes
    }

    fn alone(&self) -> &Alone {
        &self.inner.alone
    }

    fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    /// None once the runtime was dropped.
    fn steps(&self) -> Option<Arc<dyn StepAttempts>> {
        self.inner.steps.upgrade()
    }

    /// None once the runtime was dropped.
    fn runs(&self) -> Option<Arc<dyn HandlerRuns>> {
        self.inner.runs.upgrade()
    }

    fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    fn stock(&self) -> &Stock {
        &self.inner.stock
    }

    fn redrives(&self) -> &Arc<Redrives> {
        &self.inner.redrives
    }

    fn calls(&self) -> &Calls {
        &self.inner.calls
    }
}
