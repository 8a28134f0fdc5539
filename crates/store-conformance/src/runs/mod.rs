//! Runs: how they begin, are decided on, driven, listed and removed.

pub mod advance;
pub mod create;
pub mod delete;
pub mod idempotency;
pub mod lists;
pub mod snapshots;
pub mod tasks;
