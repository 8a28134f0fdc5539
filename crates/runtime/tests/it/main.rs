//! The runtime on a real embedded store.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

mod bounds;
mod built_in;
mod crash;
mod crashes;
mod import;
mod keeps;
mod lives;
mod queues;
mod runs;
mod servers;
mod steps;
mod subscribe;
mod time;
mod why;
