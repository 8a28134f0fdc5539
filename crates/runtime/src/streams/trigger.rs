//! The summary of a trigger's stream.

use riverrun_engine::{TriggerState, TriggerStatus};
use riverrun_store::EventQuery;
use riverrun_types::{Json, StreamName, time::Iso};

use super::Streams;
use crate::base::Result;

impl Streams {
    /// The totals of the events in a trigger's stream, those that are not kept any more included:
    /// the trigger's row has them. For a removed trigger, the totals of the events that are kept.
    pub async fn trigger_state(&self, stream: &StreamName) -> Result<TriggerState> {
        let mut state = TriggerState::default();
        let mut query = EventQuery::forward(0, 1_000);
        loop {
            let events = self.base().store().events(stream, &query).await?;
            let Some(last) = events.last() else {
                break;
            };
            query.from = Some(last.id.seq + 1);
            events.iter().for_each(|event| state.apply(event));
        }
        let Some(record) = self.base().store().trigger(&stream.id).await? else {
            return Ok(state);
        };
        let stats = record.stats;
        if stats.fired > 0 && state.fired_at.is_none() && state.registered_at.is_none() {
            state.status = TriggerStatus::Fired;
        }
        (state.fired, state.failed) = (stats.fired, stats.failed);
        state.registered_at = state.registered_at.or(Some(Iso(record.updated_ms)));
        state.fired_at = state.fired_at.or(stats.last_fired_ms.map(Iso));
        state.run_id = state.run_id.or(stats.last_run);
        state.kind = state.kind.or_else(|| Some(Json::from(&*record.kind)));
        Ok(state)
    }
}
