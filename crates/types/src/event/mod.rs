//! The event envelope and its vocabulary. What leaves riverrun is always this form.

mod envelope;
mod kind;
mod read_back;
mod reference;

pub use envelope::{Draft, Event, EventContext, InStream, StepRef};
pub use kind::EventType;
pub use read_back::read_back;
pub use reference::{before, before_ms, reference, reference_ms};
