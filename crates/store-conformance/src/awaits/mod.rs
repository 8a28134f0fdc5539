//! Awaits and the events that may end them.

pub mod emits;
pub mod fire;
pub mod given;
pub mod life;
pub mod lists;
pub mod lookback;
pub mod outbox;
pub mod signal;
