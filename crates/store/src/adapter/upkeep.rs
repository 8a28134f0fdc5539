//! Retention, takeover after a crash, and what a server stores about itself.

use async_trait::async_trait;
use riverrun_types::{Json, Millis};

use crate::{Reclaimed, Result, Retention};

/// Retention, takeover after a crash, and markers.
#[async_trait]
pub trait UpkeepStore: Send + Sync + 'static {
    /// Hands back every lease, whoever holds it, and says of what. Only a store that knows itself
    /// to have one owner may do so; others say of nothing, and rely on expiry.
    async fn reclaim(&self) -> Result<Reclaimed>;

    /// Deletes up to `limit` ended runs, ended jobs and emitted events whose time is over, with all
    /// that is theirs, and says how many. An event that is in the outbox stays.
    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64>;

    /// A small value of the server's own that is kept under a name.
    async fn marker(&self, name: &str) -> Result<Option<Json>>;

    /// Keeps a small value under a name, durably; none removes it. Where several instances share
    /// the store, the name says whose it is.
    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()>;
}
