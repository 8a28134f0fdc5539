//! Awaits, the outbox of signals, and events without subscribers.

use async_trait::async_trait;
use riverrun_types::RunId;

use crate::{AwaitFilter, AwaitRecord, AwaitStats, Page, Result, SignalRecord, SignalsOf, Unheard};

/// Awaits and the outbox.
#[async_trait]
pub trait AwaitStore: Send + Sync + 'static {
    /// The await of an id, with what it was fired with.
    async fn await_by(&self, id: &str) -> Result<Option<AwaitRecord>>;

    /// The awaits of a run that are open or fired, oldest first, with what they were fired with.
    async fn awaits_of(&self, run: &RunId) -> Result<Vec<AwaitRecord>>;

    /// A page of awaits, newest first.
    async fn list_awaits(&self, filter: &AwaitFilter) -> Result<Page<AwaitRecord>>;

    async fn await_stats(&self) -> Result<AwaitStats>;

    /// The outbox: up to `limit` signals with numbers above `after`, in order, and fewer where they
    /// are large (see [`EventQuery::PAGE_BYTES`](crate::EventQuery::PAGE_BYTES)): only an empty
    /// answer is the end of the outbox. A signal stays until it is
    /// [removed](crate::Change::RemoveSignal).
    async fn signals(
        &self,
        of: SignalsOf<'_>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<SignalRecord>>;

    /// The open awaits that a signal of the outbox may fire and has not, oldest first: those that
    /// existed before its event, of its tenant, with equalities that hold. An await with a filter
    /// is to be judged; one without was left over (see [`crate::Signal::MAX_FIRED`]) and is to be
    /// fired.
    async fn candidates(
        &self,
        signal: &SignalRecord,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<AwaitRecord>>;

    /// How many emitted events had no subscriber.
    async fn unheard(&self) -> Result<Unheard>;
}
