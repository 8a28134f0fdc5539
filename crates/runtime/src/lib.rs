//! Where engine, store, bus, handlers and workers meet.
//!
//! A [`Runtime`] accepts commands (register, start, cancel…), drives runs under leases, and
//! answers questions about them. Everything it decides is judged by the engine and becomes one
//! commit; it keeps nothing that the store does not know, except caches.

mod cache;
mod clock;
mod compose;
mod control;
mod copy;
mod crashes;
mod definition;
mod drive;
mod error;
mod expressions;
mod flows;
mod handlers;
mod import;
mod leases;
mod listen;
mod load;
mod once;
mod options;
mod queues;
mod reads;
mod request;
mod run_tasks;
mod runtime;
mod shown;
mod start;
mod steps;
mod streams;
mod subscribe;
mod sweep;
mod tail;
mod why;

pub use riverrun_contract::*;

pub use clock::{Busy, Clock, SimulatedClock, Unsettled};
pub use compose::{Composable, Composed, ComposedFlow, Made, MadeFlow, compose};
pub use definition::{
    Format, NotRead, check_members, check_numbers, parse_definition, read_definition,
};
pub use drive::projection;
pub use error::Error;
pub use flows::{Compiled, FlowEntry, FlowSummary, RegisteredFlow};
pub use handlers::Handlers;
pub use import::{Exported, ExportedAwait, ExportedEvent, ExportedRun};
pub use listen::Listener;
pub use load::Loaded;
pub use once::AppendedOnce;
pub use options::Options;
pub use queues::{
    BrokenProcess, CallRequest, Debounce, Dedupe, Drained, IdempotencyOptions, JobOptions,
    JobRequest, KeptOptions, Percentiles, QueueStats, QueueView, Redrive, Redriven, Throttle,
};
pub use reads::{At, RunView};
pub use request::TRIGGER_KEYS;
pub use runtime::Runtime;
pub use shown::Shown;
pub use start::{StartRequest, Started};
pub use steps::{Callback, CallbackAnswer, StoredCallback, callback_signature};
pub use subscribe::{Begin, Delivery, OnKind, Subject};
pub use tail::{Tail, Tailed};
pub use why::{ActiveBranch, AtJob, AtWorker, Cause, InVisit, JobStateName, Reason, Why};

pub type Result<T> = std::result::Result<T, Error>;
