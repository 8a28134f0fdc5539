//! What every part stands on: the store and its writer, the bus, the clock, the options, tasks and
//! their end. It knows neither runs nor queues.

mod clock;
mod error;
mod expressions;
mod options;
mod sweep;

pub use clock::{Busy, Clock, SimulatedClock, Unsettled};
pub use error::{Error, Result};
pub use options::Options;
pub(crate) use sweep::sweep;
