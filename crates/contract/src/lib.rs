//! What the runtime, handlers and providers agree on.
//!
//! A [`Handler`] executes a kind of step in this process; a [`Provider`] executes the invocations of a
//! [`Process`] wherever its code lives, and a [`Host`] is what an invocation may ask of the server.
//! `handlers` and `providers` depend on this crate and not on the runtime. There is no store and no
//! run here.

mod compute;
mod handler;
mod home;
mod process;
mod provider;

pub use compute::{
    SMALL, Work, compile_expr, compute, has_costly_schema, schema_issues, state_issues,
};
pub use handler::{Action, Call, Effects, FlowLookup, Handler, KnownNames, Services, function};
pub use home::{Brought, Home, MadeFlows};
pub use process::{
    ConfigIssue, Idempotency, KeyFrom, LogLimit, MAX_CLAIM, OnFail, Pace, Policy, Process,
    ProcessConfig, RunMode, Source, WrittenBackoff, WrittenRetry, check_new_queue_name,
    check_queue_name, meant_within, operation_retry,
};
pub use provider::{
    Away, Cancellation, Holder, Host, Invocation, Places, Provider, ReservedPlaces,
};
