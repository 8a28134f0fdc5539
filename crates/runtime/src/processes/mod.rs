//! The processes that this server knows, and those that do not load: who can execute what. Workers
//! of queues are started elsewhere.

mod broken;
mod registry;

pub use broken::BrokenProcess;
pub(crate) use broken::{Broken, stays_whole};
pub(crate) use registry::{Current, Processes};
