//! Triggers on a real embedded store.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

mod broken;
mod changes;
mod crash;
mod events;
mod given;
mod hooks;
mod schedules;
