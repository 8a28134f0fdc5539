//! The history of a trigger: its stream, the latest event first.

use riverrun_store::{Direction, EventQuery, Page};
use riverrun_types::{Event, EventType};

use crate::{Result, Triggers, fire::stream};

/// The events that a trigger's stream keeps.
pub(crate) const KEEP: u64 = 1_000;

impl Triggers {
    /// A page of a trigger's events, the latest first: of the last thousand. A trigger that was
    /// removed is remembered for a while.
    pub async fn history(
        &self,
        id: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Event>> {
        let known = self.runtime().base().store().trigger_version(id).await?;
        if known.is_none() {
            return Err(riverrun_store::Error::TriggerNotFound(id.into()).into());
        }
        let bad = |text: &str| riverrun_store::Error::BadCursor(text.chars().take(64).collect());
        let read = |text: &str| text.parse().ok().filter(|no: &u64| no.to_string() == text);
        let from = cursor.map(|text| read(text).ok_or_else(|| bad(text)));
        let query = EventQuery {
            direction: Direction::Backward,
            from: from.transpose()?,
            limit: limit.max(1),
            types: vec![EventType::parse("trigger")],
            step: None,
            since_ms: None,
            until_ms: None,
            max_bytes: EventQuery::PAGE_BYTES,
        };
        let items = self
            .runtime()
            .base()
            .store()
            .events(&stream(id), &query)
            .await?;
        // The oldest that is kept may be anywhere, so only an empty page is known to be the last.
        let next = items
            .last()
            .map(|event| event.id.seq)
            .filter(|seq| *seq > 0);
        Ok(Page {
            next: next.map(|seq| seq.to_string()),
            items,
        })
    }
}
