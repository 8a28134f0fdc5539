//! Queues and calls: jobs are claimed, run where their process lives, and settled.
//!
//! A [`Process`] says how its work is run and which [`Provider`] runs it. Its queue has a worker
//! (`worker`) that claims jobs and begins an attempt (`attempt`) for each; what the handler says
//! and asks for meanwhile goes through its host (`host`). The keeper (`keeper`) renews leases, and
//! the reaper (`reaper`) looks after jobs whose holder has died.

mod actions;
mod attempt;
mod begin;
mod broken;
mod call;
mod dead_letters;
mod host;
mod keeper;
mod process;
mod reaper;
mod record;
mod request;
mod room;
mod stats;
mod tries;
mod worker;

pub use actions::{Drained, QueueView};
pub(crate) use attempt::{LOGGED, checked, is_loss, is_released, silent, to_job, waiting_event};
pub(crate) use begin::{Reserved, Stock};
pub(crate) use broken::Broken;
pub use broken::BrokenProcess;
pub(crate) use broken::stays_whole;
pub use call::CallRequest;
pub(crate) use call::Calls;
pub(crate) use dead_letters::Redrives;
pub use dead_letters::{Redrive, Redriven};
pub(crate) use host::{
    BatchParams, EmitParams, GATHER, Gathered, GatheredOutput, JobHost, KeyParams, StateRead,
    emitted, params, path, too_large,
};
pub(crate) use keeper::{Keeper, Stop, keep};
pub(crate) use process::Processes;
pub(crate) use reaper::reap;
pub(crate) use record::frame as frame_event;
pub use request::{
    Debounce, Dedupe, IdempotencyOptions, JobOptions, JobRequest, KeptOptions, Throttle,
};
pub(crate) use room::Rooms;
pub(crate) use stats::JobStats;
pub use stats::{Percentiles, QueueStats};
pub(crate) use tries::{FailedTry, Next, Tried, Tries, failure_of, final_answer};
