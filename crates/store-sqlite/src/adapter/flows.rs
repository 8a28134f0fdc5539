//! Registered definitions.

use async_trait::async_trait;
use riverrun_store::{adapter::FlowStore, FlowRecord, Result};

use crate::{SqliteStore, read};

#[async_trait]
impl FlowStore for SqliteStore {
    async fn flow(&self, id: &str, version: &str) -> Result<Option<FlowRecord>> {
        let (id, version) = (id.to_owned(), version.to_owned());
        self.glance(move |view| read::flow(view, &id, &version))
            .await
    }

    async fn flows(&self) -> Result<Vec<FlowRecord>> {
        self.read(read::flows).await
    }
}
