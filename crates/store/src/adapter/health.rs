//! Whether the store works, facts about it, and closing it.

use async_trait::async_trait;
use riverrun_types::Json;

use crate::{Error, Result, Stats};

/// Health, statistics, and closing.
#[async_trait]
pub trait HealthStore: Send + Sync + 'static {
    /// Proves that a write can be made durable now, and that there is room for more.
    async fn check(&self) -> Result<()>;

    /// Resolves, with the reason, when the data was taken away from under the store, so that it can
    /// never be written again. Never resolves for a store to which that cannot happen.
    async fn gone(&self) -> Error {
        std::future::pending().await
    }

    async fn stats(&self) -> Result<Stats>;

    /// Facts about the adapter for people: its name, where the data is, versions, sizes.
    async fn describe(&self) -> Result<Json>;

    /// Finishes the operations under way and closes. Later calls answer [`Error::Closed`].
    async fn close(&self) -> Result<()>;
}
