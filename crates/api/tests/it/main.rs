//! The API from outside: requests in, answers out, on an in-memory store.

#![allow(clippy::unwrap_used)]

mod call_socket;
mod callbacks;
mod edge;
mod error_codes;
mod errors;
mod event_socket;
mod events;
mod executions;
mod flows;
mod fuzz;
mod harness;
mod kinds;
mod large_bodies;
mod lives;
mod names;
mod openapi;
mod pages;
mod queues;
mod runs;
mod socket;
mod sse;
mod stalled;
mod stopping;
mod stories;
mod triggers;
mod workers;
