//! The runtime connects engine, store, bus, handlers and workers.
//!
//! A [`Runtime`] wires the parts together: [`Flows`] registers flows, [`Runs`] starts runs and
//! drives them under leases, [`Queues`] runs jobs and calls, [`Streams`] reads and appends events.
//! The engine makes every decision, and each decision becomes one commit; apart from caches, a part
//! keeps nothing that the store does not know. ARCHITECTURE.md draws the arrows between the parts.

mod awaits;
mod base;
mod compose;
mod crashes;
mod events;
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

pub use awaits::{Awaits, Callback, CallbackAnswer, StoredCallback, callback_signature};
pub use base::{Base, Busy, Clock, Error, MAX_ITEMS, Options, Result, SimulatedClock, Unsettled};
pub use compose::{Composable, Composed, ComposedFlow, Composer, Made, MadeFlow, compose};
pub use events::{AppendedOnce, Events};
pub use flows::{
    Compiled, FlowEntry, FlowSummary, Flows, Format, Handlers, NotRead, RegisteredFlow,
    check_members, check_numbers, parse_definition, read_definition,
};
pub use processes::{BrokenProcess, Processes};
pub use queues::{
    CallRequest, Debounce, Dedupe, Drained, IdempotencyOptions, JobOptions, JobRequest,
    KeptOptions, Percentiles, QueueStats, QueueView, Queues, Redrive, Redriven, Throttle,
};
pub use runs::{
    At, Exported, ExportedAwait, ExportedEvent, ExportedRun, Loaded, RunView, Runs, Shown,
    StartRequest, Started, TRIGGER_KEYS, projection,
};
pub use runtime::Runtime;
pub use steps::Steps;
pub use streams::{
    Begin, Delivery, Listener, OnKind, Streams, Subject, Tail, Tailed, check_event_bytes,
};
pub use why::{ActiveBranch, AtJob, AtWorker, Cause, InVisit, JobStateName, Reason, Reasons, Why};
