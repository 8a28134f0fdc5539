//! Hints between the instances that share a store.
//!
//! A [`Hub`](crate::Hub) delivers to the listeners of its own process. It also sends hints about
//! it to the hubs of the other instances over a [`Bus`]. A hint holds no data: its receiver reads
//! the store. A hint that is lost delays a reader until it looks by itself, and one that is repeated
//! costs a read, so a bus needs neither an order nor a guarantee.

use std::future::pending;

use async_trait::async_trait;
use riverrun_types::{Millis, Name, RunId, StreamName};

/// What another instance should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A stream has new events, or the row of a job has changed.
    Moved(StreamName),
    /// A stream was deleted.
    Deleted(StreamName),
    /// Rows of jobs were removed together.
    JobsRemoved,
    /// A queue may have jobs to claim.
    Work(Name),
    /// A run was moved, or a job cancelled: the holder of its lease looks again.
    Nudge(RunId),
    /// A run has ended or was deleted.
    Ended(RunId),
    /// A run task may be claimed at this time.
    Due(Millis),
    /// Something entered the outbox.
    Signals,
    /// A trigger was added, changed or removed.
    Triggers,
    /// Any of the above, as far as the bus knows: hints were lost or were too many. All look.
    Everything,
}

/// Carries hints to the other instances.
///
/// An implementation may merge hints, drop repeated ones, delay them by some milliseconds, and replace
/// many by [`Hint::Everything`]. It sends that one, too, when its connection was interrupted.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Whether there can be other instances. A hub asks once; if there cannot, it makes no hints.
    fn has_others(&self) -> bool;

    /// Hands over a hint for all other instances and returns at once. Called by the writer after
    /// each commit, which waits for nothing here.
    fn send(&self, hint: Hint);

    /// The next hint of another instance. Cancel safe.
    async fn next(&self) -> Hint;
}

/// The bus of a process that has its store to itself: no other instance needs a hint.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalBus;

#[async_trait]
impl Bus for LocalBus {
    fn has_others(&self) -> bool {
        false
    }

    fn send(&self, _hint: Hint) {}

    async fn next(&self) -> Hint {
        pending().await
    }
}
