//! Providers against real processes, good ones and bad ones.

mod external;
mod guard;
mod harness;
mod in_process;
mod remote;
mod runner;
mod sdk;
mod supervision;
