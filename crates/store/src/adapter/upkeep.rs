//! Retention, takeover after a crash, and the server's own markers.

use async_trait::async_trait;
use riverrun_types::{Json, Millis};

use crate::{Reclaimed, Result, Retention};

/// Retention, takeover after a crash, and markers.
#[async_trait]
pub trait UpkeepStore: Send + Sync + 'static {
    /// Releases every lease, of any holder, and returns what they held. Only a store that has
    /// exactly one owner may do so; others return nothing, and rely on expiry.
    async fn reclaim(&self) -> Result<Reclaimed>;

    /// Deletes up to `limit` ended runs, ended jobs and emitted events whose retention is over,
    /// with all their data, and returns how many. An event that is in the outbox stays.
    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64>;

    /// A small value of the server's own that is stored under a name.
    async fn marker(&self, name: &str) -> Result<Option<Json>>;

    /// Stores a small value under a name, durably; `None` removes it. If several instances share
    /// the store, the name includes the instance.
    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()>;
}
