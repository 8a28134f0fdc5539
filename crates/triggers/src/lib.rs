//! What starts flows from outside: HTTP requests, schedules, events, people.
//!
//! A trigger is data with a version that counts its changes. It only starts runs and never changes
//! an existing one. Each start is recorded in the trigger's stream, `trigger/<id>`, in the commit
//! that starts the run, and the run has its origin in `metadata.trigger`.

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
mod manual;
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
pub use http::{Hook, HookRequest, Hooked, PREFIX, pairs};
pub use manual::ManualFire;
pub use project::Synced;
pub use registry::Triggers;
pub use schedule::{DueDecision, Missed, Schedule};
pub use shown::{ShownTrigger, Stats};
pub use trigger::Trigger;
