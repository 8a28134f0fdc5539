//! Events in streams that are no run's, and readers of all streams as they grow.

mod append;
mod listen;
mod once;
mod signals;
mod subscribe;
mod tail;

pub(crate) use append::{
    Guard, MAX_EVENT_BYTES, check_bytes, check_outside, check_value, check_writes, is_too_deep,
    once, read,
};
pub use listen::Listener;
pub(crate) use listen::Listeners;
pub use once::AppendedOnce;
pub(crate) use once::KeyLocks;
pub(crate) use signals::SignalSource;
pub use subscribe::{Begin, Delivery, OnKind, Subject};
pub use tail::{Tail, Tailed};
