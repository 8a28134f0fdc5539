//! The embedded store: one SQLite file in a data folder that has one owner.
//!
//! One thread writes (`thread`): it takes all waiting requests, executes them in one transaction
//! and answers after the sync to disk. Reads go to a small pool of read-only connections (`read`),
//! which see only durable data. `apply` executes commits.
//!
//! It has no clock of its own, except to count in
//! [`HealthStore::stats`](riverrun_store::adapter::HealthStore::stats) what is due now and to check
//! now and then that its files still exist (`files`).

mod acknowledged;
mod adapter;
mod apply;
mod awaits;
mod backup;
mod columns;
mod connection;
mod core;
mod creation_drift;
mod error;
mod files;
mod folder;
mod lock;
mod log;
mod log_marks;
mod log_room;
mod mark;
mod marker;
mod migrate;
mod names;
mod once;
mod open;
mod positioned;
mod queue;
mod read;
mod reserve;
mod room;
mod run_task_lease;
mod thread;
mod triggers;
mod upkeep;
mod verify;
mod wal;

pub use backup::{OnProgress, Pace, backup, restore};
pub use open::{Options, SqliteStore};
pub use verify::{Finding, Inspector, Report, RunRow, verify, verify_file};
