//! What starts flows from outside: HTTP requests, schedules, events, people.
//!
//! A trigger is data with a version that counts its changes. All it ever does is to start a run:
//! it moves none. Every use of it stands in its stream, `trigger/<id>`, in the commit that starts
//! the run, and every run that it starts carries where it came from in `metadata.trigger`.

mod backfill;
mod change;
mod clockwork;
mod definition;
mod error;
mod event;
mod fire;
mod history;
mod http;
mod index;
mod members;
mod project;
mod read;
mod registry;
mod route;
mod schedule;
mod shown;
mod signature;
mod trigger;

pub use backfill::{Backfill, Backfilled, Made};
pub use change::Put;
pub use definition::{Definition, Kind, Origin};
pub use error::{Error, Result};
pub use fire::ManualFire;
pub use http::{Hook, HookRequest, Hooked, PREFIX, pairs};
pub use project::Synced;
pub use registry::Triggers;
pub use schedule::{DueDecision, Missed, Schedule};
pub use shown::{ShownTrigger, Stats};
pub use trigger::Trigger;
