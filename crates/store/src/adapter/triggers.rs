//! Triggers and their due times.

use async_trait::async_trait;
use riverrun_types::Millis;

use crate::{DueTriggers, Page, Result, TriggerRecord};

/// Triggers.
#[async_trait]
pub trait TriggerStore: Send + Sync + 'static {
    async fn trigger(&self, id: &str) -> Result<Option<TriggerRecord>>;

    /// The current version of a trigger, or the last one of a removed trigger that is remembered.
    async fn trigger_version(&self, id: &str) -> Result<Option<u64>>;

    /// A page of triggers, by id.
    async fn list_triggers(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<TriggerRecord>>;

    /// Up to `limit` enabled schedules that are due, and when the next one will be.
    async fn due_triggers(&self, now_ms: Millis, limit: usize) -> Result<DueTriggers>;
}
