//! Streams of events, each by itself and all in one order.

pub mod append;
pub mod events;
pub mod lists;
pub mod locate;
pub mod log;
pub mod story;
