//! Limits of a queue that hold on all instances together.

use crate::Millis;

/// The limits of a queue, on all instances together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueLimits {
    /// Jobs that are active at once.
    pub concurrency: Option<u32>,
    /// Jobs of one key that are active at once.
    pub per_key: Option<u32>,
    pub rate: Option<Rate>,
    /// Claim whole batches of this many, and what is left over once the first of it has waited for
    /// that long. What can never be claimed together (by a rate, by a limit) is no batch: then as
    /// many as can be are one.
    pub gather: Option<Gather>,
}

/// At most `max` begin within any window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub max: u32,
    pub window_ms: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gather {
    pub count: u32,
    pub wait_ms: Millis,
}
