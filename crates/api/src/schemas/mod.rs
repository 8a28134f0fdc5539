//! The shapes of requests and answers, as the OpenAPI document shows them.
//!
//! What the server serialises itself (runs, events) is written down here for readers; a test
//! compares it with real answers. The files are named by what they show, like those of the handlers
//! around this folder.

mod diagram;
mod events;
mod executions;
mod failure;
mod flows;
mod jobs;
mod processes;
mod queues;
mod run_actions;
mod runs;
mod server;
mod streams;
mod triggers;
mod why;
mod workers;

pub use diagram::*;
pub use events::*;
pub use executions::*;
pub use failure::*;
pub use flows::*;
pub use jobs::*;
pub use processes::*;
pub use queues::*;
pub use run_actions::*;
pub use runs::*;
pub use server::*;
pub use streams::*;
pub use triggers::*;
pub use why::*;
pub use workers::*;
