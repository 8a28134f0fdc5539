//! Hearing of events as they happen, and reading on where one was: all events of one stream
//! ([`Streams::subscribe_subject`](super::Streams::subscribe_subject)) or all events of some kinds,
//! in whatever stream ([`Streams::on_kind`](super::Streams::on_kind)).
//!
//! A subscriber pulls. It is given what the store has after its cursor, and then what happens, and
//! whenever it is too slow for that it gets a notice and is brought up from the store again.
//! Nothing is queued for it beyond the bus's own bound, nothing is lost, and nothing comes twice.

mod kind;
mod subject;

pub use kind::OnKind;
pub use subject::Subject;

/// Where a subscriber begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin<T> {
    /// With the first event that is kept.
    Start,
    /// With what happens from now on.
    End,
    /// After what it has seen.
    After(T),
}

/// What a subscriber receives.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery<T> {
    Event(T),
    /// It was slower than the events came, and reads from the store what it did not get live.
    /// Nothing is missing.
    Late,
    /// So many events after the last one are not kept any more: of a trigger's stream, which keeps
    /// its last ones.
    Missed(u64),
    /// The stream was deleted. There is nothing more.
    Gone,
}
