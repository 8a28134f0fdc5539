//! Queues and calls: jobs are claimed, run where their process lives, and settled.
//!
//! A [`Process`] says how its work is run and which [`Provider`] runs it. Its queue has a worker
//! (`worker`) that claims jobs and begins an attempt (`attempt`) for each; what the handler says
//! and asks for meanwhile goes through its host (`host`). The keeper (`keeper`) renews leases, and
//! the reaper (`reaper`) looks after jobs whose holder has died.

mod actions;
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
pub(crate) use attempt::{LOGGED, checked, is_loss, is_released, silent, to_job, waiting_event};
pub use call::CallRequest;
pub(crate) use call::Calls;
pub(crate) use dead_letters::Redrives;
pub use dead_letters::{Redrive, Redriven};
pub(crate) use dispatch::{Reserved, Stock};
pub(crate) use host::{
    BatchParams, EmitParams, GATHER, Gathered, GatheredBatch, JobHost, KeyParams, StateRead,
    emitted, params, path, too_large,
};
pub(crate) use keeper::{Keeper, Stop, keep};
pub(crate) use place::{StepPlace, job_id};
pub(crate) use reaper::reap;
pub(crate) use record::frame;
pub use request::{
    Debounce, Dedupe, IdempotencyOptions, JobOptions, JobRequest, KeptOptions, Throttle,
};
pub(crate) use room::Rooms;
pub(crate) use stats::JobStats;
pub use stats::{Percentiles, QueueStats};
pub(crate) use tries::{FailedTry, Next, Tried, Tries, failure_of, final_answer};
