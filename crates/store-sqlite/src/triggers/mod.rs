//! Triggers: their rows, their due times, and how long they are remembered.

mod fire;
mod put;
mod trim;

pub(crate) use fire::{fire, judge_fire};
pub(crate) use put::{Foreseen, judge_put, judge_removal, put, remove};
pub(crate) use trim::{sweep, trim};
