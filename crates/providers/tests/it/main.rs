//! Providers against real processes, good ones and bad ones.

#![allow(clippy::unwrap_used)]

mod external;
mod guard;
mod harness;
mod in_process;
mod remote;
mod runner;
mod sdk;
mod supervision;
mod worker;
