//! Where engine, store, bus, handlers and workers meet.
//!
//! A [`Runtime`] accepts commands (register, start, cancel…), drives runs under leases, and
//! answers questions about them. Everything it decides is judged by the engine and becomes one
//! commit; it keeps nothing that the store does not know, except caches.

mod awaits;
mod base;
mod compose;
mod crashes;
mod flows;
mod processes;
mod quarantine;
mod queues;
mod runs;
mod runtime;
mod steps;
mod streams;
mod why;

pub use riverrun_contract::*;

pub use awaits::{Callback, CallbackAnswer, StoredCallback, callback_signature};
pub use base::{Busy, Clock, Error, Options, Result, SimulatedClock, Unsettled};
pub use compose::{Composable, Composed, ComposedFlow, Made, MadeFlow, compose};
pub use flows::{
    Compiled, FlowEntry, FlowSummary, Format, Handlers, NotRead, RegisteredFlow, check_members,
    check_numbers, parse_definition, read_definition,
};
pub use processes::BrokenProcess;
pub use queues::{
    CallRequest, Debounce, Dedupe, Drained, IdempotencyOptions, JobOptions, JobRequest,
    KeptOptions, Percentiles, QueueStats, QueueView, Redrive, Redriven, Throttle,
};
pub use runs::{
    At, Exported, ExportedAwait, ExportedEvent, ExportedRun, Loaded, RunView, Shown, StartRequest,
    Started, TRIGGER_KEYS, projection,
};
pub use runtime::Runtime;
pub use streams::{AppendedOnce, Begin, Delivery, Listener, OnKind, Subject, Tail, Tailed};
pub use why::{ActiveBranch, AtJob, AtWorker, Cause, InVisit, JobStateName, Reason, Why};
