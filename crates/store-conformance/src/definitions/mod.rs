//! Definitions: flows, and the triggers that start them.

pub mod flows;
pub mod triggers;
