//! Subscriptions with a cursor: all events of one stream
//! ([`Streams::subscribe_subject`](super::Streams::subscribe_subject)) or all events of some kinds,
//! in any stream ([`Streams::on_kind`](super::Streams::on_kind)).
//!
//! A subscriber pulls. It gets the stored events after its cursor, then live ones; whenever it
//! falls behind it gets [`Delivery::Late`] and catches up from the store. Events queue up only
//! within the bus's own bound, none is lost, and none comes twice.

mod kind;
mod subject;

pub use kind::OnKind;
pub use subject::Subject;

/// The position from which a subscriber begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin<T> {
    /// The first event that is kept.
    Start,
    /// Live events from now on.
    End,
    /// After a cursor.
    After(T),
}

/// A message to a subscriber.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery<T> {
    Event(T),
    /// It was slower than the events, and reads the missed ones from the store. None is missing.
    Late,
    /// This many events after the last one are not kept any more: a trigger's stream keeps only its
    /// last ones.
    Missed(u64),
    /// The stream was deleted. No more events follow.
    Gone,
}
