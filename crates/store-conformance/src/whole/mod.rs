//! The store as a whole: many who write at once, what is swept, how it is.

pub mod groups;
pub mod health;
pub mod retention;
