//! Registered definitions.

use async_trait::async_trait;

use crate::{FlowRecord, Result};

/// Definitions of flows.
#[async_trait]
pub trait FlowStore: Send + Sync + 'static {
    /// The definition of an id and a version, or every registered definition, in no particular
    /// order. A damaged definition is an error if it is read by id, and left out of the list of
    /// all.
    async fn flows(&self, one: Option<(&str, &str)>) -> Result<Vec<FlowRecord>>;

    /// The definition of an id and a version.
    async fn flow(&self, id: &str, version: &str) -> Result<Option<FlowRecord>> {
        Ok(self.flows(Some((id, version))).await?.pop())
    }
}
