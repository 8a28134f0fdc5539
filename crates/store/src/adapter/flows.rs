//! Registered definitions.

use async_trait::async_trait;

use crate::{FlowRecord, Result};

/// Definitions of flows.
#[async_trait]
pub trait FlowStore: Send + Sync + 'static {
    async fn flow(&self, id: &str, version: &str) -> Result<Option<FlowRecord>>;

    /// Every definition that is registered, in no particular order.
    async fn flows(&self) -> Result<Vec<FlowRecord>>;
}
