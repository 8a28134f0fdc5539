//! Registered definitions.

use async_trait::async_trait;
use riverrun_store::{FlowRecord, Result, adapter::FlowStore};

use crate::{SqliteStore, read};

#[async_trait]
impl FlowStore for SqliteStore {
    async fn flows(&self, one: Option<(&str, &str)>) -> Result<Vec<FlowRecord>> {
        let Some((id, version)) = one else {
            return self.read(read::flows).await;
        };
        let (id, version) = (id.to_owned(), version.to_owned());
        let read = move |view: read::View<'_>| read::flow(view, &id, &version);
        Ok(self.glance(read).await?.into_iter().collect())
    }
}
