//! Workers that are connected from other machines or programs.
//!
//! [`Workers`] is the list of them. The HTTP server accepts the connections (WebSockets) and passes
//! each to [`Workers::attend`] as a stream and a sink of texts; that returns when the worker has
//! left. A worker names its processes and how many invocations it takes at once; an invocation takes
//! one of these credits and gives it back at its end.
//!
//! What a worker offers becomes a process of the server, unless the server has it itself; it stays
//! one when the last worker that has it is gone: its jobs wait, and calls of it are refused with
//! `NO_WORKER`.
//!
//! The processes of one worker make flows as those of a project do; two workers that define
//! different ones of the same name get `FLOW_CONFLICT`, and the one that came last holds.
//!
//! A connection that breaks is not the end: what runs goes on for [`WorkersOptions::reconnect`],
//! and a worker that comes back and still runs it brings its answer over the new connection.

mod attend;
mod connection;
mod hello;
mod invoke;
mod member;
mod offer;
mod options;
mod workers;

pub use options::WorkersOptions;
pub use workers::{WorkerState, WorkerStatus, Workers};
