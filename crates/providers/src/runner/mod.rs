//! Warm processes of a language that run handlers.
//!
//! [`Runners`] is the pool of one language. Each seat of it has one child process that takes any
//! number of invocations at once; a child that dies, or is not to be used any more, is replaced.
//! What a child does wrong costs the invocations that run in it an attempt, and nothing else.

mod apart;
mod child;
mod failed;
mod interpreter;
mod invoke;
mod load;
mod options;
mod pool;
mod sdk;
mod spared;
mod start;
mod supervise;

pub use interpreter::{FoundInterpreter, Language, find_interpreter};
pub use load::LoadedModule;
pub use options::{Program, RunnerOptions};
pub use pool::{RunnerStatus, Runners};
pub use sdk::damaged_sdks;
