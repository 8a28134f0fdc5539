//! Triggers and their due times.

use async_trait::async_trait;
use riverrun_types::Millis;

use crate::{DueTriggers, Page, Result, TriggerRecord};

/// Triggers.
#[async_trait]
pub trait TriggerStore: Send + Sync + 'static {
    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>>;

    /// The version under which a trigger that is there, or was there and is remembered, is known.
    async fn trigger_version(&self, id: &str) -> Result<Option<u64>>;

    /// A page of triggers, by id.
    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>>;

    /// Up to `limit` enabled schedules that are due, and when another one will be.
    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers>;
}
