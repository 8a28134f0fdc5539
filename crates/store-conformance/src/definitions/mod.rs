//! What is registered: flows, and what starts them.

pub mod flows;
pub mod triggers;
