//! Triggers: their rows, their due times, and how long they are remembered.

mod fire;
mod put;
mod trim;

pub(crate) use fire::fire;
pub(crate) use put::{load, of_route, put, remove};
pub(crate) use trim::{sweep, trim};
