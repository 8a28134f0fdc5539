//! Hints between the instances that share a store.
//!
//! A [`Hub`](crate::Hub) delivers to the listeners of its own process. It also sends hints about
//! the changes to the hubs of the other instances over a [`Bus`]. A hint holds no data: its
//! receiver reads the store. A lost hint delays a reader until its next periodic read, and a
//! repeated one costs a read, so a bus needs no order and no guarantee.

use std::future::pending;

use async_trait::async_trait;
use riverrun_types::{Millis, Name, RunId, StreamName};

/// A change that other instances should look at.
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
    /// A signal entered the outbox.
    Signals,
    /// A trigger was added, changed or removed.
    Triggers,
    /// Any of the above: the bus lost hints or had too many. All look.
    Everything,
}

/// Carries hints to the other instances.
///
/// An implementation may merge hints, drop repeated ones, delay them by some milliseconds, and replace
/// many by [`Hint::Everything`]. It sends that one, too, when its connection was interrupted.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Whether other instances can exist. A hub asks once; if they cannot, it sends no hints.
    fn has_others(&self) -> bool;

    /// Sends a hint to all other instances and returns at once. Called by the writer after each
    /// commit, which does not wait here.
    fn send(&self, hint: Hint);

    /// The next hint of another instance. Cancel safe.
    async fn next(&self) -> Hint;
}

/// The bus of a process that does not share its store: it drops every hint.
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
