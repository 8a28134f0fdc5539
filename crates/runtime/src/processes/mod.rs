//! The processes that this server knows, and those that do not load. The workers of their queues
//! are started elsewhere.

mod broken;
mod loaded;
mod registry;

pub use broken::BrokenProcess;
pub(crate) use broken::stays_whole;
pub(crate) use registry::Current;
pub use registry::Processes;
