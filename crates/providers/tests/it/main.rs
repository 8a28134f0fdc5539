//! Providers against real processes, good ones and bad ones.

mod external;
mod guard;
mod harness;
mod in_process;
mod runner;
mod supervision;
