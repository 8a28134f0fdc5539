//! The parts of [`riverrun_store::Store`], a file each: which of them write, which read, and on which
//! connection.

mod awaits;
mod commits;
mod flows;
mod health;
mod queues;
mod runs;
mod streams;
mod triggers;
mod upkeep;
