//! Triggers and their due times.

use async_trait::async_trait;
use riverrun_store::{DueTriggers, Page, Result, TriggerRecord, adapter::TriggerStore};
use riverrun_types::Millis;

use crate::{SqliteStore, read};

#[async_trait]
impl TriggerStore for SqliteStore {
    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>> {
        let id = id.to_owned();
        self.glance(move |view| read::trigger(view, &id)).await
    }

    async fn trigger_version(&self, id: &str) -> Result<Option<u64>> {
        let id = id.to_owned();
        self.read(move |view| read::trigger_version(view, &id))
            .await
    }

    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>> {
        let cursor = cursor.map(str::to_owned);
        self.read(move |view| read::list_triggers(view, limit, cursor.as_deref()))
            .await
    }

    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers> {
        self.read(move |view| read::due_triggers(view, now_ms, limit))
            .await
    }
}
