//! The shapes of requests and answers in the OpenAPI document.
//!
//! Types that the server serialises itself (runs, events) are described here as well; a test
//! compares the descriptions with real answers. A file holds the shapes of one subject. The bodies of
//! some requests are beside the handlers that read them.

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
