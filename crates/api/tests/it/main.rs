//! The API from outside: requests in, answers out, on an in-memory store.

#![allow(clippy::unwrap_used)]

mod error_codes;
mod errors;
mod events;
mod executions;
mod flows;
mod fuzz;
mod harness;
mod openapi;
mod pages;
mod queues;
mod runs;
mod sse;
mod stopping;
mod triggers;
