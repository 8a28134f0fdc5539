//! Queues and calls: jobs are claimed, run where their process lives, and settled.

mod provider;

pub use provider::{Cancellation, Host, Invocation, Provider};
